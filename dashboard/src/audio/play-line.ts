/** How much is waited for before something is played after a silence: the network is not as even as a clock. */
const LEAD_S = 0.06

/** For how long more than is aimed at waits before any of it is left out, a piece in which nobody speaks or one in which somebody does. */
const PATIENCE_S = { quiet: 1, loud: 5 }

/** How much may wait on a line. */
export type PlayLineOptions = {
  /** How much may wait to be played: what comes beyond is left out. */
  mostAheadS: number
  /** How much is to wait at most for long: what comes at the speed at which it is played never grows less by itself. */
  aimS?: number
}
type Mark = { name: string; atS: number }

/**
 * When what comes over the network is played: piece behind piece without a gap, however unevenly they come. It plays nothing
 * itself; instants are those of the clock of whoever does, in seconds.
 */
export class PlayLine {
  readonly #mostAheadS: number
  readonly #aimS: number
  #endS = Number.NEGATIVE_INFINITY
  #lateSinceS: number | null = null
  #marks: Mark[] = []

  constructor({ mostAheadS, aimS = mostAheadS }: PlayLineOptions) {
    this.#mostAheadS = mostAheadS
    this.#aimS = aimS
  }

  /** When a piece begins that comes now; null when it is left out. `isQuiet`: nobody would miss it. */
  place(durationS: number, nowS: number, { isQuiet = false } = {}): number | null {
    const isBehind = this.#endS <= nowS
    const startS = isBehind ? nowS + LEAD_S : this.#endS
    const aheadS = startS - nowS
    const isLate = this.#isLate(aheadS, nowS, isQuiet ? PATIENCE_S.quiet : PATIENCE_S.loud)
    if (isLate || aheadS > this.#mostAheadS) return null
    this.#endS = startS + durationS
    return startS
  }

  /** Whether more than is aimed at has been waiting for so long. What the network has held up and sent at once is soon played. */
  #isLate(aheadS: number, nowS: number, patienceS: number): boolean {
    if (aheadS <= this.#aimS) {
      this.#lateSinceS = null
      return false
    }
    this.#lateSinceS ??= nowS
    return nowS - this.#lateSinceS >= patienceS
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
    this.#lateSinceS = null
    return names
  }
}
