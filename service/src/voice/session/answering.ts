import type { ModelEvent } from '../../platform/realtime/port.ts'
import { leftMs, sentOf } from '../playback.ts'
import { answerOver } from './answer-over.ts'
import type { Active, Ask } from './answers.ts'
import { askFirst, askNext, cancelActive, changeActive } from './asking.ts'
import { isClip } from './clip-id.ts'
import { clipSent } from './clips.ts'
import { keepStalls } from './earlier-stalls.ts'
import { markEnd } from './end-mark.ts'
import { beginEnding, drainAgain } from './ending.ts'
import type { SessionEvent } from './events.ts'
import { askOtherwise, FILTERED, insteadOfRest } from './filtered.ts'
import { giveInToAnswer } from './going-on.ts'
import { stopHoldAudio } from './interrupting.ts'
import { leaveStalled, modelLost } from './model-session.ts'
import { endOutage } from './outage.ts'
import { isCallerWaiting } from './owing.ts'
import { isOwnAudio } from './own-audio.ts'
import { askAgain, RATE_LIMITED } from './retry.ts'
import { spend } from './spending.ts'
import { armStall } from './stall-clock.ts'
import { isOutOfHands, type Step } from './state.ts'
import { dropIfSilent, goneOnWith } from './stopped.ts'
import { answerSounds, nothingOwed } from './timeline.ts'
import { restOfTooLong, TOO_LONG } from './too-long.ts'
import { waitBehindWords } from './tool-wait.ts'
import { endRowByWords } from './tools-in-row.ts'
import { change, find } from './transcript.ts'
import { forgetUndone, lostOf, moreOf, restOf } from './unsaid.ts'
import { sayRest } from './unspoken.ts'
import { isHeldForVoice } from './voicing.ts'
import { closeWords } from './words.ts'

type Done = Extract<ModelEvent, { type: 'response_done' }>
type Sent = Extract<SessionEvent, { type: 'sent' }>

/** More would say nothing new of how quickly the agent answers. */
const MAX_LATENCIES = 1_000
/** The end of an answer is told again soon or never. */
const MAX_BILLED = 16

/** The model begins an answer: the one that was asked for, or one of its server's own, which is played like any other. */
export function responseStarted(step: Step, responseId: string): void {
  const { answers, playback, ending, phase, isMuted } = step.state
  const { asked, active, lastDoneId } = answers
  // Its end overtook its beginning.
  if (responseId === lastDoneId) return
  if (active) closeWords(step, active.responseId)
  const hasAudio = playback.utterances.some((u) => u.responseId === responseId)
  const begun = {
    hasAudio,
    heardUntilMs: heardUntilMs(step),
    isWhole: false,
    preambleId: null,
    hasTool: false,
    isCancelled: false,
    isOverdue: false,
    isBroken: false,
    writtenItemIds: [],
  }
  step.setAnswers({ asked: null, active: { responseId, asked, ...begun } })
  if (hasAudio) firstAudio(step, { responseId, asked }, null)
  armStall(step)
  const isOutOfTurn = ending !== null || phase === 'detached' || isMuted || isOutOfHands(step)
  const isUnwanted = asked ? asked.isAbandoned : isOutOfTurn
  if (isUnwanted) return cancelActive(step)
  giveInToAnswer(step)
  stopHoldAudio(step)
}

/** The agent's audio has left for the caller. */
export function audioSent(step: Step, audio: Sent): void {
  startUtterance(step, audio)
  if (goneOnWith(step.state, audio.itemId)) return step.set({ idleArmed: false, deadAirArmed: false })
  if (isClip(audio.itemId)) return clipSent(step, audio.itemId)
  if (isOwnAudio(audio.itemId)) return step.set({ deadAirArmed: false })
  const { active } = step.state.answers
  if (active?.responseId !== audio.responseId) return
  const preambleId = audio.itemId === active.preambleId ? active.preambleId : null
  changeActive(step, { hasAudio: true, isWhole: false, preambleId, heardUntilMs: heardUntilMs(step) })
  keepStalls(step)
  armStall(step)
  if (!active.hasAudio) firstAudio(step, active, audio)
  // It says what came before what is owed: silence is counted from its end.
  if (isCallerWaiting(step.state)) step.set({ deadAirArmed: false })
}

