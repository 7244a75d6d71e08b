import { assertNever } from '../../kernel/errors.ts'
import { isDrained } from '../playback.ts'
import { askFirst, askNext, cancelActive } from './asking.ts'
import { holdTransfer, meantOf } from './calling-off.ts'
import { tellUnsaidDisclosure } from './clips.ts'
import { comeBack, dropWaiting } from './coming-back.ts'
import type { SessionEvent, TransferFault } from './events.ts'
import { playStretch } from './holding.ts'
import { silence } from './interrupting.ts'
import { addNote } from './keeping.ts'
import { tellKeys } from './keys.ts'
import { cancelTransfer, isLeaving } from './leaving.ts'
import { letCallGo } from './letting-go.ts'
import { notThrough, throughTo, wasNotThrough } from './not-through.ts'
import { ownId } from './own-audio.ts'
import { isMidSpeech } from './speech.ts'
import type { Step, Transfer } from './state.ts'
import { hearOutStopped } from './stopped.ts'
import { isTimeUp, TIME_UP, wrapUp } from './wrapping-up.ts'

/** How long what the agent was saying may hold the transfer up. */
const WORDS_MS = 6_000
/** How long a carrier may take to begin with it. */
const BEGIN_MS = 12_000
/** 30 s in which it rings, and time to hear what it is about. */
const HOLD_MS = 90_000
/** How long a carrier may take to leave our stream for the target. */
const GO_MS = 10_000
/** How long a call may be on its way to a target that nothing is heard of: it rings for 30 s. */
export const AWAY_MS = 45_000

type OnTransfer = Extract<
  SessionEvent,
  { type: 'transfer' | 'transfer_ringing' | 'transfer_sent' | 'transfer_failed' | 'taker_gone' | 'transferred' }
>

/** The call is put through to somebody else, or is not. */
export function onTransfer(step: Step, event: OnTransfer): void {
  switch (event.type) {
    case 'transfer':
      return transfer(step, event)
    case 'transfer_ringing':
      return ringing(step)
    case 'transfer_sent':
      return sent(step)
    case 'transfer_failed':
      return failed(step, event.why)
    case 'taker_gone':
      return takerGone(step)
    case 'transferred':
      return step.state.transfer ? gone(step) : undefined
    default:
      assertNever(event)
  }
}

/**
 * The call is to be put through: once what the agent is saying was heard when the agent wants it, else at once. Not one that is
 * ending, that nobody hears, that has no carrier, that a person has, or that is being put through; nor does one whose longest time has passed
 * wait until somebody is told what it is about.
 */
function transfer(step: Step, { id, target, isWarm, isAgents }: Extract<OnTransfer, { type: 'transfer' }>): void {
  const { phase, ending, takeover, transfer: before, plan } = step.state
  if (phase !== 'talking' || ending || takeover || before || !plan.isResumable) return
  if (isWarm && isTimeUp(step)) return
  if (!isAgents) silence(step)
  step.set({
    transfer: { id, target, isWarm, isAgents, phase: 'words', holds: 0, why: null, stoppedBy: [] },
    stall: null,
    owedSinceMs: null,
  })
  holdTransfer(step, saidMeanwhile(step))
  dropWaiting(step, isAgents)
  addNote(step, 'system', { text: throughTo(target), isKept: true })
  step.do({ type: 'disarm', timer: 'filler' }, { type: 'arm', timer: 'transfer', ms: WORDS_MS })
}

/** The sounds of the caller's that may be words and are not known yet: those that were over before this, and what they say now. */
function saidMeanwhile(step: Step): string[] {
  const { speech, undecided } = step.state
  return [...meantOf(undecided), ...(speech && isMidSpeech(step) ? [speech.itemId] : [])]
}

/** Looked at after each event: whether the agent's words were heard, so that the carrier can be asked. */
export function beginTransfer(step: Step): void {
  const { transfer: wanted, answers, playback, stopped } = step.state
  // What stopped the agent in its last words may be no words: then it says the rest of them first.
  if (wanted?.phase !== 'words' || stopped || wanted.stoppedBy.length > 0) return
  const { asked, active, queue } = answers
  // What was cut short is not heard any more, though nobody has said yet that it is over.
  const isSilent = (asked?.isAbandoned ?? true) && (active?.isCancelled ?? true)
  const isToSpeak = queue.some(({ isInPlace }) => isInPlace)
  if (isSilent && !isToSpeak && isDrained(playback, step.nowMs)) askCarrier(step, wanted)
}

/** What the agent would still make is not heard any more: it is not made, nor taken for said. */
function leaveUnmade(step: Step): void {
  const { active } = step.state.answers
  if (!active || active.isCancelled) return
  cancelActive(step)
  tellUnsaidDisclosure(step, true)
}

function askCarrier(step: Step, wanted: Transfer): void {
  const { queue } = step.state.answers
  step.setAnswers({ queue: queue.filter(({ isInPlace }) => !isInPlace) })
  step.set({ transfer: { ...wanted, phase: 'asking' } })
  step.do({ type: 'begin_transfer' }, { type: 'arm', timer: 'transfer', ms: BEGIN_MS })
}

