import type { Log } from '../platform/log.ts'
import type { RealtimeDriver } from '../platform/realtime/port.ts'
import type { LiveMetrics } from './live-metrics.ts'
import { withFaultsTold } from './model-faults.ts'
import { scribeSetup } from './session-builder-setup.ts'
import type { SessionDeps } from './session-deps.ts'
import type { Speaker } from './session-speaker.ts'
import type { StreamedCall } from './streamed-call.ts'

type Deps = {
  model: RealtimeDriver
  /** What takes its place in a call in which it stays away; null, or not given, where nothing does. */
  fallback?: RealtimeDriver | null
  log: Log
  metrics: Pick<LiveMetrics, 'modelFault'>
}

type Talking = {
  speaker: Pick<Speaker, 'setup'>
  /** Whether the call's own model was given up for the other one. */
  isFallback: () => boolean
}

/** Opens the model sessions of a call: those that talk, and those that take down what a person says. */
export function modelsFor(
  { model, fallback, log, metrics }: Deps,
  { tenant, callSid }: StreamedCall,
  { speaker, isFallback: isFallbackNow }: Talking,
): Pick<SessionDeps, 'openModel' | 'openScribe'> {
  const driverOf = (isFallback: boolean) => (isFallback && fallback) || model
  const told = { log, call: { tenantId: tenant.tenant_id, callSid }, count: metrics.modelFault }
  return {
    openModel(listener, { history, isFallback }) {
      const of = { tenant_id: tenant.tenant_id, call_sid: callSid }
      if (isFallback) log.warn(of, 'a model session is opened with the fallback model')
      const opened = driverOf(isFallback).open(speaker.setup, withFaultsTold(listener, told))
      if (history) opened.send({ type: 'system_message', text: recallOf(history) })
      return opened
    },
    openScribe: model.capabilities.callerTranscripts
      ? (listener) => driverOf(isFallbackNow()).open(scribeSetup(speaker.setup), withFaultsTold(listener, told))
      : null,
  }
}

/** As one message of the system: items of the assistant in text make some models answer in text. */
function recallOf(history: string): string {
  return `The call is under way, and the caller may be hearing the last of this right now. This was said so far; do not greet again, go on from here.\n${history}`
}
