/**
 * Something that passes between the service and what is around it. `before`: it has not arrived yet; `after`: it is done, and
 * whoever asked does not know; `told`: now it does.
 */
export type Moment =
  | {
      where: 'database'
      when: 'before' | 'after'
      statement: string
      /** What this transaction has asked so far, from its `begin` on, this statement left out; empty outside of one. */
      transaction: readonly string[]
      /** How many rows it was about; known when it is done. */
      rows?: number
    }
  | { where: 'carrier' | 'webhook'; when: 'before' | 'after'; method: string; path: string }
  | { where: 'client'; when: 'before' | 'after' | 'told'; method: string; path: string }

/** Decides what a moment is the end of. */
export type Trap = {
  /** True: the process is dead, and nothing of this may pass any more. */
  reach(moment: Moment): boolean
}

/** A trap that kills when what is waited for has come so often. It does nothing until it is armed. */
export class KillTrap implements Trap {
  #isWanted: ((moment: Moment) => boolean) | null = null
  #timesLeft = 0
  #kill = (): void => {}
  #sprung = Promise.withResolvers<void>()

  /** `times`: at which one; from 1. Returns what resolves at the kill. */
  arm(isWanted: (moment: Moment) => boolean, { times, kill }: { times: number; kill: () => void }): Promise<void> {
    this.#isWanted = isWanted
    this.#timesLeft = times
    this.#kill = kill
    this.#sprung = Promise.withResolvers()
    return this.#sprung.promise
  }

  disarm(): void {
    this.#isWanted = null
  }

  reach(moment: Moment): boolean {
    if (!this.#isWanted?.(moment)) return false
    this.#timesLeft -= 1
    if (this.#timesLeft > 0) return false
    this.#isWanted = null
    this.#kill()
    this.#sprung.resolve()
    return true
  }
}