/** The target is being rung, and the caller waits. */
function ringing(step: Step): void {
  const { transfer: wanted } = step.state
  if (wanted?.phase !== 'asking') return
  step.set({ transfer: { ...wanted, phase: 'holding' } })
  step.do({ type: 'arm', timer: 'transfer', ms: HOLD_MS })
  playOn(step)
}

/** The caller hears that there is still somebody. */
export function playOn(step: Step): void {
  const { transfer: wanted } = step.state
  if (wanted?.phase !== 'holding') return
  const holds = step.state.holds + 1
  step.set({ holds, transfer: { ...wanted, holds: wanted.holds + 1 } })
  playStretch(step, ownId('hold', holds), wanted.holds)
}

/** The carrier takes the call to the target: our stream is about to end. */
function sent(step: Step): void {
  const { transfer: wanted } = step.state
  if (wanted?.phase !== 'asking' && wanted?.phase !== 'holding') return
  step.set({ transfer: { ...wanted, phase: 'going' } })
  // No key follows them.
  if (step.state.digits !== '') tellKeys(step)
  // Once the other end has the call, nobody here writes down what it came to.
  step.do({ type: 'disarm', timer: 'hold' }, { type: 'checkpoint' })
  const isDetached = step.state.phase === 'detached'
  // Whoever has lost its stream while it rang leaves all the same, and is not waited for as one that is to come back.
  step.do(isDetached ? { type: 'arm', timer: 'detached', ms: AWAY_MS } : { type: 'arm', timer: 'transfer', ms: GO_MS })
}

/** Nobody took the call: the agent has it again. One that wanted it itself and was refused at once is told by its tool. */
function failed(step: Step, why: TransferFault): void {
  const { transfer: wanted, phase } = step.state
  if (!wanted) return
  if (phase === 'detached' && isLeaving(step)) {
    // Its carrier will ask what comes next, or just does: then the agent is told.
    step.set({ transfer: { ...wanted, why } })
    // Whoever has left the room does not get the call by having been in it for three seconds.
    return wanted.isWarm ? step.do({ type: 'cancel_transfer', why: 'late' }) : undefined
  }
  const isTold = wanted.isAgents && wanted.phase === 'asking'
  over(step, wanted, why)
  goOnWithout(step, isTold ? null : notThrough(wanted.target, why))
}

/** The caller is on their way back: then the agent is told. Who does not come back is with nobody, and has not been put through. */
function takerGone(step: Step): void {
  const { transfer: wanted } = step.state
  if (wanted?.phase === 'going') step.set({ transfer: { ...wanted, why: wanted.why ?? 'declined' } })
}

/** The call is here again, by another stream: the target did not take it. */
export function transferCameBack(step: Step): void {
  const { transfer: wanted } = step.state
  if (!wanted) return
  const why = wanted.why ?? 'no_answer'
  over(step, wanted, why)
  goOnWithout(step, notThrough(wanted.target, why))
}

/**
 * The agent goes on once it is heard: with what it is told, or with its tool's answer where `instructions` is null; or with
 * goodbye, where the longest call passed meanwhile.
 */
function goOnWithout(step: Step, instructions: string | null): void {
  if (instructions !== null && !isTimeUp(step)) return comeBack(step, instructions)
  if (!isTimeUp(step)) return askNext(step)
  dropWaiting(step)
  wrapUp(step, TIME_UP)
}

function over(step: Step, wanted: Transfer, why: TransferFault): void {
  step.set({ transfer: null })
  step.do(
    { type: 'disarm', timer: 'transfer' },
    { type: 'disarm', timer: 'hold' },
    { type: 'cancel_transfer', why: 'late' },
  )
  if (wanted.holds > 0 && step.state.phase !== 'detached') silence(step)
  addNote(step, 'system', { text: wasNotThrough(why), isKept: true })
}

/**
 * Another node is to have the call: its target is rung no more, which that node is to tell the caller, and so is the agent here, should it
 * keep the call.
 */
export function transferLeftBehind(step: Step): void {
  const { transfer: wanted } = step.state
  if (!wanted) return
  cancelTransfer(step)
  addNote(step, 'system', { text: wasNotThrough('failed'), isKept: true })
  dropWaiting(step)
  askFirst(step, { why: 'back', instructions: notThrough(wanted.target, 'failed'), thenEnd: null })
}

/** The target has the call. */
function gone(step: Step): void {
  step.set({ transfer: null })
  letCallGo(step, 'transferred')
}

/** Time is up for what the transfer was waiting for. */
export function transferTimer(step: Step): void {
  const { transfer: wanted } = step.state
  if (!wanted) return
  if (wanted.phase === 'words') {
    hearOutStopped(step)
    leaveUnmade(step)
    return askCarrier(step, wanted)
  }
  failed(step, wanted.phase === 'holding' ? 'no_answer' : 'failed')
}
