import type { Call } from './call.ts'
import { callForm } from './call-form.ts'
import type { MachineDetection } from './call-plan.ts'
import { elapsed } from './clock.ts'
import type { CallEvent } from './timeline.ts'

/**
 * What the carrier takes the answering party for, and when it says so. It hears when the party speaks and is told by
 * the script who that is: a person once a first utterance is followed by silence, a machine once its greeting goes on,
 * or (for a message to be left) once its beep is over.
 */
async function detectMachine(call: Call, detection: MachineDetection): Promise<string> {
  const began = await hears(call, { withinMs: detection.silenceTimeoutMs, fits: ({ kind }) => kind === 'caller-began' })
  if (!began) return 'unknown'
  if (!call.plan.party.isMachine) {
    await hears(call, { withinMs: detection.timeoutMs, fits: ({ kind }) => kind === 'caller-ended' })
    await elapsed(call.world.clock, detection.speechEndThresholdMs, call.over)
    return 'human'
  }
  if (detection.mode === 'Enable') {
    await elapsed(call.world.clock, detection.speechThresholdMs, call.over)
    return 'machine_start'
  }
  return (await hearsBeepEnd(call, detection.timeoutMs)) ? 'machine_end_beep' : 'unknown'
}

/** Detects, writes the result into the call's record, and posts it when it was asked for asynchronously. */
export async function runDetection(call: Call, detection: MachineDetection): Promise<void> {
  const fromMs = call.timeline.nowMs()
  const answeredBy = await detectMachine(call, detection)
  if (call.over.aborted) return
  call.record.answeredBy = answeredBy
  if (!detection.asyncCallback) return
  call.callback({
    address: detection.asyncCallback.url,
    method: detection.asyncCallback.method,
    form: [
      ...callForm(call.record).filter(([name]) => name === 'CallSid' || name === 'AccountSid'),
      ['AnsweredBy', answeredBy],
      ['MachineDetectionDuration', String(Math.round(call.timeline.nowMs() - fromMs))],
    ],
  })
}

/** A beep is the first sound that is no speech; its end is the first end after it. */
async function hearsBeepEnd(call: Call, withinMs: number): Promise<boolean> {
  const beep = await hears(call, { withinMs, fits: (event) => event.kind === 'caller-began' && event.text === null })
  if (!beep) return false
  return hears(call, { withinMs, fits: (event) => event.kind === 'caller-ended' && event.atMs >= beep.atMs }).then(
    (end) => end !== null,
  )
}

function hears(
  call: Call,
  { withinMs, fits }: { withinMs: number; fits: (event: CallEvent) => boolean },
): Promise<CallEvent | null> {
  return call.timeline.until(fits, { withinMs, signal: call.over })
}
