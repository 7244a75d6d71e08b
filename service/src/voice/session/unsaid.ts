import { heard } from '../playback.ts'
import type { Active, Ask, Asked } from './answers.ts'
import { ask, askFirst } from './asking.ts'
import { isClip } from './clip-id.ts'
import { markEnd } from './end-mark.ts'
import { beginEnding } from './ending.ts'
import { keepCall } from './held-end.ts'
import { keepEntry } from './keeping.ts'
import { isHoldAudio } from './own-audio.ts'
import { isAwaited } from './party.ts'
import { isOutOfHands, type SessionState, type Step } from './state.ts'
import { forgetRest } from './stopped.ts'
import { trimToSound } from './unspoken.ts'
import { closeVoice, isOnlySound } from './voicing.ts'
import { closeWords, unsent } from './words.ts'

/** For an answer of which the caller has heard a part. */
export const GO_ON = 'You were cut off in the middle of what you said last. Go on from there, without repeating it.'
const AS_IT_STANDS = 'Say the rest of it exactly as it stands here'
const DO_IT_NOW =
  'The line was interrupted right after what you said last. If you were about to use a tool, use it now; if you were about to say more, say it; otherwise ask briefly how to go on.'
const SAY_IT_AGAIN =
  "The caller's last words were lost on the line. Apologise in a few words and ask them to say it again."
/** How long a caller may take to go on after a session was lost in the middle of a sentence. */
const MISSED_WORDS_MS = 1_000

/** A model session is over: what it was asked for and did not say, and what it did not hear, is for the next one. */
export function carryOver(step: Step): void {
  const { active, asked } = step.state.answers
  // All of its words are here: they are spoken out, whatever becomes of the session that wrote them.
  if (isOnlySound(step) && !active?.isCancelled) return carryWordsOver(step)
  leaveVoice(step)
  step.setAnswers({ asked: null, active: null })
  markEnd(step, `lost-${step.state.model.epoch}`)
  const unsaid = active ? (restOf(active) ?? moreOf(step, active)) : unbegun(asked)
  if (unsaid) askFirst(step, unsaid)
  if (active) closeWords(step, active.responseId)
  carryWordsOver(step)
  if (active?.isWhole && !active.isCancelled && active.asked?.ask.thenEnd) {
    beginEnding(step, active.asked.ask.thenEnd, true)
  }
}

/** What was written of an answer that will not be finished, and has not become sound, is not said: the next session says it anew. */
function leaveVoice(step: Step): void {
  const { stream } = step.state.secondVoice
  if (!stream?.of) return
  closeVoice(step)
  trimToSound(step, stream.of.itemId)
}

/**
 * For an answer of which the caller has heard a part, also where that was to be exact: a later session was never told those words, and no
 * session keeps what it was told for one answer alone.
 */
export function goOnWith(begun: Ask | null): { instructions: string; exact?: string } {
  const exact = begun?.exact
  return exact === undefined ? { instructions: GO_ON } : { instructions: `${GO_ON} ${AS_IT_STANDS}: ${exact}`, exact }
}

/** What was asked for and is still wanted. */
export function unbegun(asked: Asked | null): Ask | null {
  return asked && !asked.isAbandoned && asked.ask.why !== 'filler' ? asked.ask : null
}

/** What is half said is gone on with; an answer that called a tool goes on when the tool is done. */
export function restOf({ asked, isCancelled, hasAudio, hasTool, isWhole }: Active): Ask | null {
  if (isCancelled || !asked || asked.ask.why === 'filler') return null
  if (!hasAudio) return hasTool ? null : unbegun(asked)
  return isWhole ? null : { why: 'rest', ...goOnWith(asked.ask), thenEnd: asked.ask.thenEnd }
}

/** What is still to come of an answer that is not over. */
export function unsaidOf(active: Active): Ask | null {
  return restOf(active) ?? undoneOf(active)
}

/** The same, where more is still wanted. */
export function moreOf(step: Step, active: Active): Ask | null {
  return isMoreWanted(step) ? unsaidOf(active) : null
}

/** Words of a whole answer that nobody could hear, as where its stream was lost while the model thought about them. */
export function lostOf(step: Step, { responseId, asked, hasAudio, hasTool }: Active): Ask | null {
  const isFirst = (asked?.ask.why === 'turn' || asked?.ask.why === 'tool') && asked.ask.thenEnd === null
  if (!isFirst || !hasAudio || hasTool || unsent(step, responseId).length === 0) return null
  return isMoreWanted(step) ? { why: 'rest', instructions: GO_ON, thenEnd: null } : null
}

