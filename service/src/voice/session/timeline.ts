import { leftMs } from '../playback.ts'
import type { ToolTime, TurnTimeline } from './events.ts'
import type { Step } from './state.ts'
import type { Timing } from './timing.ts'
import { change } from './transcript.ts'

/** More tools than this a turn does not show: the later ones are left out. */
const MAX_TOOLS = 16

type FirstAudio = { itemId: string; ms: number; mark: string | null; arrivedAtMs?: number }

/** The caller has ended at `speechEndAtMs` (monotonic) and is owed an answer: what was owed before is a part of this. */
export function turnEnded(step: Step, speechEndAtMs: number): void {
  const speechEndMs = Math.max(0, Math.min(speechEndAtMs, step.nowMs) - step.state.startedAtMs)
  setTiming(step, { owed: { speechEndMs, committedMs: sinceStart(step), askedMs: null, tools: [] } })
}

/** The model is asked for an answer; the first request of a turn counts. */
export function turnAsked(step: Step): void {
  const { owed } = step.state.timing
  if (owed?.askedMs === null) setTiming(step, { owed: { ...owed, askedMs: sinceStart(step) } })
}

/** A tool runs while the answer is owed. */
export function toolBegan(step: Step, callId: string, name: string): void {
  const { owed } = step.state.timing
  if (!owed || owed.tools.length >= MAX_TOOLS) return
  setTiming(step, {
    owed: { ...owed, tools: [...owed.tools, { callId, name, startMs: sinceStart(step), endMs: null }] },
  })
}

/** A tool is done, in whatever way. */
export function toolEnded(step: Step, callId: string): void {
  const { owed } = step.state.timing
  if (!owed) return
  const ended = (tool: ToolTime) => (tool.callId === callId ? { ...tool, endMs: sinceStart(step) } : tool)
  setTiming(step, { owed: { ...owed, tools: owed.tools.map(ended) } })
}

/** Nothing is owed any more, and nothing has answered it. */
export function nothingOwed(step: Step): void {
  if (step.state.timing.owed) setTiming(step, { owed: null })
}

/** The answer to what is owed begins to sound. Until its carrier tells better, it is heard when what is before it has played. */
export function answerSounds(step: Step, { itemId, ms, mark, arrivedAtMs }: FirstAudio): void {
  settleSounding(step)
  const { owed } = step.state.timing
  if (!owed) return
  const { startedAtMs, playback } = step.state
  const firstSentMs = sinceStart(step)
  const firstByteMs = Math.min(firstSentMs, (arrivedAtMs ?? step.nowMs) - startedAtMs)
  const heardMs = firstSentMs + Math.max(0, leftMs(playback, step.nowMs) - ms)
  const timeline = { ...owed, firstByteMs, firstSentMs, heardMs }
  setTiming(step, { owed: null, sounding: { itemId, mark, audioMs: ms, timeline } })
  keepTimeline(step, itemId, timeline)
}

/**
 * The carrier has played the audio before a mark. Behind the first of an answer that tells when it was heard: as long ago as it
 * lasts, and the echo's own way, which is half of the quickest way there and back.
 */
export function markPlayed(step: Step, name: string): void {
  const { timing, playback } = step.state
  const { sounding } = timing
  if (!sounding || sounding.mark !== name) return
  const { timeline, audioMs } = sounding
  const wayMs = Number.isFinite(playback.roundTripMs) ? playback.roundTripMs / 2 : 0
  const heardMs = Math.max(timeline.firstSentMs, sinceStart(step) - audioMs - wayMs)
  setTiming(step, { sounding: { ...sounding, timeline: { ...timeline, heardMs } } })
  settleSounding(step)
}

/** More will not be known of the answer that sounds: whoever watches is told. */
export function settleSounding(step: Step, itemId: string | null = null): void {
  const { sounding } = step.state.timing
  if (!sounding || (itemId !== null && sounding.itemId !== itemId)) return
  setTiming(step, { sounding: null })
  keepTimeline(step, sounding.itemId, sounding.timeline)
  step.do({ type: 'note', note: { type: 'timeline', itemId: sounding.itemId, timeline: sounding.timeline } })
}

function keepTimeline(step: Step, itemId: string, timeline: TurnTimeline): void {
  step.set({ transcript: change(step.state.transcript, itemId, { timeline }) })
}

function setTiming(step: Step, facts: Partial<Timing>): void {
  step.set({ timing: { ...step.state.timing, ...facts } })
}

function sinceStart({ nowMs, state }: Step): number {
  return nowMs - state.startedAtMs
}
