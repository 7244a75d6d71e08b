import type { SessionState, Step, Transfer } from './state.ts'

/** What the agent is about to put through, while not all that it says before that was heard; null else. */
export function inLastWords({ transfer }: SessionState): Transfer | null {
  return transfer?.phase === 'words' && transfer.isAgents ? transfer : null
}

/** It waits until it is known what these sounds of the caller's were. */
export function awaitSounds(step: Step, itemIds: readonly string[]): void {
  const wanted = inLastWords(step.state)
  if (wanted) step.set({ transfer: { ...wanted, stoppedBy: [...wanted.stoppedBy, ...itemIds] } })
}

/** It is known what a sound of the caller's was: nothing waits for it any more. */
export function releaseTransfer(step: Step, itemId: string): void {
  const wanted = inLastWords(step.state)
  if (!wanted?.stoppedBy.includes(itemId)) return
  step.set({ transfer: { ...wanted, stoppedBy: wanted.stoppedBy.filter((id) => id !== itemId) } })
}

/** Nobody will know any more what they were. */
export function awaitNoSounds(step: Step): void {
  const wanted = inLastWords(step.state)
  if (wanted && wanted.stoppedBy.length > 0) step.set({ transfer: { ...wanted, stoppedBy: [] } })
}
