const TIMEOUT_MS = 10_000
const FIRST_INTERVAL_MS = 5
/**
 * The longer it has waited, the less often it looks: what comes is seen a tenth later than it could be, and who waits for half a minute
 * of talk does not take the processor from those who talk.
 */
const INTERVAL_OF_WAITED = 0.1
const LONGEST_INTERVAL_MS = 60

type WaitOptions = {
  /** 10 s if not given, of which a machine that is busy with other tests needs one. */
  timeoutMs?: number
  /** How often it looks; each 5 ms at first and then less and less often, down to each 60 ms, if not given. */
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
  return Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, waitedMs * INTERVAL_OF_WAITED))
}
