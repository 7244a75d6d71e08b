import type { Step } from './state.ts'

/** Whether our stream ends because the carrier goes elsewhere with the call. */
export function isLeaving({ state: { transfer: wanted } }: Pick<Step, 'state'>): boolean {
  return wanted?.phase === 'going' || (wanted?.phase === 'asking' && !wanted.isWarm)
}

/** Nobody is rung any more for a call that is ending, or that another node is to have. */
export function cancelTransferIfOver(step: Step): void {
  const { ending, phase, detached } = step.state
  if (ending || phase === 'ended' || detached?.isHandedOver) cancelTransfer(step)
}

/** Nobody is rung any more. */
export function cancelTransfer(step: Step): void {
  if (!step.state.transfer) return
  step.set({ transfer: null })
  step.do(
    { type: 'disarm', timer: 'transfer' },
    { type: 'disarm', timer: 'hold' },
    { type: 'cancel_transfer', why: 'ending' },
  )
}
