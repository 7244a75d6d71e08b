import type { Cancel, Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { HeldCall } from '../records/resuming.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamedCall } from '../voice/streamed-call.ts'
import { heldCall } from './call-ended.ts'
import type { OwnPutThrough } from './put-through.ts'
import type { StillOurs } from './still-ours.ts'

/** A database that is away is asked so often. */
const AGAIN_MS = 5_000
const MAX_TRIES = (LONGEST_CALL_SECONDS * 1_000) / AGAIN_MS

/** A stream that was promised, and does not come, is waited for no longer. */
const PROMISED_MS = 16_000

type Deps = { clock: Clock; log: Pick<Log, 'error'>; putThrough: OwnPutThrough; isOurs: StillOurs }

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
    const { putThrough, log } = this.#deps
    try {
      await putThrough(tenant, held)
    } catch (err) {
      const mayPass = isDatabaseTrouble(err)
      const of = { tenant_id: held.tenantId, call_sid: held.callSid }
      if (triesLeft === MAX_TRIES || !mayPass) log.error({ err, ...of }, 'that a call was put through was not noted')
      if (this.#isClosed || triesLeft === 0 || !mayPass) return
      this.#later(AGAIN_MS, () => void this.note(tenant, held, triesLeft - 1))
    }
  }

  /**
   * The same of a call that is taken to be put through, as nobody has said otherwise here. Another node may have been told: while a stream is on
   * its way there the call is left to that, which would be hung up on. Never rejects.
   */
  async noteUntold(call: StreamedCall, isLast = false): Promise<void> {
    if (await this.#deps.isOurs(call)) return this.note(call.tenant, heldCall(call))
    if (!isLast && !this.#isClosed) this.#later(PROMISED_MS, () => void this.noteUntold(call, true))
  }

  #later(ms: number, task: () => void): void {
    const cancel = this.#deps.clock.after(ms, () => {
      this.#waits.delete(cancel)
      task()
    })
    this.#waits.add(cancel)
  }
}
