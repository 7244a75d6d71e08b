import { cleared, heardWhenSent } from '../playback.ts'
import { closeUtterance, keepAll } from './keeping.ts'
import type { Step } from './state.ts'

/**
 * Somebody else has the call: the session ends here, and the call does not. Its end is written by whoever has it, also where it
 * was put through to somebody.
 */
export function letCallGo(step: Step, reason: 'shutdown' | 'transferred' = 'shutdown'): void {
  const { playback } = step.state
  for (const utterance of heardWhenSent(playback, step.nowMs)) closeUtterance(step, utterance)
  keepAll(step)
  step.set({ phase: 'ended', isLetGo: true, playback: cleared(playback), idleArmed: false, deadAirArmed: false })
  step.do({ type: 'note', note: { type: 'state', state: 'ended' } }, { type: 'finish', reason })
}
