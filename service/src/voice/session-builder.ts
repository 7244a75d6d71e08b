import type { ResolvedAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import type { RealtimeDriver } from '../platform/realtime/port.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import type { NextHolder } from '../records/call-holder.ts'
import type { CallDirection, SessionId } from '../records/call-values.ts'
import type { Journal } from '../records/journal.ts'
import type { EarlierStream } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { CallSession } from './call-session.ts'
import { holdOf, resumptionOf } from './held-stream.ts'
import { LiveEvents } from './live-events.ts'
import type { LiveMetrics } from './live-metrics.ts'
import { tellNote, tellTurn } from './live-notes.ts'
import type { LiveFacts, LiveSession } from './live-sessions.ts'
import type { CarrierSocket } from './media-path.ts'
import { withFaultsTold } from './model-faults.ts'
import type { Recorders } from './recording/recorders.ts'
import { hasOpenTurns } from './session/ending.ts'
import type { EndReason } from './session/events.ts'
import type { SessionState } from './session/state.ts'
import { planOf } from './session-builder-plan.ts'
import { setupOf } from './session-builder-setup.ts'
import { toolsOf } from './tools/registry.ts'
import { makeToolRunner } from './tools/run.ts'
import type { Tool } from './tools/tool.ts'

/** A call whose stream was let in, with all that its session is made of. */
export type StreamedCall = {
  tenant: TenantRuntime
  agent: ResolvedAgent
  callSid: string
  streamSid: string
  sessionId: SessionId
  epoch: number
  /** Who may have the call by now without its being known here. */
  next?: readonly NextHolder[]
  direction: CallDirection
  from: string
  to: string
  orgId: string | null
  /** What whoever placed or routed the call has said of it. */
  metadata?: Record<string, unknown>
  /** What the model is told before the agent's instructions, its variables open; null for nothing. */
  prompt?: string | null
  codec: StreamCodec
  carrier: CarrierSocket & { close(): void }
  /** What an earlier stream of the call has left, of which this process has no session. */
  before?: EarlierStream | null
}

/** How a session ended, for whoever writes it down. */
export type EndedCall = { call: StreamedCall; reason: EndReason; state: SessionState }

/** What is done to calls by way of their carriers. Never waits, never throws. */
export type CarrierCalls = {
  hangUp(tenant: TenantRuntime, callSid: string, isHeld?: IsHeld): void
  /** The carrier says this and connects the number; without one it hangs up. */
  apologise(
    tenant: TenantRuntime,
    callSid: string,
    words: { text: string; number: string | null },
    isHeld?: IsHeld,
  ): void
}

/** Whether the call is still that of who wants something done to it: nothing is done to one that another stream has taken. */
export type IsHeld = () => Promise<boolean>

/** Makes the sessions of calls. */
export type SessionBuilder = {
  /** What the call's session will run with: null is the driver's own default. */
  modelOf(tenant: TenantRuntime, agent: ResolvedAgent): { model: string | null; voice: string | null }
  /** A session that has not begun: dispatch `opened` to it. `onEnded` is called once, when nothing of it is left running. */
  build(call: StreamedCall, onEnded: (ended: EndedCall) => void): { session: CallSession; live: LiveSession }
}

type Deps = {
  clock: Clock
  log: Log
  model: RealtimeDriver
  journal: Pick<Journal, 'of'>
  tools: readonly Tool[]
  carrierCalls: CarrierCalls
  metrics: LiveMetrics
  /** Without it nothing is recorded. */
  recorders?: Pick<Recorders, 'of'>
  /** Whether the call is still that of its stream. */
  isHeld(call: StreamedCall): Promise<boolean>
  /** Writes down what has come of a session so far. Never waits, never throws. */
  checkpoint(call: StreamedCall, state: SessionState): void
  /** MODEL_SESSION_MAX_MINUTES. */
  modelSessionMs: number
}

export function makeSessionBuilder(deps: Deps): SessionBuilder {
  const { clock, model: driver, journal, carrierCalls } = deps

  /** A call without a carrier ends with its socket. */
  function carrierOf(call: StreamedCall) {
    const { tenant, callSid, direction, carrier } = call
    const isHeld = () => deps.isHeld(call)
    if (direction === 'browser') return { hangUp: () => carrier.close(), apologise: () => carrier.close() }
    return {
      hangUp: () => carrierCalls.hangUp(tenant, callSid, isHeld),
      apologise: (text: string, number: string | null) =>
        carrierCalls.apologise(tenant, callSid, { text, number }, isHeld),
    }
  }

  function toolsFor(call: StreamedCall) {
    const { tenant, agent, callSid, sessionId, streamSid } = call
    const entries = journal.of(call)
    const tools = toolsOf(deps.tools, agent.config.tools)
    const customerPhone = customerOf(call)
    const toolCall = { tenant, callSid, sessionId, streamSid, agentName: agent.agentName, customerPhone }
    const told = { call: toolCall, journal: entries, toolCalls: call.before?.toolCalls ?? 0 }
    return { entries, tools, runner: makeToolRunner({ clock, log: deps.log, tools, ...told }) }
  }

  return {
    modelOf: (tenant, { config }) => ({
      model: config.realtime_model || tenant.model,
      voice: config.voice || tenant.voice,
    }),
    build(call, onEnded) {
      const { tenant, agent, streamSid, codec, carrier } = call
      const { entries, tools, runner } = toolsFor(call)
      const declared = {
        agentName: agent.agentName,
        config: agent.config,
        tools: tools.map((tool) => tool.declaration),
      }
      const now = new Date(clock.now())
      const setup = setupOf(tenant, declared, { ...call, now })
      const { capabilities } = driver
      const plan = planOf(tenant, agent.config, {
        ...{ capabilities, modelSessionMs: deps.modelSessionMs, isResumable: call.direction !== 'browser' },
      })
      const events = new LiveEvents()
      const told = {
        log: deps.log,
        call: { tenantId: tenant.tenant_id, callSid: call.callSid },
        count: deps.metrics.modelFault,
      }
      const recorder = deps.recorders?.of(call) ?? null
      const session = new CallSession({
        clock,
        recorder,
        codec,
        streamSid,
        carrier,
        plan,
        resumption: call.before ? resumptionOf(call.before, call.epoch, now) : null,
        checkpoint: (state) => deps.checkpoint(call, state),
        ...carrierOf(call),
        openModel(listener, history) {
          const opened = driver.open(setup, withFaultsTold(listener, told))
          if (history) opened.send({ type: 'system_message', text: recallOf(history) })
          return opened
        },
        runTool: (request) => runner.run(request),
        keepTurn(turn) {
          entries.append(turn)
          tellTurn(events, turn)
        },
        forgetTurn: (itemId) => entries.forget(itemId),
        note(note) {
          tellNote(events, note)
          deps.metrics.noted(note)
        },
        failed: (err) => deps.log.error({ err, call_sid: call.callSid }, 'a session went wrong'),
        finished(reason, state) {
          void recorder?.close()
          events.publish('ended', {
            end_reason: reason,
            duration_ms: Math.round(clock.monotonicMs() - state.startedAtMs),
          })
          deps.metrics.ended(reason, session.media)
          onEnded({ call, reason, state })
        },
      })
      return { session, live: liveOf(session, events, { call, facts: factsOf(call, plan.greeting, now) }) }
    },
  }
}

function liveOf(
  session: CallSession,
  events: LiveEvents,
  { call, facts }: { call: StreamedCall; facts: LiveFacts },
): LiveSession {
  return {
    escalation: null,
    get isMuted() {
      return session.state.isMuted
    },
    get facts() {
      return { ...facts, streamSid: call.streamSid }
    },
    events,
    get phase() {
      return session.state.phase
    },
    get recording() {
      return session.recording
    },
    get endReason() {
      return session.state.ending?.reason ?? null
    },
    get isEndGuessed() {
      return session.state.ending?.isGuessed ?? false
    },
    get hasOpenTurns() {
      return hasOpenTurns(session.state)
    },
    get isLetGo() {
      return session.state.isLetGo
    },
    hold: call.direction === 'browser' ? null : holdOf(session, call),
    command: (command) => session.dispatch(command),
  }
}

function factsOf(call: StreamedCall, greeting: string, startedAt: Date): LiveFacts {
  const { tenant, agent, callSid, streamSid, sessionId, orgId, direction } = call
  return {
    streamSid,
    callSid,
    sessionId,
    tenantId: tenant.tenant_id,
    orgId,
    agentName: agent.agentName,
    callType: direction,
    customerPhone: customerOf(call),
    greeting,
    startedAt: call.before?.startedAt ?? startedAt,
  }
}

/** The other side's number, as the carrier sent it. */
function customerOf({ direction, from, to }: StreamedCall): string {
  return direction === 'outbound' ? to : from
}

/** As one message of the system: items of the assistant in text make some models answer in text. */
function recallOf(history: string): string {
  return `The call goes on after a short interruption. This was said so far; do not greet again, go on from here.\n${history}`
}
