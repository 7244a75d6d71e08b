import { cleared, heardWhenSent } from '../playback.ts'
import { keepHalfTyped } from './ending.ts'
import type { EndReason } from './events.ts'
import { closeUtterance, keepAll } from './keeping.ts'
import type { SessionState, Step } from './state.ts'

/**
 * Somebody else has the call: the session ends here, and the call does not. Its end is written by whoever has it, also where it
 * was put through to somebody; who watches is told of one only in the latter case.
 */
export function letCallGo(step: Step, reason: 'shutdown' | 'transferred' = 'shutdown'): void {
  const { playback } = step.state
  keepHalfTyped(step)
  for (const utterance of heardWhenSent(playback, step.nowMs)) closeUtterance(step, utterance)
  keepAll(step)
  step.set({ phase: 'ended', isLetGo: true, playback: cleared(playback), idleArmed: false, deadAirArmed: false })
  if (reason === 'transferred') step.do({ type: 'note', note: { type: 'state', state: 'ended' } })
  step.do({ type: 'finish', reason })
}

/** Whether a session that ends for that reason has left its call to another one of ours, by which it goes on. */
export function hasMoved({ isLetGo }: SessionState, reason: EndReason): boolean {
  return isLetGo && reason === 'shutdown'
}
