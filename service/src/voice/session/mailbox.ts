import { isAwaited } from './party.ts'
import type { SessionState, Step } from './state.ts'

/** Whether a mailbox is being left its message, or is about to be: its call ends with that, and half of it says nothing. */
export function isLeavingMessage({ ending, answers: { asked, active, queue } }: SessionState): boolean {
  const wanted = [asked?.ask, active?.asked?.ask, ...queue]
  return ending?.reason === 'voicemail' || wanted.some((one) => one?.thenEnd === 'voicemail')
}

/** Nothing more is looked at of who answered. */
export function settleParty(step: Step): void {
  const { party } = step.state
  if (!party || party.phase === 'settled') return
  step.set({ party: { ...party, phase: 'settled' } })
  step.do({ type: 'disarm', timer: 'party' }, { type: 'disarm', timer: 'party_end' })
}

/** Who had the call while the beep of a mailbox was waited for has heard what it is, and gives it back to be gone on with: nothing is left on it. */
export function settleMailbox(step: Step): void {
  if (isAwaited(step.state)) settleParty(step)
}
