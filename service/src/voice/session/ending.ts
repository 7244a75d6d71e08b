import { APOLOGY } from '../../agents/built-in-words.ts'
import { pressed } from '../../records/pressed-keys.ts'
import { cleared, heard, heardWhenSent, isDrained, leftMs } from '../playback.ts'
import { cancelActive } from './asking.ts'
import { isClip } from './clip-id.ts'
import type { EndReason, TimerName } from './events.ts'
import { lastSilenceMs } from './hearing.ts'
import { addNote, closeUtterance, keepAll } from './keeping.ts'
import type { SessionState, Step } from './state.ts'

/** A mark that never comes back may hold the call this much longer than its audio lasts. */
const DRAIN_SLACK_MS = 2_000
/** How long an answer that is still being made may hold the end of the call. */
const LAST_ANSWER_MS = 15_000
/** How long the carrier may take to take over a call that has no model. */
const TAKE_OVER_MS = 10_000
/** How long the transcripts of the last words are waited for. */
const GRACE_MS = 2_000

/** What matters only while the conversation goes on. */
const OF_CONVERSATION: readonly TimerName[] = [
  ...(['missed_words', 'dtmf', 'idle', 'time_warning', 'last_words'] as const),
  ...(['renewal', 'dead_air', 'filler', 'words', 'resume', 'hold', 'detached', 'party', 'party_end'] as const),
]
/** What matters only while there is a carrier. Nor does one that is ending last longer than the longest call may. */
const OF_CARRIER: readonly TimerName[] = [
  ...OF_CONVERSATION,
  ...(['time_up', 'model_setup', 'reconnect', 'retry', 'padding', 'stall', 'backlog', 'drain'] as const),
]

/**
 * The call is to end once what the agent is saying was heard. The first reason stands; asking again changes nothing.
 *
 * @param hangUp whether we are the ones to end it; else the carrier does.
 */
export function beginEnding(step: Step, reason: EndReason, hangUp: boolean): void {
  const { ending, answers, playback } = step.state
  if (ending) return
  keepHalfTyped(step)
  step.set({ ending: { reason, hangUp, hungUp: false, isGuessed: false, isUntold: false } })
  // A goodbye that the call was to end with anyway is waited for, and nothing else.
  const queue = reason === 'shutdown' ? answers.queue.filter(({ thenEnd }) => thenEnd === reason) : []
  step.setAnswers({ queue })
  drain(step)
  disarm(step, OF_CONVERSATION)
  const answerMs = answers.active || answers.asked || queue.length > 0 ? LAST_ANSWER_MS : 0
  step.do({ type: 'arm', timer: 'drain', ms: leftMs(playback, step.nowMs) + DRAIN_SLACK_MS + answerMs })
}

/** Keys of an entry that will not be finished: nobody answers them, and the record has them. */
export function keepHalfTyped(step: Step): void {
  const { digits } = step.state
  if (digits === '') return
  step.set({ digits: '' })
  addNote(step, 'system', { text: pressed(digits), isKept: true })
  step.do({ type: 'note', note: { type: 'digits', digits } })
}

/** The last words have been made, and may take longer to say than there was time for them: they are heard out. */
export function drainAgain(step: Step): void {
  const { ending, playback } = step.state
  if (!ending?.hangUp || ending.hungUp) return
  step.do({ type: 'arm', timer: 'drain', ms: leftMs(playback, step.nowMs) + DRAIN_SLACK_MS })
}

function drain(step: Step): void {
  if (step.state.phase === 'draining') return
  step.set({ phase: 'draining', idleArmed: false, deadAirArmed: false })
  step.do({ type: 'note', note: { type: 'state', state: 'draining' } })
}

export function disarm(step: Step, timers: readonly TimerName[]): void {
  for (const timer of timers) step.do({ type: 'disarm', timer })
}

/** Looked at after each event of a call that is ending: whether it can go on to its end. */
export function goOnEnding(step: Step): void {
  const { ending, answers, playback, transcript } = step.state
  if (!ending || step.state.phase === 'ended') return
  const isClipOpen = transcript.entries.some(({ itemId, isFinal }) => isClip(itemId) && !isFinal)
  const isSilent = !answers.active && !answers.asked && answers.queue.length === 0 && !isClipOpen
  if (ending.hangUp && isSilent && isDrained(playback, step.nowMs)) hangUp(step)
  if (step.state.ending?.hungUp && isWritten(step.state)) finish(step)
}

/** Ends the call from our side, once. One whose model was lost goes on elsewhere, where there is such a place. */
export function hangUp(step: Step): void {
  const { ending, plan } = step.state
  if (ending?.hungUp) return
  if (ending?.reason === 'model_lost' && ending.hangUp && plan.fallbackNumber !== null)
    return leaveToCarrier(step, true)
  step.do({ type: 'hang_up' })
  for (const utterance of heard(step.state.playback, step.nowMs)) closeUtterance(step, utterance)
  carrierGone(step, 'agent_hangup')
  awaitWord(step)
}

