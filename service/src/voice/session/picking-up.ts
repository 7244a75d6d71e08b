import { keysIn } from '../../records/pressed-keys.ts'
import type { Heard } from '../playback.ts'
import type { Ask } from './answers.ts'
import { askFirst, exactly } from './asking.ts'
import { isClip } from './clip-id.ts'
import { addNote } from './keeping.ts'
import { notThrough, notThroughIn, wasNotThrough } from './not-through.ts'
import { isOwnAudio } from './own-audio.ts'
import type { Plan } from './plan.ts'
import { isBridge, type PastTurn } from './resumption.ts'
import type { Detached, Step } from './state.ts'
import { GO_ON, goOnWith, restOf, unbegun } from './unsaid.ts'

/** A shorter gap nobody notices. */
const NOTICED_MS = 1_000

/** What the model is told where the agent has no greeting of its own. */
export const GREET = 'Greet the caller and ask how you can help.'
const SORRY = 'The line was cut off for a moment. Say in a few words that you are sorry for that.'
const NOT_HEARD = 'This of it was not heard'
const ANSWER = 'Then answer what the caller said last.'
const GO_ON_THEN = 'Then go on from where you were cut off in what you said last, without repeating it.'
const TELL = 'Then answer what the caller said last, with what your tools have told of it since.'
const ASK_TO_GO_ON = 'Then ask the caller briefly to go on.'
const ASK_TO_REPEAT = "The caller's last words may be lost: ask them to say it again."

/** What the agent says first. */
export function greetingOf({ greeting }: Plan): Ask {
  return { why: 'greeting', ...(greeting === '' ? { instructions: GREET } : exactly(greeting)), thenEnd: null }
}

/** Whether the caller has heard anything of the agent. */
function isGreeted({ state: { transcript } }: Step): boolean {
  return transcript.past.turns > 0 || transcript.entries.some(({ role, text }) => role === 'agent' && text !== '')
}

/** What is to be said again, or gone on with, after the caller has stopped to hear the agent here; null: nothing. */
export function restOfHeard(step: Step, utterances: readonly Heard[]): Ask | null {
  const unsaid = unsaidAfter(step, utterances)
  return unsaid?.why === 'turn' || unsaid?.why === 'tool' ? { ...unsaid, why: 'rest' } : unsaid
}

function unsaidAfter(step: Step, utterances: readonly Heard[]): Ask | null {
  const { active, asked } = step.state.answers
  const [cut] = utterances.filter(
    ({ itemId, heardMs, sentMs }) => heardMs < sentMs && !isOwnAudio(itemId) && !isClip(itemId),
  )
  if (!cut) return active ? restOf(active) : unbegun(asked)
  const told = active?.asked?.ask ?? null
  if (told?.why === 'filler' || told?.why === 'idle') return null
  // What it was about is being done: the agent speaks of that next, and would have it done again if it began anew.
  if (step.state.runningTools.length > 0 || active?.hasTool) return null
  const isPartHeard = utterances.some(({ responseId, heardMs }) => responseId === cut.responseId && heardMs > 0)
  if (isPartHeard) return { why: 'rest', ...goOnWith(told), thenEnd: told?.thenEnd ?? null }
  if (told) return told
  return isGreeted(step) ? { why: 'turn', instructions: null, thenEnd: null } : greetingOf(step.state.plan)
}

/** The caller hears the agent again. Who has noticed that they did not for a while is told that it is sorry. */
export function goOnAfterLoss(step: Step, { sinceMs, wasOwed, wasSpeaking }: Detached): void {
  if (step.nowMs - sinceMs <= NOTICED_MS) return
  const [first, ...others] = step.state.answers.queue
  if (!first) {
    if (wasSpeaking) askFirst(step, { why: 'turn', instructions: `${SORRY} ${ASK_TO_REPEAT}`, thenEnd: null })
    return
  }
  const instructions = sorryFor(first, wasSpeaking)
  if ((wasOwed || wasSpeaking) && instructions) step.setAnswers({ queue: [{ ...first, instructions }, ...others] })
}

/** Null for words that are exact, which are said as they are. */
function sorryFor({ instructions }: Ask, wasSpeaking: boolean): string | null {
  if (instructions?.startsWith(GO_ON)) return `${SORRY} ${GO_ON_THEN}${instructions.slice(GO_ON.length)}`
  if (instructions !== null) return null
  return wasSpeaking ? `${SORRY} ${ANSWER} ${ASK_TO_REPEAT}` : `${SORRY} ${ANSWER}`
}

/**
 * Goes on with a conversation that another session has begun, after a gap that was long enough to be noticed; false when
 * there was none yet.
 */
export function pickUp(step: Step): boolean {
  const { turns = [], toolCalls = [], notThrough: why = null } = step.state.resumption ?? {}
  const wanted = notThroughIn(turns, why)
  if (wanted) {
    if (!wanted.isNoted) addNote(step, 'system', { text: wasNotThrough(wanted.why), isKept: true })
    askFirst(step, { why: 'back', instructions: notThrough(wanted.target, wanted.why), thenEnd: null })
    return true
  }
  const last = turns.findLast((turn) => isSaid(turn) && !isBridge(turn, step.state.plan))
  if (!last) return false
  // Keys that were pressed meanwhile are what the caller said last.
  const isOwed = last.role !== 'agent' || step.state.owedSinceMs !== null
  const isToolOwed = !isOwed && toolCalls.some((one) => one.isOwed)
  const isCut = !isOwed && !isToolOwed && last.unheard !== ''
  const isUnwritten = last.role === 'caller' && last.text === ''
  // Whoever wrote those words is gone with its session, and they may have been exact.
  const goOn = `${GO_ON_THEN} ${NOT_HEARD}: ${last.unheard}`
  const then = isOwed ? ANSWER : isToolOwed ? TELL : isCut ? goOn : ASK_TO_GO_ON
  const next = isUnwritten ? ASK_TO_REPEAT : then
  step.setAnswers({ queue: step.state.answers.queue.filter(({ why }) => why !== 'turn') })
  askFirst(step, { why: isCut ? 'rest' : 'turn', instructions: `${SORRY} ${next}`, thenEnd: null })
  return true
}

/** Keys are words of the caller's, which our own note of them stands for. */
function isSaid({ role, text }: PastTurn): boolean {
  return role === 'caller' || role === 'agent' || (role === 'system' && keysIn(text) !== null)
}