/** When all that was sent so far has been heard. Whole, as numbers that are so only now and then make the copies of a state slow. */
function heardUntilMs({ state, nowMs }: Step): number {
  return Math.round(nowMs + leftMs(state.playback, nowMs))
}

/** The caller begins to hear an item when all that was sent before it has played. */
function startUtterance(step: Step, { itemId, ms }: Sent): void {
  const { playback, transcript } = step.state
  if (sentOf(playback, itemId) !== ms || goneOnWith(step.state, itemId)) return
  const startMs = Math.max(0, Math.round(step.atMs + leftMs(playback, step.nowMs) - ms))
  if (find(transcript, itemId)) step.set({ transcript: change(transcript, itemId, { startMs }) })
}

/** An answer begins to sound. One that only fills the wait is not what is owed. */
function firstAudio(step: Step, answer: Pick<Active, 'responseId' | 'asked'>, audio: Sent | null): void {
  const { asked } = answer
  const { latency, owedSinceMs, greetedAtMs, startedAtMs } = step.state
  if (asked?.ask.why === 'filler') return
  const isGreeting = asked?.ask.why === 'greeting'
  dropIfSilent(step)
  endRowByWords(step, answer)
  step.set({ owedSinceMs: null })
  if (owedSinceMs !== null && audio !== null && !isGreeting) answerSounds(step, audio)
  else nothingOwed(step)
  if (isGreeting && greetedAtMs === null) {
    const greetingMs = Math.round(step.nowMs - startedAtMs)
    return step.set({ greetedAtMs: step.nowMs, latency: { ...latency, greetingMs } })
  }
  if (owedSinceMs === null || isGreeting) return
  const responseMs = Math.round(step.nowMs - owedSinceMs)
  const responsesMs = [...latency.responsesMs, responseMs].slice(-MAX_LATENCIES)
  step.set({ latency: { ...latency, responsesMs } })
  step.do({ type: 'note', note: { type: 'latency', responseMs } })
}

/** All audio of an item is here: the carrier is asked to tell when it has played, from where silence is counted. */
export function audioDone(step: Step, { responseId, itemId }: { responseId: string; itemId: string }): void {
  const { active } = step.state.answers
  markEnd(step, itemId)
  if (active?.responseId !== responseId) return
  changeActive(step, { isWhole: active.preambleId !== itemId })
  // Of one that was silenced nobody has heard anything.
  if (active.hasAudio && !active.isCancelled) step.set({ deadAirArmed: false })
}

/** An item was only said ahead: its answer is not over with it, however long the model thinks about what follows. */
export function preambleSaid(step: Step, { responseId, itemId }: { responseId: string; itemId: string }): void {
  const { active } = step.state.answers
  if (active?.responseId !== responseId) return
  // In another voice all of its items are one utterance.
  changeActive(step, { isWhole: false, preambleId: active.writtenItemIds[0] ?? itemId })
}

/** An answer is over, whole or not: its usage counts, its items will not grow, the next one may be asked for. */
export function responseDone(step: Step, done: Done): void {
  const { answers } = step.state
  if (answers.billedIds.includes(done.responseId)) return
  bill(step, done)
  const { active } = answers
  if (active?.responseId !== done.responseId) {
    step.setAnswers({ lastDoneId: done.responseId })
    return askNext(step)
  }
  if (isHeldForVoice(step, active, done)) return
  concluded(step, active, done)
}

