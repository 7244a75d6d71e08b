import type { Clock } from '../kernel/clock.ts'
import { forgetKeysAcrossTenants, keysFreeBefore } from '../platform/db/request-keys.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { CAMPAIGN_KEYS } from './campaigns/campaign-key-store.ts'
import { DIAL_KEYS } from './idempotency-store.ts'

type Deps = { db: Db; clock: Clock; log: Pick<Log, 'warn'> }

const INTERVAL_MS = 60_000

/** Forgets, once a minute, keys by which requests for calls and campaigns may be repeated no longer. `close` waits for what it is doing. */
export function startForgettingKeys({ db, clock, log }: Deps): { close(): Promise<void> } {
  let working: Promise<void> | null = null

  async function forget(): Promise<void> {
    for (const keys of [DIAL_KEYS, CAMPAIGN_KEYS]) {
      const failed = (err: unknown) => log.warn({ err, table: keys.table }, 'old idempotency keys were not forgotten')
      await forgetKeysAcrossTenants(db, keys, keysFreeBefore(new Date(clock.now()))).catch(failed)
    }
  }

  const cancel = clock.every(INTERVAL_MS, () => {
    working ??= forget().finally(() => {
      working = null
    })
  })
  return {
    async close() {
      cancel()
      await working
    },
  }
}
