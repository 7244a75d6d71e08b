/** Waits for work that has begun, and tells how many whole milliseconds it took from now. */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const startMs = performance.now()
  const value = await work
  return { value, ms: Math.round(performance.now() - startMs) }
}
