import type { EarlierToolCall } from '../../records/sessions.ts'
import { type Tool, ToolRefusal } from './tool.ts'

/** How often the tools of one call may yet be used in it. */
export type Allowance = {
  /**
   * Counts a use before it begins, for several may be under way.
   *
   * @returns takes the count back: to be called when nothing was done.
   * @throws ToolRefusal when it was done, or tried in vain, often enough in this call.
   */
  take(tool: Tool): () => void
}

/** A model that was told why may ask better; one that never does has an end, too. */
const MAX_IN_VAIN = 20

/** `earlier`: what was called before, in the same call. What may have been done counts, as it does here. */
export function makeAllowance(earlier: readonly EarlierToolCall[]): Allowance {
  const [done, inVain] = [new Counts(), new Counts()]
  for (const { name, status } of earlier) (status === 'error' ? inVain : done).add(name, 1)
  return {
    take({ declaration: { name }, maxPerCall }) {
      if (maxPerCall === null) return () => undefined
      if (done.of(name) >= maxPerCall) throw new ToolRefusal('this was done often enough in this call')
      if (inVain.of(name) >= MAX_IN_VAIN) throw new ToolRefusal('this failed too often in this call')
      done.add(name, 1)
      return () => {
        done.add(name, -1)
        inVain.add(name, 1)
      }
    },
  }
}

class Counts {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, more: number): void {
    this.#counts.set(name, this.of(name) + more)
  }
}
