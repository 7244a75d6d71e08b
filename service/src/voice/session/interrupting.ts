import { cleared, type Heard, heard, isDrained, leftMs } from '../playback.ts'
import type { Answers } from './answers.ts'
import { cancelActive, changeActive } from './asking.ts'
import type { Stopped } from './caller-speech.ts'
import { isClip } from './clip-id.ts'
import { tellCutClip, tellCutDisclosure, tellUnsaidDisclosure } from './clips.ts'
import { judgeCut } from './earlier-stalls.ts'
import { closeUtterance, deleteItem } from './keeping.ts'
import { isLeavingMessage } from './mailbox.ts'
import { isHoldAudio, isOwnAudio, isPressing } from './own-audio.ts'
import { isAwaited } from './party.ts'
import { isOthers, type Step } from './state.ts'
import { dropStopped, goneOnWith } from './stopped.ts'
import { change, find } from './transcript.ts'
import { isBridge, unbegun, unsaidOf } from './unsaid.ts'
import { cutSpoken } from './unspoken.ts'

const HEARD_NOTHING = 'Words of the conversation so far were cut short: the caller has heard nothing of'
const HEARD_PART = 'Words of the conversation so far were cut short. The caller has heard only this of them'

/**
 * Silences the agent and tells the model how much of it was heard.
 *
 * What decides is unplayed audio, not an active answer: all of it may have been delivered long before it is heard. The
 * order matters: nothing of the old answers may be sent after `clear`. The last words of a call are not cut short, nor are those that a
 * mailbox is left, nor is an agent that was told not to be, nor a person who has the call, nor what is heard by who waits for one, nor keys that the agent
 * presses: who hears them is a machine, which would get half an entry. What is heard while a tool takes long is no words, and stopped
 * also then.
 */
export function interrupt(step: Step): void {
  if (!mayBeStopped(step)) return stopHoldAudio(step)
  judge(step)
  count(step)
  silence(step)
}

/**
 * The same for a sound of the caller's that is to be speech: should no words come of it, the agent goes on from here. One that
 * has stopped already, and waits for them, is still stopped in the same.
 */
export function interruptFor(step: Step, itemId: string): void {
  if (!mayBeStopped(step)) return stopHoldAudio(step)
  judge(step)
  if (leftMs(step.state.playback, step.nowMs) === 0) return hushHeard(step)
  count(step)
  const stopped = stoppedBy(step, itemId)
  if (!stopped) return silence(step)
  hush(step)
  step.set({ stopped: { ...stopped, parts: stopped.parts.map((part) => withTold(step, part)) } })
}

/** All of it was heard, also of what it has gone on with, though that may not be told yet: whoever speaks now speaks behind it. */
function hushHeard(step: Step): void {
  hush(step)
  if (step.state.stopped?.phase === 'on') dropStopped(step)
}

export function mayBeStopped(step: Step): boolean {
  const { state } = step
  const isOfMachine = isAwaited(state) || isLeavingMessage(state)
  return !state.ending && !isOthers(state) && !isOfMachine && state.plan.interruption.enabled && !isPressing(step)
}

/** Only of who waits for it: who silences the agent otherwise, as a supervisor, does not ask after what it says. */
function judge(step: Step): void {
  if (judgeCut(step)) changeActive(step, { isBroken: true })
}

function count(step: Step): void {
  const { playback, latency } = step.state
  const isHeard = heard(playback, step.nowMs).some((one) => one.heardMs < one.sentMs && !isOwnAudio(one.itemId))
  if (!isHeard) return
  step.set({ latency: { ...latency, interruptions: latency.interruptions + 1 } })
}

/** What it is about to be stopped in; null where it would not go on with that. */
function stoppedBy({ state, nowMs }: Step, itemId: string): Stopped | null {
  const { plan, playback, answers, model, owedSinceMs } = state
  if (plan.interruption.resumeFalseMs === 0 || !plan.capabilities.callerTranscripts) return null
  const cut = heard(playback, nowMs).filter((one) => one.heardMs < one.sentMs && !isOwnAudio(one.itemId))
  // Of words that another voice speaks it is known what was heard, and not where it would go on in what is left of its sound.
  if (cut.length === 0 || cut.some((one) => find(state.transcript, one.itemId)?.voiced)) return null
  const parts = cut.map((one) => {
    const before = goneOnWith(state, one.itemId)
    const facts = { itemId: one.itemId, epoch: before?.epoch ?? model.epoch, told: '' }
    if (!before) return { ...facts, sentMs: one.sentMs, heardMs: one.heardMs }
    return { ...facts, sentMs: before.sentMs, heardMs: before.heardMs + one.heardMs }
  })
  const before = state.stopped?.phase === 'on' ? state.stopped : null
  const unmade = answers.active ? unsaidOf(answers.active) : unbegun(answers.asked)
  // A turn that was asked for since is that of the sounds before this one.
  const isOfSounds = before !== null && unmade?.why === 'turn'
  const rest = (isOfSounds ? null : unmade) ?? before?.rest ?? null
  const earlierIds = before?.itemIds ?? []
  const wasOwed = before && earlierIds.length > 0 ? before.wasOwed : owedSinceMs !== null
  return { phase: 'silent', itemIds: [...earlierIds, itemId], earlierIds, parts, rest, wasOwed }
}

