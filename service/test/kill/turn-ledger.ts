/** A turn as the API shows it. */
export type ShownTurn = { seq: number; role: string; text: string; start_ms: number }

/** What became of the turns that had been shown before. */
export type TurnFaults = { lost: string[]; doubled: string[] }

/** What the API showed of each call before the kill: whoever was shown a turn may count on it. */
export class TurnLedger {
  readonly #shown = new Map<string, Map<number, ShownTurn>>()

  /** Notes a transcript that was answered. A later one stands for an earlier one: a turn may still change while it is told. */
  note(callSid: string, turns: readonly ShownTurn[]): void {
    this.#shown.set(callSid, new Map(turns.map((turn) => [turn.seq, turn])))
  }

  get count(): number {
    return [...this.#shown.values()].reduce((sum, turns) => sum + turns.size, 0)
  }

  /** The calls of which a transcript was noted. */
  get calls(): Iterable<string> {
    return this.#shown.keys()
  }

  /** The calls that had a turn. */
  get talking(): number {
    return [...this.#shown.values()].filter((turns) => turns.size > 0).length
  }

  /** Compares with the whole transcript of a call, read afterwards. */
  compare(callSid: string, turns: readonly ShownTurn[]): TurnFaults {
    const shown = [...(this.#shown.get(callSid)?.values() ?? [])]
    const name = ({ seq, role, text }: ShownTurn): string => `${callSid} ${seq} ${role}: ${text}`
    return {
      lost: shown.filter((turn) => !turns.some((other) => isSame(turn, other))).map(name),
      doubled: turns.filter((turn, index) => turns.slice(0, index).some((other) => isDouble(turn, other))).map(name),
    }
  }
}

/** One that was interrupted is cut to what was heard of it, so the shorter text may be either. */
function isSame(a: ShownTurn, b: ShownTurn): boolean {
  return a.seq === b.seq && a.role === b.role && (a.text.startsWith(b.text) || b.text.startsWith(a.text))
}

/** Callers here never say the same twice; an agent may, when it answers again what it was interrupted in. */
function isDouble(a: ShownTurn, b: ShownTurn): boolean {
  if (a.seq === b.seq) return true
  return a.role === b.role && a.text === b.text && (a.role === 'caller' || a.start_ms === b.start_ms)
}
