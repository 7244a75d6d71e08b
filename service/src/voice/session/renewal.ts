import type { ModelEvent } from '../../platform/realtime/port.ts'
import { KEPT_MS } from '../caller-audio.ts'
import { leftMs } from '../playback.ts'
import { stillToSay } from './disclosing.ts'
import { history } from './history.ts'
import { SETUP_MS } from './outage.ts'
import type { Step } from './state.ts'

/** Words that wait for their text hold a renewal up for this long. */
const TEXT_WAIT_MS = 5_000
/** A renewal that failed is tried again after this, at the next pause. */
const TRY_AGAIN_MS = 30_000

/**
 * The model's session is near the provider's limit: another one is opened beside it at the next pause, and takes over when
 * it is ready. Until then nothing is given up, so a renewal that fails costs nothing.
 */
export function renewIfDue(step: Step): void {
  const { renewalDue, model, transcript } = step.state
  if (!renewalDue || model.next || !isPause(step)) return
  const epoch = model.epoch + 1
  step.set({ renewalDue: false, model: { ...model, next: { epoch, sinceMs: step.nowMs, transcript } } })
  const soFar = [history(transcript), stillToSay(step.state)].filter((text) => text !== '').join('\n')
  step.do({ type: 'open_next', epoch, history: soFar }, { type: 'arm', timer: 'renewal', ms: SETUP_MS })
}

function isPause({ state, nowMs, atMs }: Step): boolean {
  const { answers, speech, runningTools, phase, model, playback, transcript, undecided } = state
  const isSilent = !answers.asked && !answers.active && answers.queue.length === 0 && leftMs(playback, nowMs) === 0
  if (!isSilent || speech || runningTools.length > 0) return false
  const waitsForText = transcript.entries.some(({ isFinal, endMs }) => !isFinal && atMs - endMs < TEXT_WAIT_MS)
  return phase === 'talking' && model.isReady && !waitsForText && undecided.length === 0
}

/** From the session that is to take over. */
export function onNext(step: Step, event: ModelEvent): void {
  if (event.type === 'ready') return takeOver(step)
  const isRefused = event.type === 'refused' && (event.fault === 'fatal' || event.fault === 'setup')
  if (isRefused || event.type === 'closed') giveUpNext(step)
}

/** What it was told must still be all there is to know: else it is too late, and the next pause will do. */
function takeOver(step: Step): void {
  const { model, transcript, plan } = step.state
  const { next } = model
  if (!next) return
  if (next.transcript !== transcript || !isPause(step)) {
    closeNext(step)
    return step.set({ renewalDue: true })
  }
  const heardSinceMs = Math.max(next.sinceMs, step.nowMs - KEPT_MS)
  step.set({ model: { ...model, epoch: next.epoch, next: null, heardSinceMs, onsetMovedMs: 0, readyAtMs: step.nowMs } })
  step.do({ type: 'take_next' }, { type: 'arm', timer: 'renewal', ms: plan.modelSessionMs })
}

/** The time for a renewal has come, or that for opening the next session is over. */
export function renewalFired(step: Step): void {
  if (step.state.model.next) giveUpNext(step)
  else step.set({ renewalDue: true })
}

function giveUpNext(step: Step): void {
  closeNext(step)
  step.do({ type: 'arm', timer: 'renewal', ms: TRY_AGAIN_MS })
}

function closeNext(step: Step): void {
  step.set({ model: { ...step.state.model, next: null } })
  step.do({ type: 'close_next' }, { type: 'disarm', timer: 'renewal' })
}
