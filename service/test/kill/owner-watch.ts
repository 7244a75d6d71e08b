/** Where a call lives, as the database says at one moment. */
export type OwnerRow = { call_sid: string; owner: string | null; epoch: number }

/** What the epochs must never do. */
export type OwnerFigures = { ownersPerEpochMax: number; epochsFell: number }

/** Watches, look by look, who had which call in which epoch. */
export class OwnerWatch {
  readonly #owners = new Map<string, Set<string>>()
  readonly #epochs = new Map<string, number>()
  #epochsFell = 0

  note(rows: readonly OwnerRow[]): void {
    for (const { call_sid: sid, owner, epoch } of rows) {
      if (epoch < (this.#epochs.get(sid) ?? 0)) this.#epochsFell += 1
      this.#epochs.set(sid, epoch)
      const key = `${sid} ${epoch}`
      const owners = this.#owners.get(key) ?? new Set()
      if (owner !== null) this.#owners.set(key, owners.add(owner))
    }
  }

  figures(): OwnerFigures {
    const counts = [...this.#owners.values()].map(({ size }) => size)
    return { ownersPerEpochMax: Math.max(0, ...counts), epochsFell: this.#epochsFell }
  }
}