/** The carrier apologises, unless that was heard already, and takes the call elsewhere, or ends it; it is given time for that. */
export function leaveToCarrier(step: Step, isTold: boolean): void {
  const { sorry, fallbackNumber: number } = step.state.plan
  const words = sorry ? { ...sorry, english: APOLOGY } : { text: APOLOGY }
  step.do({ type: 'apologise', ...(isTold ? { text: null } : words), number })
  // Whoever has no stream is not told by its end that the carrier has taken over.
  if (step.state.phase === 'detached') return carrierAsked(step)
  beginEnding(step, 'model_lost', false)
  const { ending } = step.state
  step.set({ ending: ending && { ...ending, hangUp: false } })
  step.do({ type: 'arm', timer: 'drain', ms: TAKE_OVER_MS })
}

/**
 * The stream is lost of a call that is to end, or to go elsewhere, with an apology: the carrier, which still has it, says what was not
 * heard of that, and goes on. False for any other call.
 */
export function leaveLostToCarrier(step: Step): boolean {
  const { ending, plan } = step.state
  if (ending?.reason !== 'model_lost' || !ending.hangUp || ending.hungUp || !plan.isResumable) return false
  const isTold = isClipHeard(step)
  if (isTold && plan.fallbackNumber === null) return false
  leaveToCarrier(step, isTold)
  carrierAsked(step)
  return true
}

/** Nobody hears the apology here. */
function carrierAsked(step: Step): void {
  carrierGone(step, 'model_lost')
  awaitWord(step)
}

/** The carrier was asked to end the call: whether it has is known by its word alone. */
export function awaitWord(step: Step): void {
  const { ending } = step.state
  if (ending) step.set({ ending: { ...ending, isUntold: true } })
}

/** The carrier has ended the call, or its stream. */
export function toldOver(step: Step): void {
  const { ending } = step.state
  if (ending?.isUntold) step.set({ ending: { ...ending, isUntold: false } })
}

function isClipHeard({ state: { transcript, playback }, nowMs }: Step): boolean {
  const utterances = heardWhenSent(playback, nowMs)
  const open = transcript.entries.filter(({ itemId, isFinal }) => isClip(itemId) && !isFinal)
  return open.every((entry) => utterances.some((one) => one.itemId === entry.itemId && one.heardMs >= one.sentMs))
}

/**
 * Nobody hears anything any more: only what was said before is still waited for. `isGuessed`: that the call is over with its
 * stream is taken for granted, and not known.
 */
export function carrierGone(step: Step, reason: EndReason, isGuessed = false): void {
  const { ending, playback, speech } = step.state
  if (ending?.hungUp) return
  keepHalfTyped(step)
  step.set({
    ending: {
      ...{ reason: ending?.reason ?? reason, hangUp: false, hungUp: true },
      isGuessed: isGuessed && ending === null,
      isUntold: false,
    },
    carrierGoneAtMs: step.nowMs,
  })
  drain(step)
  cancelActive(step)
  step.setAnswers({ asked: null, queue: [], isHeld: false })
  for (const utterance of heardWhenSent(playback, step.nowMs)) closeUtterance(step, utterance)
  step.set({ playback: cleared(playback), dueKeys: '' })
  // The end of the caller's last turn is only seen in silence, and none will come from a line that is gone.
  if (speech && speech.stoppedAtMs === null) step.do({ type: 'pad', ms: lastSilenceMs(step.state.plan) })
  step.do({ type: 'hold_uplink' })
  disarm(step, OF_CARRIER)
  step.do({ type: 'arm', timer: 'grace', ms: GRACE_MS })
}

/** Whether nothing is expected any more: no words of the caller, no tool, no bill for what was cancelled. */
function isWritten(state: SessionState): boolean {
  return !hasOpenTurns(state) && state.answers.active === null
}

/**
 * Whether something is not told yet of what was said and done: the caller's words, those of a person who had the call, what a tool comes
 * to, and keys that are pressed while another node is to have the call.
 */
export function hasOpenTurns(state: SessionState): boolean {
  const { transcript, runningTools, speech, takeover, isPersonUnwritten, detached, digits } = state
  const isOpen = transcript.entries.some((e) => e.isKept && !e.isFinal && e.role === 'caller')
  const isHalfTyped = digits !== '' && detached?.isHandedOver === true
  return isOpen || isHalfTyped || runningTools.length > 0 || speech !== null || (takeover === null && isPersonUnwritten)
}

/** Ends the session as it is: what is not final by now is kept as far as it goes. */
export function finish(step: Step): void {
  const { ending, phase } = step.state
  if (phase === 'ended' || !ending) return
  keepAll(step)
  step.set({ phase: 'ended' })
  step.do({ type: 'note', note: { type: 'state', state: 'ended' } }, { type: 'finish', reason: ending.reason })
}
