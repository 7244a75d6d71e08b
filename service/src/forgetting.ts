import { forgetAcrossTenants } from './forget-store.ts'
import type { Clock } from './kernel/clock.ts'
import type { Db } from './platform/db/schema.ts'
import type { Log } from './platform/log.ts'

type Deps = { db: Db; clock: Clock; log: Pick<Log, 'error'> }

const INTERVAL_MS = 60_000
/** Carriers tell of a call, and ask for it, for a while after its end. */
const REMEMBER_MS = 10 * 60_000
/** Longer than the attempts to deliver what is written of a call take. */
const UNDELIVERED_MS = 36 * 3_600_000

/** Lets a service without a database forget what is over, so that it does not grow. `close` waits for what it is doing. */
export function startForgetting({ db, clock, log }: Deps): { close(): Promise<void> } {
  let working: Promise<void> = Promise.resolve()
  const forget = () => {
    const nowMs = clock.now()
    const before = { overSince: new Date(nowMs - REMEMBER_MS), writtenSince: new Date(nowMs - UNDELIVERED_MS) }
    working = working
      .then(() => forgetAcrossTenants(db, before))
      .catch((err: unknown) => log.error({ err }, 'what is over could not be forgotten'))
  }
  const stop = clock.every(INTERVAL_MS, forget)
  return {
    async close() {
      stop()
      await working
    },
  }
}
