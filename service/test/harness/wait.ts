const POLL_INTERVAL_MS = 5

type WaitOptions = {
  /** 5 s if not given. */
  timeoutMs?: number
  /** How often it looks; 5 ms if not given. */
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
  { timeoutMs = 5_000, everyMs = POLL_INTERVAL_MS, what }: WaitOptions,
): Promise<Exclude<T, false | null | undefined>> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>
    }
    if (performance.now() > deadlineMs) throw new Error(`still waiting for ${what} after ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
