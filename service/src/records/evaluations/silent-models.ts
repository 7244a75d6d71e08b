import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'

/** A model that does not answer is asked again, by one session at a time, after this; twice as long after each fault. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000
/** Longer than any session waits until it comes again. */
const FORGOTTEN_AFTER_MS = 3_600_000

/** A model by its name; null is the driver's own default. */
type ModelName = string | null

/** `untilMs`: it is left alone. `tenants`: their sessions wait for it. */
type Silence = { faults: number; untilMs: number; tenants: Set<TenantId> }

/** Which chat models do not answer, and whose sessions wait for them: what one model does holds up no session of another one. */
export class SilentModels {
  readonly #clock: Clock
  readonly #silences = new Map<ModelName, Silence>()
  /** Sessions that ask each of them now. */
  readonly #asking = new Map<ModelName, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The tenants of which no session is to be begun now: it would have to wait for its model. */
  get waitingTenants(): TenantId[] {
    return [...this.#silences].flatMap(([model, { tenants }]) => (this.#mayAsk(model) ? [] : [...tenants]))
  }

  /**
   * Asks a model for a session of the tenant. Null where it must not be asked now, for it did not answer before: then the tenant is one
   * that waits.
   */
  async asked<T>(model: ModelName, tenantId: TenantId, ask: () => Promise<T>): Promise<T | null> {
    if (!this.#mayAsk(model)) {
      this.#silences.get(model)?.tenants.add(tenantId)
      return null
    }
    this.#count(model, 1)
    return ask().finally(() => this.#count(model, -1))
  }

  /** Returns after how many faults the model has answered. */
  answered(model: ModelName): number {
    const faults = this.#silences.get(model)?.faults ?? 0
    this.#silences.delete(model)
    return faults
  }

  /** Returns whether it is the first fault of the model. Of sessions that asked it together the first one speaks for all. */
  notAnswered(model: ModelName, tenantId: TenantId): boolean {
    const nowMs = this.#clock.monotonicMs()
    // Nobody has asked these for long: no version names them any more, say.
    for (const [name, { untilMs }] of this.#silences)
      if (name !== model && untilMs + FORGOTTEN_AFTER_MS < nowMs) this.#silences.delete(name)
    const silence = this.#silences.get(model) ?? { faults: 0, untilMs: nowMs, tenants: new Set() }
    this.#silences.set(model, silence)
    silence.tenants.add(tenantId)
    if (nowMs < silence.untilMs) return false
    silence.faults += 1
    silence.untilMs = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (silence.faults - 1))
    return silence.faults === 1
  }

  #mayAsk(model: ModelName): boolean {
    const silence = this.#silences.get(model)
    if (!silence) return true
    return this.#clock.monotonicMs() >= silence.untilMs && !this.#asking.has(model)
  }

  #count(model: ModelName, change: number): void {
    const count = (this.#asking.get(model) ?? 0) + change
    if (count === 0) this.#asking.delete(model)
    else this.#asking.set(model, count)
  }
}
