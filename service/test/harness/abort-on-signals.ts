import { constants } from 'node:os'
import { killPrograms } from './program.ts'

/** Aborts when this process is told to end, and ends it once the programs that it has started are gone. */
export function abortOnSignals(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stopping.abort()
      // What waits for a service that is gone would wait for long; what is left is ended by the next run.
      void killPrograms().finally(() => process.exit())
    })
  }
  return stopping.signal
}
