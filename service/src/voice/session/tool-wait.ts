import { leftMs } from '../playback.ts'
import { ask, exactly, isAnswering } from './asking.ts'
import { playFiller } from './clips.ts'
import { hasParted } from './held-end.ts'
import { LEAD_MS, playChords, playStretch } from './holding.ts'
import { stopHoldAudio } from './interrupting.ts'
import { isPressing, ownId } from './own-audio.ts'
import { isOutOfHands, type SessionState, type Step } from './state.ts'

/** What the agent says while a tool takes its time and there are no words for that; then, when it still does. */
const FILLER = 'Tell the caller in a few words that this takes a moment.'
const STILL = 'Tell the caller in a few words, and in others than before, that this takes a little longer.'
/** That somebody is there is said again after so long, at the next pause in what is heard meanwhile. */
const SAY_AGAIN_MS = 9_000
/** How soon it is looked at again whether somebody speaks. */
const LOOK_AGAIN_MS = 500

/** A tool is waited for from now on: once it takes long the agent says so, sooner where nobody has spoken for long before it. */
export function awaitTool(step: Step): void {
  step.set({ toolToldAtMs: null })
  step.do({ type: 'arm', timer: 'filler', ms: step.state.plan.fillers.afterMs })
}

/** The agent has said something while a tool runs: that this takes long is not said right behind that. */
export function waitBehindWords(step: Step): void {
  const { runningTools, toolToldAtMs, plan, playback } = step.state
  if (runningTools.length === 0 || toolToldAtMs !== null) return
  step.do({ type: 'arm', timer: 'filler', ms: plan.fillers.afterMs + leftMs(playback, step.nowMs) })
}

/** The tool is done. */
export function stopFilling(step: Step): void {
  stopForTool(step)
  step.set({ toolToldAtMs: null })
  step.do({ type: 'disarm', timer: 'filler' })
  step.setAnswers({ queue: step.state.answers.queue.filter(({ why }) => why !== 'filler') })
}

function stopForTool(step: Step): void {
  const { plan, transfer } = step.state
  if (!plan.holdsForTools || transfer) return
  step.do({ type: 'disarm', timer: 'hold' })
  stopHoldAudio(step)
}

/** A tool takes long: the agent says so, unless somebody is speaking anyway, or typing, or goodbye was said and nothing keeps the call yet. */
export function fillTheWait(step: Step): void {
  const { speech, digits, toolToldAtMs } = step.state
  if (!mayFill(step) || toolToldAtMs !== null) return
  if (speech || digits !== '' || isAnswering(step) || hasParted(step.state)) return waitBehindWords(step)
  holdForTool(step)
  tellOfWait(step)
}

/**
 * Nobody has spoken for long while a tool runs: the agent says that it takes long, if it has not just done so, or the caller hears that
 * somebody is there. Words that the model has to find first are bridged as well.
 */
export function bridgeTool(step: Step): void {
  if (isToldNow(step)) return holdForTool(step)
  if (step.state.plan.holdsForTools && !isBusy(step)) return playNext(step)
  holdForTool(step)
  playChords(step)
}

/** The wait for a tool goes on: music, as soon as nobody speaks or presses keys, and now and then a word. */
export function playForTool(step: Step): void {
  const { playback } = step.state
  if (!mayFill(step) || hasParted(step.state)) return
  if (isBusy(step) || leftMs(playback, step.nowMs) > LEAD_MS) {
    return step.do({ type: 'arm', timer: 'hold', ms: Math.max(LOOK_AGAIN_MS, leftMs(playback, step.nowMs) - LEAD_MS) })
  }
  if (isToldNow(step)) holdForTool(step)
  else playNext(step)
}

function mayFill(step: Step): boolean {
  const { runningTools, phase, ending, isMuted } = step.state
  return runningTools.length > 0 && phase === 'talking' && !ending && !isMuted && !isOutOfHands(step)
}

function isBusy(step: Step): boolean {
  const { speech, digits, answers } = step.state
  return speech !== null || digits !== '' || answers.asked !== null || answers.active !== null || isPressing(step)
}

/** What there is to say is being said: then the caller hears that somebody is there. */
function holdForTool(step: Step): void {
  if (step.state.plan.holdsForTools) step.do({ type: 'arm', timer: 'hold', ms: LOOK_AGAIN_MS })
}

function playNext(step: Step): void {
  const { toolHolds } = step.state
  step.set({ toolHolds: toolHolds + 1 })
  playStretch(step, ownId('wait', toolHolds + 1), toolHolds)
}

/** Whether it was time to say that the tool takes long, and there were words for it. */
function isToldNow(step: Step): boolean {
  const { toolToldAtMs } = step.state
  const isTime = toolToldAtMs === null || step.nowMs - toolToldAtMs >= SAY_AGAIN_MS
  return isTime && tellOfWait(step)
}

/** Says it by a clip, or has the model word it, which takes a moment: false then. */
function tellOfWait(step: Step): boolean {
  const { toolToldAtMs, plan, answers } = step.state
  step.set({ toolToldAtMs: step.nowMs })
  if (playFiller(step)) return true
  if (isBeingTold(step.state)) return false
  const phrase = plan.fillers.phrases[answers.asks % plan.fillers.phrases.length]
  const words = phrase === undefined ? { instructions: toolToldAtMs === null ? FILLER : STILL } : exactly(phrase)
  ask(step, { why: 'filler', ...words, thenEnd: null })
  return false
}

/** Whether the model was asked for such words and has not said them yet. */
function isBeingTold({ answers: { asked, active, queue } }: SessionState): boolean {
  const wanted = [asked?.ask, active?.asked?.ask, ...queue]
  return wanted.some((one) => one?.why === 'filler')
}
