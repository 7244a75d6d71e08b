/** Work that is done again and again until it is stopped. */
export type Repeated = {
  /** Resolves when the last round is over. @throws what a round threw */
  stop(): Promise<void>
}

/** Does it at once and then each `everyMs`, or when the round before is over, whatever is later. */
export function repeat(everyMs: number, round: () => Promise<void>): Repeated {
  let running: Promise<void> | null = null
  let failure: { error: unknown } | null = null
  const start = (): void => {
    running ??= round()
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        running = null
      })
  }
  const timer = setInterval(start, everyMs)
  start()
  return {
    async stop() {
      clearInterval(timer)
      await running
      if (failure) throw failure.error
    },
  }
}
