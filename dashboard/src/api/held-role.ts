import { useEffect, useId, useSyncExternalStore } from 'react'

/** What is written, sent or told on the page that is shown. */
const holders = new Set<string>()
const listeners = new Set<() => void>()

/**
 * While it is true the page goes on to offer what it has offered to whoever may do less than before: what they have written there, and
 * why it was refused, would be gone with it. The service refuses it whatever is offered.
 */
export function useHoldRole(isHeld: boolean): void {
  const id = useId()
  useEffect(() => {
    if (!isHeld) return
    note(() => holders.add(id))
    return () => note(() => holders.delete(id))
  }, [id, isHeld])
}

/** Holds it while a button works on what was asked of it, and while the page tells why that has failed: both would go with the button. */
export function useHoldRoleFor({ isPending, error }: { isPending: boolean; error: unknown }): void {
  useHoldRole(isPending || error !== null)
}

/** Whether something on the page that is shown holds it. */
export function useIsRoleHeld(): boolean {
  return useSyncExternalStore(listen, () => holders.size > 0)
}

function note(change: () => void): void {
  change()
  for (const tell of listeners) tell()
}

function listen(tell: () => void): () => void {
  listeners.add(tell)
  return () => listeners.delete(tell)
}
