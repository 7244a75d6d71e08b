import { cleared, type Heard, heard, isDrained, leftMs } from '../playback.ts'
import { cancelActive } from './asking.ts'
import { isClip } from './clip-id.ts'
import { tellCutClip } from './clips.ts'
import { closeUtterance, deleteItem } from './keeping.ts'
import { isOwnAudio } from './own-audio.ts'
import { isOthers, type Step } from './state.ts'
import { find } from './transcript.ts'
import { cutSpoken } from './unspoken.ts'

/**
 * Silences the agent and tells the model how much of it was heard.
 *
 * What decides is unplayed audio, not an active answer: all of it may have been delivered long before it is heard. The
 * order matters: nothing of the old answers may be sent after `clear`. The last words of a call are not cut short, nor is an
 * agent that was told not to be, nor a person who has the call, nor what is heard by who waits for one.
 */
export function interrupt(step: Step): void {
  const { playback, latency, ending, plan } = step.state
  if (ending || isOthers(step.state) || !plan.interruption.enabled) return
  const wasAudible = leftMs(playback, step.nowMs) > 0
  if (wasAudible) step.set({ latency: { ...latency, interruptions: latency.interruptions + 1 } })
  silence(step)
}

/** The same for whatever reason, and without counting it. */
export function silence(step: Step): void {
  const { answers, playback } = step.state
  const utterances = heard(playback, step.nowMs)
  const responseIds = new Set(utterances.map((u) => u.responseId))
  if (answers.active) responseIds.add(answers.active.responseId)
  if (responseIds.size > 0) step.do({ type: 'discard', responseIds: [...responseIds] })
  if (!isDrained(playback, step.nowMs)) step.do({ type: 'clear' })
  step.set({ playback: cleared(playback) })
  step.setAnswers({
    asked: answers.asked && { ...answers.asked, isAbandoned: true },
    queue: answers.queue.filter(({ why }) => why !== 'idle' && why !== 'filler' && why !== 'rest'),
  })
  cancelActive(step)
  for (const utterance of utterances) {
    cutShort(step, utterance)
    tellCutClip(step, utterance)
  }
}

/** What the caller has not heard of an utterance is no part of the conversation: the model is told so. */
export function cutShort(step: Step, utterance: Heard): void {
  const { itemId, sentMs, heardMs } = utterance
  if (isOwnAudio(itemId)) return
  const voiced = find(step.state.transcript, itemId)?.voiced
  if (voiced) return cutSpoken(step, utterance, voiced)
  if (heardMs < sentMs) {
    step.do({ type: 'note', note: { type: 'interrupted', itemId, heardMs } })
    if (isClip(itemId)) return closeUtterance(step, utterance)
    if (heardMs === 0) deleteItem(step, itemId)
    else if (step.state.plan.capabilities.truncation) {
      step.command({ type: 'truncate', itemId, audioEndMs: heardMs })
    }
  }
  closeUtterance(step, utterance)
}