/** An answer is over at the model, and what is to be heard of it has become sound. */
export function concluded(step: Step, active: Active, done: Done): void {
  if (sayRest(step, active, done)) return
  const lost = done.status === 'completed' ? lostOf(step, active) : null
  if (done.status === 'completed') forgetUndone(step, active)
  answerOver(step, active)
  const isCancelled = active.isCancelled || (done.status === 'cancelled' && !active.isOverdue)
  // Of one that was cancelled by nobody here, and had not begun to sound, all is missing.
  const wanted = isCancelled && (active.isCancelled || active.hasAudio) ? null : missing(step, active, done)
  if (done.fault === 'fatal') {
    if (wanted) askFirst(step, wanted)
    return modelLost(step, done.fault)
  }
  const undone = active.isOverdue && done.status === 'cancelled' ? moreOf(step, active) : null
  if (undone) return askUndone(step, undone)
  const instead = isCancelled ? null : (insteadOf(step, active, done) ?? lost)
  if (instead) return sayInstead(step, instead)
  if (wanted && done.errorCode === FILTERED) return askOtherwise(step, wanted)
  if (wanted) return askAgain(step, wanted, done.errorCode === RATE_LIMITED)
  if (isCancelled) return cutOff(step, active)
  // One that failed in the middle was said as far as it will be, and did not end as it should.
  if (done.status !== 'failed') step.set({ earlierStalls: 0 })
  said(step, active)
}

/** Words of it were whole, and the model was at more of it when it was told to end: it had stalled in that. */
function askUndone(step: Step, undone: Ask): void {
  askFirst(step, undone)
  askNext(step)
}

/** What is said in place of the rest of one that its provider has ended in the middle; null for any other. */
function insteadOf(step: Step, active: Active, { errorCode }: Done): Ask | null {
  if (errorCode === FILTERED) return insteadOfRest(step, active)
  return errorCode === TOO_LONG ? restOfTooLong(step, active) : null
}

/** It has ended as far as the model is concerned, which is well, and is not said yet. */
function sayInstead(step: Step, instead: Ask): void {
  step.set({ stall: null, earlierStalls: 0 })
  endOutage(step)
  askFirst(step, instead)
  askNext(step)
}

function bill(step: Step, { responseId, usage: cost }: Done): void {
  const { usage, answers } = step.state
  spend(step, { responseId, usage: cost })
  step.setAnswers({ billedIds: [...answers.billedIds, responseId].slice(-MAX_BILLED) })
  step.set({
    usage: {
      inputTokens: usage.inputTokens + cost.inputTokens,
      outputTokens: usage.outputTokens + cost.outputTokens,
      cachedTokens: usage.cachedTokens + cost.cachedTokens,
      audioSeconds: usage.audioSeconds + cost.audioSeconds,
    },
  })
}

/** What has to be asked for again, because nothing or only a part of it came. Half an answer is gone on with once. */
function missing(step: Step, active: Active, { status }: Done): Ask | null {
  if (!active.hasAudio) return restOf(active)
  return status === 'failed' && active.asked?.ask.why !== 'rest' ? (restOf(active) ?? moreOf(step, active)) : null
}

/** The agent has said what it was asked for: the call ends with it, or goes on. */
export function said(step: Step, { asked, hasAudio }: Active): void {
  const { party } = step.state
  // Its end may have been called in: that it was late is nothing to the next one.
  step.set({ stall: null })
  endOutage(step)
  if (hasAudio) waitBehindWords(step)
  if (party && asked?.ask.why === 'turn') step.set({ party: { ...party, isAnswered: true } })
  if (asked?.ask.thenEnd) beginEnding(step, asked.ask.thenEnd, true)
  drainAgain(step)
  askNext(step)
}

/** The caller did not hear the answer out, so it ends nothing; only the time that is up cannot be talked away. */
export function cutOff(step: Step, { asked, hasAudio, isBroken }: Active): void {
  const { phase, ending, earlierStalls } = step.state
  // Whoever asks after an answer that stays away is not to be answered so for ever. A goodbye is over with it.
  const isAskedAfter = isBroken && !asked?.ask.thenEnd
  if (isAskedAfter && phase === 'talking' && !ending && !isOutOfHands(step) && leaveStalled(step, earlierStalls)) return
  if (hasAudio && !step.state.answers.queue.some(({ why }) => why === 'rest')) endOutage(step)
  // Last words that are to be heard in another voice were not talked away: they are still to come.
  const isToCome = step.state.answers.queue.some(({ thenEnd }) => thenEnd === 'max_duration')
  if (asked?.ask.thenEnd === 'max_duration' && !isToCome) beginEnding(step, 'max_duration', true)
  askNext(step)
}
