import type { Cancel, Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { HeldCall } from '../records/resuming.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { OwnPutThrough } from './put-through.ts'

/** A database that is away is asked so often. */
const AGAIN_MS = 5_000
const MAX_TRIES = (LONGEST_CALL_SECONDS * 1_000) / AGAIN_MS

type Deps = { clock: Clock; log: Pick<Log, 'error'>; putThrough: OwnPutThrough }

/** Writes down that calls were put through, be the database away as they were. */
export class NotingThrough {
  readonly #deps: Deps
  /** What ends the waits for a database that has not taken it. */
  readonly #waits = new Set<Cancel>()
  #isClosed = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  close(): void {
    this.#isClosed = true
    for (const cancel of this.#waits) cancel()
  }

  /** What the database does not take is tried again for as long as such a call may last. Resolves after the first try; never rejects. */
  async note(tenant: TenantRuntime, held: HeldCall, triesLeft = MAX_TRIES): Promise<void> {
    const { clock, putThrough, log } = this.#deps
    try {
      await putThrough(tenant, held)
    } catch (err) {
      const mayPass = isDatabaseTrouble(err)
      const of = { tenant_id: held.tenantId, call_sid: held.callSid }
      if (triesLeft === MAX_TRIES || !mayPass) log.error({ err, ...of }, 'that a call was put through was not noted')
      if (this.#isClosed || triesLeft === 0 || !mayPass) return
      const cancel = clock.after(AGAIN_MS, () => {
        this.#waits.delete(cancel)
        void this.note(tenant, held, triesLeft - 1)
      })
      this.#waits.add(cancel)
    }
  }
}
