import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'

/** Counts the open streams of one kind on this node, so that nobody has more of them than a person could want. */
export class Followers {
  readonly #max: number
  readonly #tooMany: string
  readonly #counts = new Map<TenantId | null, number>()

  /** @param tooMany is told to whoever wants more than `max`. */
  constructor({ max, tooMany }: { max: number; tooMany: string }) {
    this.#max = max
    this.#tooMany = tooMany
  }

  /**
   * Counts one of the tenant, or of the administrator. Returns what gives the place back; calling it again does nothing.
   *
   * @throws AppError `rate_limited` for one too many.
   */
  enter(reader: TenantId | null): () => void {
    const count = this.#counts.get(reader) ?? 0
    if (count >= this.#max) throw new AppError('rate_limited', this.#tooMany, { headers: { 'retry-after': '10' } })
    this.#counts.set(reader, count + 1)
    let isHere = true
    return () => {
      if (!isHere) return
      isHere = false
      const left = this.of(reader) - 1
      if (left > 0) this.#counts.set(reader, left)
      else this.#counts.delete(reader)
    }
  }

  of(reader: TenantId | null): number {
    return this.#counts.get(reader) ?? 0
  }
}
