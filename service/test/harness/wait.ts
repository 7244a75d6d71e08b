const TIMEOUT_MS = 45_000
const USUAL_INTERVAL_MS = 5
/**
 * Who has waited for a second looks less and less often: what comes is seen a tenth later than it could be, and who waits for half a minute
 * of talk does not take the processor from those who talk.
 */
const IMPATIENT_MS = 1_000
const INTERVAL_OF_WAITED = 0.1
const LONGEST_INTERVAL_MS = 60

type WaitOptions = {
  /** 45 s if not given, of which a slow machine that is busy with other tests needs a few. */
  timeoutMs?: number
  /** How often it looks, for what moves something on with each look; if not given each 5 ms, and less often after a second. */
  everyMs?: number
  /** Completes "still waiting for …" in the error. */
  what: string
}

/**
 * Resolves with the condition's value as soon as it is neither false, null nor undefined. This is how a test waits for
 * what happens in its own time; nothing else in a test may use a timer.
 *
 * @throws Error naming what was waited for, after `timeoutMs`; whatever the condition throws, at once.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS, everyMs, what }: WaitOptions,
): Promise<Exclude<T, false | null | undefined>> {
  const startMs = performance.now()
  for (;;) {
    const value = await condition()
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>
    }
    const waitedMs = performance.now() - startMs
    if (waitedMs > timeoutMs) throw new Error(`still waiting for ${what} after ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, everyMs ?? intervalAfter(waitedMs)))
  }
}

function intervalAfter(waitedMs: number): number {
  const longerMs = (waitedMs - IMPATIENT_MS) * INTERVAL_OF_WAITED
  return Math.min(LONGEST_INTERVAL_MS, Math.max(USUAL_INTERVAL_MS, longerMs))
}
