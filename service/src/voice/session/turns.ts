import type { ModelEvent } from '../../platform/realtime/port.ts'
import { ask } from './asking.ts'
import { appendEntry, forgetEntry, keepEntry, placeEntry } from './keeping.ts'
import { isMeant, speechOver } from './speech.ts'
import { type CallerSpeech, isOutOfHands, type Step } from './state.ts'
import { turnEnded } from './timeline.ts'
import { find, newEntry } from './transcript.ts'

type Committed = Extract<ModelEvent, { type: 'committed' }>

/** Short sounds that wait for their words: more of them at once are noise, and the oldest is taken for that. */
const MAX_UNDECIDED = 8
const BEFORE_GREETING = 'The caller spoke before your greeting. Answer that now, without greeting them again.'

/**
 * The caller's turn is an item of the conversation: it is answered, or it did not count and is taken out again. Short
 * speech into silence is neither yet: "no" is a word and a cough is not, so its words decide when they arrive.
 */
export function committed(step: Step, { itemId, previousItemId }: Committed): void {
  const { speech, startedAtMs } = step.state
  const ofItem = speech?.itemId === itemId ? speech : null
  const startMs = ofItem ? Math.round(ofItem.startedAtMs - startedAtMs) : step.atMs
  // The model waits for silence before it says that a turn is over; what was measured tells when it really was.
  const endMs = ofItem && ofItem.measuredLoudMs > 0 ? Math.round(ofItem.lastLoudAtMs - startedAtMs) : step.atMs
  const counts = ofItem === null || (ofItem.counts ?? isMeant(step, ofItem))
  placeEntry(step, newEntry(itemId, 'caller', startMs), previousItemId)
  keepEntry(step, itemId, { startMs, endMs })
  if (counts) answerTurn(step, ofItem?.untilMs ?? step.nowMs)
  else putOff(step, ofItem)
  if (ofItem) speechOver(step)
}

function putOff(step: Step, { itemId, overlaps }: CallerSpeech): void {
  if (overlaps || !step.state.plan.capabilities.callerTranscripts) return forgetEntry(step, itemId)
  const undecided = [...step.state.undecided, itemId]
  const [oldest] = undecided
  if (oldest !== undefined && undecided.length > MAX_UNDECIDED) forgetEntry(step, oldest)
  step.set({ undecided: undecided.slice(-MAX_UNDECIDED) })
}

/** The caller, who ended at `endedAtMs` (monotonic), is owed an answer from now on, unless others have the call. */
export function answerTurn(step: Step, endedAtMs: number): void {
  if (step.state.ending) return
  if (isOutOfHands(step)) return step.set({ idleStage: 0 })
  step.set({ owedSinceMs: step.state.owedSinceMs ?? step.nowMs, idleStage: 0 })
  turnEnded(step, endedAtMs)
  const { queue, asked, active } = step.state.answers
  step.setAnswers({ queue: queue.filter(({ instructions }) => instructions !== BEFORE_GREETING) })
  const isBeforeGreeting = asked?.isAbandoned === false && asked.ask.why === 'greeting' && active === null
  ask(step, { why: 'turn', instructions: isBeforeGreeting ? BEFORE_GREETING : null, thenEnd: null })
}

/** The caller's words have arrived, or never will (null). */
export function callerTranscript(step: Step, itemId: string, text: string | null): void {
  const isUndecided = step.state.undecided.includes(itemId)
  if (isUndecided) step.set({ undecided: step.state.undecided.filter((id) => id !== itemId) })
  if (isUndecided && !hasWords(text ?? '')) return forgetEntry(step, itemId)
  appendEntry(step, newEntry(itemId, 'caller', step.atMs))
  const endMs = find(step.state.transcript, itemId)?.endMs ?? step.atMs
  keepEntry(step, itemId, { text: (text ?? '').trim(), isFinal: true })
  if (isUndecided) answerTurn(step, step.state.startedAtMs + endMs)
}

/** Two letters, a digit or a sign that is a word: "ok", "5" and "好" are answers, "h" is breath. */
function hasWords(text: string): boolean {
  return /\p{L}.*\p{L}|\p{N}|\p{Lo}/su.test(text)
}
