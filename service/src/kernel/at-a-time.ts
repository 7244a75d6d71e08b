import { AppError } from './errors.ts'
import type { TenantId } from './ids.ts'

type Bounds = { ofTenant: number; inAll: number; tooMany: string }

/** Bounds how much of one kind is done at a time, for each tenant and in all: what is waited for holds memory and connections meanwhile. */
export class AtATime {
  readonly #bounds: Bounds
  readonly #running = new Map<TenantId, number>()

  /** @param bounds `tooMany` is told to whoever wants more. */
  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Does the work. @throws AppError `rate_limited`, with nothing done, while there is as much as there may be; and as the work does. */
  async run<T>(tenantId: TenantId, work: () => Promise<T>): Promise<T> {
    const { ofTenant, inAll, tooMany } = this.#bounds
    const own = this.#running.get(tenantId) ?? 0
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0)
    if (own >= ofTenant || all >= inAll)
      throw new AppError('rate_limited', tooMany, { headers: { 'retry-after': '5' } })
    this.#running.set(tenantId, own + 1)
    return work().finally(() => {
      const left = (this.#running.get(tenantId) ?? 1) - 1
      if (left === 0) this.#running.delete(tenantId)
      else this.#running.set(tenantId, left)
    })
  }
}
