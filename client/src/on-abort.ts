const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `leave` once the signal aborts, at once where it has. Returns what is to be called by whom that does not concern any more.
 * However many wait for a signal, it has one listener: of more than ten Node 20 warns as of a leak, and one signal may end all
 * that a program watches.
 */
export function onAbort(signal: AbortSignal | undefined, leave: () => void): () => void {
  if (signal?.aborted) leave()
  if (!signal || signal.aborted) return () => {}
  const all = waiting.get(signal) ?? listenTo(signal)
  // A function of its own: the same may wait twice.
  const waits = () => leave()
  all.add(waits)
  return () => void all.delete(waits)
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(signal, all)
  signal.addEventListener(
    'abort',
    () => {
      for (const leave of all) leave()
    },
    { once: true },
  )
  return all
}
