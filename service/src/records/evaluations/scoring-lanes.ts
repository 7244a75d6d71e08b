import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'

/** Sessions at a time, in this process; one fewer of one tenant, whose model may be slow, so that others have a lane. */
const LANES = 4
const LANES_PER_TENANT = LANES - 1
/** A session that takes longer goes aside and leaves its lane to others; while one is there, its tenant gets no more lanes. */
const SLOW_MS = 15_000
/** Sessions in lanes and aside. */
const MAX_RUNNING = 12

type Running = { tenantId: TenantId; isAside: boolean }

/** How many sessions may be scored at once, and whose: three tenants whose models are slow hold up no other one. */
export class ScoringLanes {
  readonly #clock: Clock
  readonly #running = new Set<Running>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sessions that are being scored, in lanes or aside. */
  get taken(): number {
    return this.#running.size
  }

  /** How many more may begin now. */
  get free(): number {
    const aside = [...this.#running].filter(({ isAside }) => isAside).length
    return Math.max(0, Math.min(LANES - (this.taken - aside), MAX_RUNNING - this.taken))
  }

  /** The tenants of which none may begin now. */
  get fullTenants(): TenantId[] {
    const byTenant = Map.groupBy(this.#running, ({ tenantId }) => tenantId)
    const isFull = (running: Running[]) => running.length >= LANES_PER_TENANT || running.some(({ isAside }) => isAside)
    return [...byTenant].flatMap(([tenantId, running]) => (isFull(running) ? [tenantId] : []))
  }

  /** Takes a lane. `onAside`: told when it is free again because the session takes its time. Returns what gives it back. */
  take(tenantId: TenantId, onAside: () => void): () => void {
    const running: Running = { tenantId, isAside: false }
    this.#running.add(running)
    const cancel = this.#clock.after(SLOW_MS, () => {
      running.isAside = true
      onAside()
    })
    return () => {
      cancel()
      this.#running.delete(running)
    }
  }
}
