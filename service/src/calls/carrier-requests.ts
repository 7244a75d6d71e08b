import { type Clock, withDeadline } from '../kernel/clock.ts'
import { type CarrierAccount, CarrierError, type TelephonyDriver } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { accountOf, askedBy, type PresentTenants } from './carrier-account.ts'
import { pause } from './pause.ts'

/** What became of a request to a carrier. */
export type CarrierOutcome<T> =
  | { type: 'done'; value: T }
  /** The carrier refuses it, as for a call that is over. */
  | { type: 'refused'; err: CarrierError }
  /** It was not answered, or not now; nothing is known of the call. */
  | { type: 'failed'; err: unknown }
  /** There is nobody to ask: the tenant has no carrier account. */
  | { type: 'no_account' }

type CarrierRequest<T> = (carrier: TelephonyDriver, account: CarrierAccount, signal: AbortSignal) => Promise<T>

/** How long a carrier has for an answer. */
const ANSWER_WITHIN_MS = 5_000

/** Requests to carriers about calls that nobody waits for: bounded, and given up all at once when the process ends. */
export class CarrierRequests {
  readonly #clock: Clock
  readonly #carriers: Carriers
  readonly #tenants: PresentTenants | undefined
  readonly #closing = new AbortController()

  /** `tenants`: where the token is looked for that took the place of one; not given: nowhere. */
  constructor({ clock, carriers, tenants }: { clock: Clock; carriers: Carriers; tenants?: PresentTenants }) {
    this.#clock = clock
    this.#carriers = carriers
    this.#tenants = tenants
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Makes one request in the name of the tenant's account, of 5 s at most. Never rejects. */
  async make<T>(tenant: TenantRuntime, request: CarrierRequest<T>): Promise<CarrierOutcome<T>> {
    const account = accountOf(tenant)
    if (!account) return { type: 'no_account' }
    const carrier = this.#carriers[tenant.telephony.provider]
    const asking = (signal: AbortSignal) =>
      askedBy(this.#tenants, { tenant, account }, (by) => request(carrier, by, signal))
    try {
      return { type: 'done', value: await withDeadline(this.#clock, ANSWER_WITHIN_MS, asking, this.#closing.signal) }
    } catch (err) {
      return err instanceof CarrierError && err.kind === 'rejected' ? { type: 'refused', err } : { type: 'failed', err }
    }
  }

  /** Resolves after the time, or when there is none left. */
  pause(ms: number): Promise<void> {
    return pause(this.#clock, ms, this.#closing.signal)
  }

  /** Gives up what is on its way; what is asked for later fails. Again, it changes nothing. */
  close(): void {
    this.#closing.abort()
  }
}
