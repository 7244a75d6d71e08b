/** What one run may cost was spent. */
export class TooCostly extends Error {}

/** What one run may cost, and has cost, however often it was begun. */
export class Purse {
  readonly #budgetUsd: number | null
  #spentUsd: number

  /** @param budgetUsd null: there is no limit. */
  constructor(budgetUsd: number | null, spentUsd: number) {
    this.#budgetUsd = budgetUsd
    this.#spentUsd = spentUsd
  }

  /** Null: as much as may be. */
  get leftUsd(): number | null {
    return this.#budgetUsd === null ? null : Math.max(0, this.#budgetUsd - this.#spentUsd)
  }

  get isEmpty(): boolean {
    return this.leftUsd === 0
  }

  spend(usd: number): void {
    this.#spentUsd += usd
  }
}
