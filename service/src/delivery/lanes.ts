type Bounds = {
  /** Of one tenant at a time. */
  perTenant: number
  /** Of all tenants together. */
  total: number
}

/** Tenants whose targets are known to be silent are forgotten beyond so many. */
const MAX_SILENT = 10_000

/**
 * How many attempts may run now, and whose. A tenant whose target did not answer the last time gets one lane until it does,
 * and all of those together get half of the lanes: so targets that hang, however many, hold up no other one.
 */
export class Lanes {
  readonly #bounds: Bounds
  readonly #taken = new Map<string, number>()
  readonly #silent = new Set<string>()
  #total = 0
  #ofSilent = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** How many attempts for the tenant may begin now. */
  free(tenantId: string): number {
    const { perTenant, total } = this.#bounds
    const taken = this.#taken.get(tenantId) ?? 0
    if (!this.#silent.has(tenantId)) return Math.max(0, Math.min(perTenant - taken, total - this.#total))
    return taken === 0 && this.freeForSilent > 0 && this.#total < total ? 1 : 0
  }

  /** Takes a lane; the function gives it back, and does so once. */
  take(tenantId: string): () => void {
    const isSilent = this.#silent.has(tenantId)
    let isTaken = true
    this.#count(tenantId, 1, isSilent)
    return () => {
      if (isTaken) this.#count(tenantId, -1, isSilent)
      isTaken = false
    }
  }

  /** Whether the tenant's target answered, whatever it said. */
  heard(tenantId: string, hasAnswered: boolean): void {
    if (hasAnswered) this.#silent.delete(tenantId)
    else this.#silent.add(tenantId)
    const [oldest] = this.#silent
    if (this.#silent.size > MAX_SILENT && oldest !== undefined) this.#silent.delete(oldest)
  }

  isSilent(tenantId: string): boolean {
    return this.#silent.has(tenantId)
  }

  /** How many more silent tenants may get their lane now. */
  get freeForSilent(): number {
    return Math.max(0, Math.ceil(this.#bounds.total / 2) - this.#ofSilent)
  }

  get taken(): number {
    return this.#total
  }

  #count(tenantId: string, by: number, isSilent: boolean): void {
    const taken = (this.#taken.get(tenantId) ?? 0) + by
    if (taken === 0) this.#taken.delete(tenantId)
    else this.#taken.set(tenantId, taken)
    this.#total += by
    if (isSilent) this.#ofSilent += by
  }
}
