import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'

/** More readers than that a tenant, or the administrator, does not have. */
const MAX_EACH = 50

/** Counts the open sockets of this node that follow the log. */
export class LogSubscribers {
  readonly #counts = new Map<TenantId | null, number>()

  /**
   * Counts one of the tenant, or of the administrator. Returns what gives the place back; calling it again does nothing.
   *
   * @throws AppError `rate_limited` for one too many.
   */
  enter(reader: TenantId | null): () => void {
    const count = this.#counts.get(reader) ?? 0
    if (count >= MAX_EACH)
      throw new AppError('rate_limited', `The log is followed ${MAX_EACH} times already: close a socket first.`, {
        headers: { 'retry-after': '10' },
      })
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
