import type { Call } from './call.ts'
import { callForm } from './call-form.ts'
import type { MachineDetection } from './call-plan.ts'
import { elapsed } from './clock.ts'
import type { CallEvent } from './timeline.ts'

/**
 * What the carrier takes the answering party for, and when it says so. It hears when the party speaks and is told by
 * the script who that is: a person once a first utterance is followed by silence, a machine once its greeting goes on,
 * or (for a message to be left) once its beep is over, or it is silent behind its greeting.
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
  return messageEnd(call, began, detection)
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

/** From the first sound of a machine on; a beep is a sound that is no speech. */
async function messageEnd(call: Call, first: CallEvent, detection: MachineDetection): Promise<string> {
  const { events } = call.timeline
  const endMs = call.timeline.nowMs() + detection.timeoutMs
  for (let sound: CallEvent | null = first; sound !== null; ) {
    const began: CallEvent = sound
    // By its place, not by the time: what has no length ends in the moment in which it began.
    const isAfter = (event: CallEvent, other: CallEvent) => events.indexOf(event) > events.indexOf(other)
    const isEnd = (event: CallEvent) => event.kind === 'caller-ended' && isAfter(event, began)
    const ended = await hears(call, { withinMs: Math.max(0, endMs - call.timeline.nowMs()), fits: isEnd })
    if (!ended) return 'unknown'
    if (began.kind === 'caller-began' && began.text === null) return 'machine_end_beep'
    const isNext = (event: CallEvent) => event.kind === 'caller-began' && isAfter(event, ended)
    sound = await hears(call, { withinMs: detection.speechEndThresholdMs, fits: isNext })
  }
  return 'machine_end_silence'
}

function hears(
  call: Call,
  { withinMs, fits }: { withinMs: number; fits: (event: CallEvent) => boolean },
): Promise<CallEvent | null> {
  return call.timeline.until(fits, { withinMs, signal: call.over })
}
