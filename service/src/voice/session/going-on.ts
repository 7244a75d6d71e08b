import { ask, cancelActive } from './asking.ts'
import type { Stopped } from './caller-speech.ts'
import { stopPlaying } from './interrupting.ts'
import { closeUtterance, reopenEntry } from './keeping.ts'
import { isPressing } from './own-audio.ts'
import { isOthers, type Step } from './state.ts'
import { dropStopped, hearOutStopped } from './stopped.ts'
import { find } from './transcript.ts'
import { GO_ON } from './unsaid.ts'

/** What is a sound of the caller's, while the agent is stopped, has to turn out to be words, or not. */
export function awaitWordsOf(step: Step, itemId: string): void {
  const { stopped } = step.state
  if (stopped?.phase !== 'silent' || stopped.itemIds.includes(itemId)) return
  step.set({ stopped: { ...stopped, itemIds: [...stopped.itemIds, itemId] } })
}

/** The sound is over: its words have so long to come. */
export function watchForWords(step: Step): void {
  const { stopped, plan } = step.state
  if (stopped?.phase !== 'silent') return
  step.do({ type: 'arm', timer: 'resume', ms: plan.interruption.resumeFalseMs })
}

/**
 * They have not come: the agent goes on, unless the model has begun to answer them. What it was asked since is not taken back, for
 * they may come yet.
 */
export function wordsStayAway(step: Step): void {
  if (step.state.speech) return
  if (isBeingAnswered(step)) dropStopped(step)
  else goOn(step)
}

/**
 * A sound was no words. When none of them was, what stopped the agent is as if it had not been; it goes on when none is left that it is
 * silent for.
 */
export function wasNoWords(step: Step, itemId: string): void {
  const { stopped } = step.state
  if (!stopped?.itemIds.includes(itemId)) return
  const itemIds = stopped.itemIds.filter((id) => id !== itemId)
  step.set({ stopped: { ...stopped, itemIds } })
  if (itemIds.length === 0) takeBackAnswer(step, stopped)
  if (itemIds.every((id) => stopped.earlierIds.includes(id))) goOn(step)
}

/** Nobody wants an answer to what was nothing, unless one was owed before. */
function takeBackAnswer(step: Step, { wasOwed }: Stopped): void {
  if (wasOwed) return
  const { asked, active, queue } = step.state.answers
  step.setAnswers({
    asked: asked?.ask.why === 'turn' ? { ...asked, isAbandoned: true } : asked,
    queue: queue.filter(({ why }) => why !== 'turn'),
  })
  if (active?.asked?.ask.why === 'turn' && !active.hasAudio) cancelActive(step)
  step.set({ owedSinceMs: null })
}

/** It was words after all, however late: who went on falls silent again. */
export function wereWords(step: Step, itemId: string): void {
  const { stopped } = step.state
  if (!stopped?.itemIds.includes(itemId)) return
  step.set({ stopped: { ...stopped, itemIds: stopped.itemIds.filter((id) => id !== itemId) } })
  giveIn(step)
}

/** The model has an answer to what nobody knows the words of: it is heard in place of what is gone on with. */
export function giveInToAnswer(step: Step): void {
  const { stopped } = step.state
  if (stopped?.phase === 'on' && stopped.itemIds.length > 0 && isBeingAnswered(step)) giveIn(step)
}

/** Also by what a tool has found, which was asked for since, and answers the words as well: no turn is asked for beside it. */
function isBeingAnswered({ state }: Step): boolean {
  const { active } = state.answers
  const why = active?.asked?.ask.why
  return (why === 'turn' || why === 'tool') && !active?.isCancelled
}

/** Not where keys are pressed behind it, which would be cut short with it: then it is heard out. */
function giveIn(step: Step): void {
  if (step.state.stopped?.phase === 'on') {
    if (isPressing(step)) return hearOutStopped(step)
    const { latency } = step.state
    step.set({ latency: { ...latency, interruptions: latency.interruptions + 1 } })
    stopPlaying(step)
  }
  dropStopped(step)
}

/** The agent goes on from where it was stopped, as far as it may speak. */
function goOn(step: Step): void {
  const { stopped, phase, ending, isMuted, latency } = step.state
  if (stopped?.phase !== 'silent') return
  if (phase !== 'talking' || ending || isMuted || isOthers(step.state)) return dropStopped(step)
  const resumes = step.state.resumes + 1
  const rest = stopped.wasOwed && stopped.rest?.why === 'turn' ? null : stopped.rest
  step.set({ stopped: { ...stopped, phase: 'on', earlierIds: stopped.itemIds, rest }, resumes })
  step.set({ latency: { ...latency, interruptions: Math.max(0, latency.interruptions - 1) } })
  for (const { itemId } of stopped.parts) reopenEntry(step, itemId)
  step.do(
    { type: 'disarm', timer: 'resume' },
    { type: 'note', note: { type: 'resumed' } },
    { type: 'play_aside', id: `again-${resumes}` },
  )
}

/** What was kept of it has left. Of what was not kept nothing will be heard. */
export function wentOn(step: Step): void {
  const { stopped, playback } = step.state
  if (stopped?.phase !== 'on') return
  for (const { itemId } of stopped.parts) {
    const isPlaying = playback.utterances.some((utterance) => utterance.itemId === itemId)
    if (!isPlaying) closeUtterance(step, { itemId, sentMs: 0, heardMs: 0 })
  }
  askForRest(step)
}

/** Once all that was kept was heard, the model is asked for what is left of it. */
export function askForRest(step: Step): void {
  const { stopped, transcript, model } = step.state
  if (stopped?.phase !== 'on') return
  const isOpen = stopped.parts.some(({ itemId }) => find(transcript, itemId)?.isFinal === false)
  if (isOpen) return
  // A later session, which may be another agent's, has not begun the sentence.
  const isCut = stopped.parts.some(
    ({ itemId, epoch }) => epoch === model.epoch && find(transcript, itemId)?.interrupted,
  )
  const rest = stopped.rest ?? (isCut ? { why: 'rest' as const, instructions: GO_ON, thenEnd: null } : null)
  dropStopped(step)
  // What may have been words after all is being answered.
  if (rest && stopped.itemIds.length === 0) ask(step, { ...rest, isInPlace: true })
}
