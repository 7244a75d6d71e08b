import { cleared, type Heard, heard, heardWhenSent, leftMs } from '../playback.ts'
import type { Ask } from './answers.ts'
import { askFirst, askNext, cancelActive } from './asking.ts'
import { holdTransfer, meantOf } from './calling-off.ts'
import { keepClipsFor, replayClips, tellCutClip, tellCutDisclosure } from './clips.ts'
import { awaitWord, carrierGone, leaveLostToCarrier, toldOver } from './ending.ts'
import type { TimerName } from './events.ts'
import { lastSilenceMs } from './hearing.ts'
import { cutShort } from './interrupting.ts'
import { awaitKeys } from './keys.ts'
import { cancelTransfer, isLeaving } from './leaving.ts'
import { letCallGo } from './letting-go.ts'
import { greet } from './model-session.ts'
import { goOnAfterLoss, restOfHeard } from './picking-up.ts'
import { goOnHearing } from './speech.ts'
import { armStall } from './stall-clock.ts'
import type { Step } from './state.ts'
import { dropStopped } from './stopped.ts'
import { giveWay } from './taking-over.ts'
import { awaitTool } from './tool-wait.ts'
import { AWAY_MS, playOn, transferCameBack, transferLeftBehind } from './transferring.ts'
import { wordsOverdue } from './turns.ts'
import { awaitMissedWords } from './unsaid.ts'

/** How long a call without a stream waits for another one. */
export const DETACHED_MS = 15_000
/** A carrier that does not take what it is sent for this long is gone. */
const BACKLOG_MS = 5_000
const GOODBYE = 'Say in one short sentence that you are sorry, that this call must end now, and goodbye.'

/** What matters only while somebody hears us. */
const OF_STREAM: readonly TimerName[] = [
  ...(['missed_words', 'padding', 'dtmf', 'stall', 'filler', 'words', 'retry', 'backlog', 'hold'] as const),
]

/**
 * The stream is gone, but not the call: its carrier may bring it back. What the caller has not heard is kept for then. A
 * call without a carrier is over, and so is one that was ending: but for an apology, which its carrier makes then.
 */
export function streamLost(step: Step): void {
  const { phase, plan, detached } = step.state
  if (phase === 'detached') return detached?.isHandedOver ? letCallGo(step) : undefined
  const isOpen = phase === 'waiting' || phase === 'talking'
  if (!isOpen || !plan.isResumable) return carrierLost(step)
  silence(step, heardWhenSent(step.state.playback, step.nowMs), false)
  step.do({ type: 'detach' })
  wait(step)
}

/** The carrier does not take what it is sent, or takes it again. */
export function backlogChanged(step: Step, { isOver }: { isOver: boolean }): void {
  if (isOver) step.do({ type: 'disarm', timer: 'backlog' })
  else step.do({ type: 'arm', timer: 'backlog', ms: BACKLOG_MS })
}

/** The call would go on in silence, unless the carrier has taken it over from us, or does so now. */
function carrierLost(step: Step): void {
  const { ending } = step.state
  if (ending?.hungUp || leaveLostToCarrier(step)) return
  const isTakenOver = ending !== null && !ending.hangUp
  if (!isTakenOver) step.do({ type: 'hang_up' })
  carrierGone(step, 'carrier_lost', true)
  if (!isTakenOver) awaitWord(step)
}

/** Another node is to go on: the agent falls silent here, and the end of the stream is that of our part. */
export function handOver(step: Step): void {
  const { phase, plan, playback, detached } = step.state
  if (!plan.isResumable) return
  if (phase === 'detached') return detached?.isHandedOver ? undefined : letCallGo(step)
  if (phase !== 'waiting' && phase !== 'talking') return
  const isAudible = playback.sentMs > 0
  silence(step, heard(playback, step.nowMs), true)
  transferLeftBehind(step)
  if (isAudible) step.do({ type: 'clear' })
  wait(step)
  if (step.state.digits !== '') awaitKeys(step)
}

/** Nobody hears the agent from here on: what it was saying is cut where the caller stopped to hear it, and waits. */
function silence(step: Step, utterances: Heard[], isHandedOver: boolean): void {
  const { answers, playback, speech, owedSinceMs, phase } = step.state
  const wasOwed = leftMs(playback, step.nowMs) > 0 || owedSinceMs !== null || isBusy(step)
  const rest = restOfHeard(step, utterances)
  keepClipsFor(step, utterances)
  const ids = new Set(utterances.map(({ responseId }) => responseId))
  if (answers.active) ids.add(answers.active.responseId)
  const was = { wasOwed, wasSpeaking: speech !== null, wasWaiting: phase === 'waiting' }
  const detached = { sinceMs: step.nowMs, ...was, isHandedOver }
  step.set({ phase: 'detached', detached, stall: null, playback: cleared(playback), dueKeys: '' })
  if (ids.size > 0) step.do({ type: 'discard', responseIds: [...ids] })
  step.setAnswers({
    asked: answers.asked && { ...answers.asked, isAbandoned: true },
    queue: answers.queue.filter(({ why }) => why !== 'idle' && why !== 'filler'),
    isHeld: false,
  })
  // One that has been made whole may be about to call a tool: it is only not heard.
  const isMade = answers.active?.isWhole === true && !answers.active.asked?.ask.thenEnd
  if (!isMade) cancelActive(step)
  for (const utterance of utterances) {
    cutShort(step, utterance)
    if (step.state.clips.due.length === 0) tellCutClip(step, utterance)
    tellCutDisclosure(step, utterance)
  }
  dropStopped(step)
  // Their words come all the same.
  holdTransfer(step, meantOf(step.state.undecided))
  if (rest) askForRest(step, rest)
}