/** Not in a call that ends, or is about to, nor beside the rest of what was heard in part. */
function isMoreWanted({ state: { ending, answers } }: Step): boolean {
  return ending === null && !answers.queue.some(({ why, thenEnd }) => why === 'rest' || thenEnd !== null)
}

/** An answer that was stopped when all words of an item were there turns out to have been over with it: nothing is left of it to go on with. */
export function forgetUndone(step: Step, { responseId, isCancelled, hasAudio }: Active): void {
  if (!isCancelled || !hasAudio || unsent(step, responseId).length > 0) return
  if (step.state.stopped?.rest?.instructions === DO_IT_NOW) forgetRest(step)
  const { queue } = step.state.answers
  step.setAnswers({ queue: queue.filter(({ instructions }) => instructions !== DO_IT_NOW) })
}

/** All words are there and the answer was not over: as a rule because it was about to call a tool, or to say more. */
function undoneOf({ asked, isCancelled, isWhole, hasTool }: Active): Ask | null {
  const isOfConversation = asked?.ask.why === 'turn' || asked?.ask.why === 'tool' || asked?.ask.why === 'rest'
  if (!isOfConversation || isCancelled || !isWhole || hasTool || asked.ask.thenEnd) return null
  return { why: 'rest', instructions: DO_IT_NOW, thenEnd: null }
}

/**
 * Words that have not become text by now are lost with the session that heard them. Whoever was still speaking is heard out
 * first; whoever waits for an answer is asked to say it again.
 */
function carryWordsOver(step: Step): void {
  const { speech, undecided, hasMissedWords } = step.state
  const isHalfSaid = speech?.counts === true && speech.stoppedAtMs === null
  // Of what was said over the agent, or in a moment, nobody will know any more whether it was but "go on", or a cough.
  const isTurnLost = (speech?.counts === true && speech.stoppedAtMs !== null) || undecided.length > 0
  step.set({ speech: null, undecided: [], hasMissedWords: hasMissedWords || isHalfSaid })
  if (isHalfSaid || isTurnLost) keepCall(step)
  const areWordsLost = closeCallerTurns(step)
  // A machine that is waited for is asked nothing.
  if (isTurnLost && !isAwaited(step.state)) ask(step, { why: 'turn', instructions: null, thenEnd: null })
  if (!isTurnLost && !areWordsLost) return
  const { queue } = step.state.answers
  step.setAnswers({ queue: queue.map((one) => (one.why === 'turn' ? { ...one, instructions: SAY_IT_AGAIN } : one)) })
}

function closeCallerTurns(step: Step): boolean {
  const open = step.state.transcript.entries.filter((e) => e.isKept && !e.isFinal && e.role === 'caller')
  for (const { itemId } of open) keepEntry(step, itemId, { isFinal: true })
  return open.length > 0
}

/**
 * What the caller may have said lately was heard by nobody; where it was theirs to speak, they have waited for the agent since. Nobody waits
 * for one that is muted, and an assistant that asks the person behind it says nothing for long.
 */
export function missWords(step: Step): void {
  const { phase, ending, runningTools, isMuted, party } = step.state
  const isTheirs = phase === 'talking' && !ending && !isOutOfHands(step) && runningTools.length === 0
  const isHeeded = !isMuted && party?.phase !== 'screening'
  if (isTheirs && isHeeded && !isSaying(step)) step.set({ hasMissedWords: true })
}

/** The caller can be heard again, who was cut off in the middle of a sentence: they may go on with it. */
export function awaitMissedWords(step: Step): void {
  if (step.state.hasMissedWords) step.do({ type: 'arm', timer: 'missed_words', ms: MISSED_WORDS_MS })
}

/** The caller did not go on with what was lost in the middle, nor with keys, which are answered once all of them are there. */
export function askForMissedWords(step: Step): void {
  step.set({ hasMissedWords: false })
  const { speech, digits } = step.state
  if (!speech && digits === '' && !isSaying(step) && !isAwaited(step.state)) {
    ask(step, { why: 'turn', instructions: SAY_IT_AGAIN, thenEnd: null })
  }
}

/** Whether the agent is saying something, or about to, that is more than to bridge a wait. */
function isSaying({ state, nowMs }: Step): boolean {
  const { asked, active } = state.answers
  if (active) return active.asked?.ask.why !== 'filler'
  if (asked) return asked.ask.why !== 'filler'
  return heard(state.playback, nowMs).some((one) => one.heardMs < one.sentMs && !isBridge(state, one.itemId))
}

/** Whether it only bridges a wait: a sound, or a clip that is none of the first words. */
export function isBridge({ clips }: SessionState, itemId: string): boolean {
  return isHoldAudio(itemId) || (isClip(itemId) && !clips.played.some((one) => one.itemId === itemId))
}
