/** A browser has six connections to a service that speaks HTTP/1.1, for all of its windows together: as many are left for all else. */
const PLACES = ['parley-stream-1', 'parley-stream-2', 'parley-stream-3']

/** One of the few windows of a browser that may keep a stream open. */
export type StreamPlace = {
  /** Aborts as soon as there is a place, however long that takes. */
  taken: AbortSignal
}

/**
 * Stands in line for a place among the streams that all windows of this browser keep open, until `leaving` aborts; then it is the next
 * one's, as it is when the window is closed. Where browsers have no locks, as at an address without https, everybody has one.
 */
export function waitForPlace(leaving: AbortSignal): StreamPlace {
  const taken = new AbortController()
  if (!('locks' in navigator)) taken.abort()
  const line = AbortSignal.any([leaving, taken.signal])
  const hold = () => {
    // A second one, which came before the line was left, is given back at once.
    if (line.aborted) return
    taken.abort()
    return new Promise<void>((resolve) => leaving.addEventListener('abort', () => resolve()))
  }
  // Whoever leaves the line is told so.
  if (!line.aborted)
    for (const name of PLACES) void navigator.locks.request(name, { signal: line }, hold).catch(() => {})
  return { taken: taken.signal }
}