/** What is left of an answer is asked for once, also where its session was lost before, with what a later one was to say of it. */
function askForRest(step: Step, rest: Ask): void {
  const { queue } = step.state.answers
  const thenEnd = rest.thenEnd ?? queue.find(({ why }) => why === 'rest')?.thenEnd ?? null
  step.setAnswers({ queue: queue.filter(({ why }) => why !== 'rest') })
  askFirst(step, { ...rest, thenEnd })
}

function isBusy({ state: { answers } }: Step): boolean {
  return answers.asked !== null || answers.active !== null || answers.queue.length > 0
}

function wait(step: Step): void {
  // Whoever goes elsewhere with the call has done so.
  if (isLeaving(step)) step.do({ type: 'disarm', timer: 'transfer' })
  for (const timer of OF_STREAM) step.do({ type: 'disarm', timer })
  // The end of the caller's last turn is only seen in silence, and none will come from a line that is gone.
  if (step.state.speech?.stoppedAtMs === null) step.do({ type: 'pad', ms: lastSilenceMs(step.state.plan) })
  step.do(
    { type: 'hold_uplink' },
    { type: 'arm', timer: 'detached', ms: isLeaving(step) ? AWAY_MS : DETACHED_MS },
    { type: 'checkpoint' },
    { type: 'note', note: { type: 'state', state: 'detached' } },
  )
}

/** Another stream is on its way: it is waited for as long as the first was. */
export function streamPromised(step: Step): void {
  step.set({ promisedAtMs: step.nowMs })
  if (step.state.phase === 'detached') step.do({ type: 'arm', timer: 'detached', ms: DETACHED_MS })
}

/** The call is back, by another stream. One that still stood is given up for it. */
export function attached(step: Step): void {
  if (step.state.phase !== 'detached') streamLost(step)
  else if (step.state.detached?.isHandedOver) step.do({ type: 'detach' })
  if (step.state.phase !== 'detached') return
  step.set({ promisedAtMs: null })
  step.do({ type: 'attach' })
  goOn(step)
}

/** Nobody has brought the call back. One that was to be taken by another node, and still has its stream, goes on here. */
export function waitedInVain(step: Step): void {
  if (step.state.phase !== 'detached') return
  if (step.state.detached?.isHandedOver) return goOn(step)
  // That nobody takes it is known, and its carrier has not come back to say so.
  const isRefused = (step.state.transfer?.why ?? null) !== null
  if (!isLeaving(step) || isRefused) return carrierLost(step)
  // It rings for less long: the target has the call, though nobody has told us.
  step.do({ type: 'put_through' })
  letCallGo(step, 'transferred')
}

/** No other node could be given the call, and this one is about to stop: who is there is told goodbye, and the call ends so. */
export function kept(step: Step): void {
  const { phase, detached } = step.state
  // It may have waited so long for an answer that it went on already.
  const isOn = phase === 'waiting' || phase === 'talking'
  // What has been ended meanwhile goes on nowhere.
  if (!isOn && !(phase === 'detached' && detached?.isHandedOver)) return
  giveWay(step)
  cancelTransfer(step)
  step.setAnswers({ queue: [{ why: 'goodbye', instructions: GOODBYE, thenEnd: 'shutdown' }] })
  if (isOn || !detached) return askNext(step)
  // Neither is one greeted, or gone on with, that had not begun.
  step.set({ detached: { ...detached, wasWaiting: false } })
  goOn(step)
}

/** The conversation goes on where it was. */
function goOn(step: Step): void {
  wordsOverdue(step)
  const { detached, model, digits, runningTools, owedSinceMs } = step.state
  const isFromTarget = isLeaving(step)
  const isFresh = detached?.wasWaiting === true
  step.set({
    phase: isFresh ? 'waiting' : 'talking',
    detached: null,
    lastCallerAudioMs: step.nowMs,
    owedSinceMs: owedSinceMs === null ? null : step.nowMs,
  })
  step.do({ type: 'disarm', timer: 'detached' })
  step.do({ type: 'note', note: { type: 'state', state: step.state.phase } })
  if (model.isReady) hearAgain(step)
  if (digits !== '') awaitKeys(step)
  if (runningTools.length > 0) awaitTool(step)
  goOnHearing(step)
  if (isFromTarget) transferCameBack(step)
  else if (isFresh && model.isReady) greet(step)
  else if (detached && !isFresh && !replayClips(step)) goOnAfterLoss(step, detached)
  playOn(step)
  askNext(step)
  armStall(step)
}

function hearAgain(step: Step): void {
  step.do({ type: 'open_uplink' })
  awaitMissedWords(step)
}

/** The carrier has ended the stream: the call is over, unless it is to go on elsewhere, or with another stream, or is put through. */
export function streamStopped(step: Step): void {
  const { detached, promisedAtMs } = step.state
  if (detached?.isHandedOver) return letCallGo(step)
  if (isLeaving(step)) return streamLost(step)
  // It asked what comes next before it stopped this one.
  if (promisedAtMs !== null && step.nowMs - promisedAtMs < DETACHED_MS) return streamLost(step)
  toldOver(step)
  carrierGone(step, 'caller_hangup', true)
}

/** The carrier has ended the call, whoever was to have it; `isLost`: because no stream of it could be had. */
export function hungUp(step: Step, { isLost = false }: { isLost?: boolean }): void {
  const { detached, ending } = step.state
  if (detached) step.set({ detached: { ...detached, isHandedOver: false } })
  if (ending) step.set({ ending: { ...ending, isGuessed: false } })
  toldOver(step)
  carrierGone(step, isLost ? 'carrier_lost' : 'caller_hangup')
}
