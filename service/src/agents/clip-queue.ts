import type { TenantId } from '../kernel/ids.ts'

/** How many are worked on at once, in all and of one tenant, and how many of it wait: what is beyond is asked for again by who misses it. */
export type QueueLimits = { running: number; runningOfTenant: number; waitingOfTenant: number }

type Work = () => Promise<void>
type Queued = { tenantId: TenantId; name: string; work: Work }

/**
 * Work that never rejects, each by a name of its tenant: a few at once. Tenants take turns, and each tenant's is done in the order in which
 * it came: however much one of them asks for, and however slowly it is done, another's next is not behind all of that.
 */
export class ClipQueue {
  readonly #limits: QueueLimits
  readonly #running = new Map<string, { tenantId: TenantId; done: Promise<void> }>()
  /** Whose turn is next stands first. None is empty. */
  readonly #waiting = new Map<TenantId, Map<string, Work>>()
  #isClosed = false

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** Has it done now or later, unless it is in the queue already, or too much of the tenant is. */
  add(tenantId: TenantId, name: string, work: Work): void {
    const waiting = this.#waiting.get(tenantId) ?? new Map<string, Work>()
    const isKnown = this.#running.has(name) || waiting.has(name)
    if (this.#isClosed || isKnown || waiting.size >= this.#limits.waitingOfTenant) return
    this.#waiting.set(tenantId, waiting.set(name, work))
    this.#goOn()
  }

  /** Begins nothing any more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.clear()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  #goOn(): void {
    while (this.#running.size < this.#limits.running) {
      const next = this.#takeNext()
      if (!next) return
      this.#running.set(next.name, { tenantId: next.tenantId, done: this.#run(next) })
    }
  }

  #takeNext(): Queued | null {
    for (const [tenantId, waiting] of this.#waiting) {
      const [first] = waiting
      if (!first || this.#runningOf(tenantId) >= this.#limits.runningOfTenant) continue
      const [name, work] = first
      waiting.delete(name)
      this.#waiting.delete(tenantId)
      if (waiting.size > 0) this.#waiting.set(tenantId, waiting)
      return { tenantId, name, work }
    }
    return null
  }

  #runningOf(wanted: TenantId): number {
    return [...this.#running.values()].filter(({ tenantId }) => tenantId === wanted).length
  }

  async #run({ name, work }: Queued): Promise<void> {
    await work()
    this.#running.delete(name)
    this.#goOn()
  }
}
