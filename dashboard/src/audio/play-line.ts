/** How much is waited for before something is played after a silence: the network is not as even as a clock. */
const LEAD_S = 0.06

type Mark = { name: string; atS: number }

/**
 * When what comes over the network is played: piece behind piece without a gap, however unevenly they come. It plays nothing
 * itself; instants are those of the clock of whoever does, in seconds.
 */
export class PlayLine {
  readonly #mostAheadS: number
  #endS = Number.NEGATIVE_INFINITY
  #marks: Mark[] = []

  /** @param mostAheadS how much may wait to be played: what comes beyond is left out. */
  constructor(mostAheadS: number) {
    this.#mostAheadS = mostAheadS
  }

  /** When a piece begins that comes now; null when it is left out. */
  place(durationS: number, nowS: number): number | null {
    const isBehind = this.#endS <= nowS
    const startS = isBehind ? nowS + LEAD_S : this.#endS
    if (startS - nowS > this.#mostAheadS) return null
    this.#endS = startS + durationS
    return startS
  }

  /** Is passed when all that is on the line now was played. */
  mark(name: string): void {
    this.#marks.push({ name, atS: this.#endS })
  }

  /** The marks that have been passed, each once. */
  passed(nowS: number): string[] {
    const names = this.#marks.filter(({ atS }) => atS <= nowS).map(({ name }) => name)
    this.#marks = this.#marks.filter(({ atS }) => atS > nowS)
    return names
  }

  /** Takes everything from the line. Returns the marks that were still on it, which count as passed. */
  clear(): string[] {
    const names = this.#marks.map(({ name }) => name)
    this.#marks = []
    this.#endS = Number.NEGATIVE_INFINITY
    return names
  }
}