function withTold({ state }: Step, part: Stopped['parts'][number]): Stopped['parts'][number] {
  return { ...part, told: find(state.transcript, part.itemId)?.text ?? '' }
}

/** The same for whatever reason, and without counting it. */
export function silence(step: Step): void {
  hush(step)
  dropStopped(step)
}

function hush(step: Step): void {
  const { answers } = step.state
  const utterances = emptyLine(step, answers.active ? [answers.active.responseId] : [])
  const isRestToCome = isRestDue(answers)
  step.setAnswers({
    asked: answers.asked && { ...answers.asked, isAbandoned: true },
    queue: answers.queue.filter(({ why }) => why !== 'idle' && why !== 'filler' && why !== 'rest'),
  })
  cancelActive(step)
  for (const utterance of utterances) {
    cutShort(step, utterance)
    tellCutClip(step, utterance)
    tellCutDisclosure(step, utterance)
  }
  // Nothing of it sounds that could be cut short.
  if (isRestToCome && utterances.every(({ itemId }) => isBridge(step.state, itemId))) tellUnsaidDisclosure(step)
}

/** Whether what was left of an answer was still to be said, and does not sound yet. */
function isRestDue({ asked, active, queue }: Answers): boolean {
  const isAsked = asked?.isAbandoned === false && asked.ask.why === 'rest'
  const isBegun = active?.isCancelled === false && active.asked?.ask.why === 'rest'
  return isAsked || isBegun || queue.some(({ why }) => why === 'rest')
}

/** What is heard now ends here, unless keys are pressed in it or behind it; what was asked for is still to come. */
export function stopPlaying(step: Step): void {
  if (isPressing(step)) return
  for (const utterance of emptyLine(step, [])) cutShort(step, utterance)
}

/**
 * Whoever waits for a tool, or an answer, is spoken to, or hears keys, or speaks. What bridges the middle of an answer that goes on is
 * heard out: the line cannot be emptied without taking that for over, and it is short.
 */
export function stopHoldAudio(step: Step): void {
  const { playback, answers } = step.state
  if (answers.active?.hasAudio && !answers.active.isCancelled) return
  const unheard = heard(playback, step.nowMs).filter(({ heardMs, sentMs }) => heardMs < sentMs)
  // Words that follow it are heard behind it, and not cut off with it.
  if (unheard.length > 0 && unheard.every(({ itemId }) => isHoldAudio(itemId))) stopPlaying(step)
}

/** Nothing of what was sent is heard from now on, nor of these answers what is yet to come. */
function emptyLine(step: Step, activeIds: readonly string[]): Heard[] {
  const { playback } = step.state
  const utterances = heard(playback, step.nowMs)
  const responseIds = new Set([...utterances.map((u) => u.responseId), ...activeIds])
  if (responseIds.size > 0) step.do({ type: 'discard', responseIds: [...responseIds] })
  if (!isDrained(playback, step.nowMs)) step.do({ type: 'clear' })
  // Silence begins here, and not where what is not heard any more would have ended.
  if (leftMs(playback, step.nowMs) > 0) step.set({ deadAirArmed: false })
  step.set({ playback: cleared(playback), dueKeys: '' })
  return utterances
}

/** What the caller has not heard of an utterance is no part of the conversation: the model is told so. */
export function cutShort(step: Step, utterance: Heard): void {
  const { itemId, sentMs, heardMs } = utterance
  if (isOwnAudio(itemId)) return
  const entry = find(step.state.transcript, itemId)
  if (entry?.isToldWhole) return cutTold(step, utterance)
  if (entry?.voiced) return cutSpoken(step, utterance, entry.voiced)
  if (heardMs < sentMs) {
    step.do({ type: 'note', note: { type: 'interrupted', itemId, heardMs } })
    if (isClip(itemId) || goneOnWith(step.state, itemId)) return closeUtterance(step, utterance)
    if (heardMs === 0) deleteItem(step, itemId)
    else if (step.state.plan.capabilities.truncation) {
      step.command({ type: 'truncate', itemId, audioEndMs: heardMs })
    }
  }
  closeUtterance(step, utterance)
}

/** It cannot be cut or taken out where nobody has it: the session that was told all of it is told what was heard. */
function cutTold(step: Step, utterance: Heard): void {
  const { itemId, heardMs } = utterance
  closeUtterance(step, utterance)
  const entry = find(step.state.transcript, itemId)
  if (!entry || entry.unheard === '') return
  step.set({ transcript: change(step.state.transcript, itemId, { isToldWhole: false }) })
  step.do({ type: 'note', note: { type: 'interrupted', itemId, heardMs } })
  const text = entry.text === '' ? `${HEARD_NOTHING}: ${entry.unheard}` : `${HEARD_PART}: ${entry.text}`
  step.command({ type: 'system_message', text })
}
