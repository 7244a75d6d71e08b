import { isWanted, type LineFilter, type LogLine, readLine } from './log-line.ts'

/** What is kept of the log in memory. */
const MAX_LINES = 5_000
const MAX_CHARS = 4 * 1024 * 1024

/** The last lines of a log, as they were written: 5,000 at most, and 4 Mi characters. */
export class RecentLines {
  #lines: string[] = []
  #first = 0
  #chars = 0

  add(text: string): void {
    this.#lines.push(text)
    this.#chars += text.length
    while (this.#lines.length - this.#first > MAX_LINES || this.#chars > MAX_CHARS) this.#forgetFirst()
  }

  /** The last `limit` of those that are wanted, newest first. */
  find(filter: LineFilter, limit: number): LogLine[] {
    const found: LogLine[] = []
    const marks = marksOf(filter)
    for (let at = this.#lines.length - 1; at >= this.#first && found.length < limit; at -= 1) {
      const text = this.#lines[at] ?? ''
      // To read a line costs far more than to see that it cannot be wanted: five thousand are looked through at once.
      if (!marks.every((mark) => text.includes(mark))) continue
      if (filter.text !== null && !text.toLowerCase().includes(filter.text.toLowerCase())) continue
      const line = readLine(text)
      if (isWanted(line, text, filter)) found.push(line)
    }
    return found
  }

  #forgetFirst(): void {
    this.#chars -= this.#lines[this.#first]?.length ?? 0
    this.#first += 1
    if (this.#first < MAX_LINES) return
    this.#lines = this.#lines.slice(this.#first)
    this.#first = 0
  }
}

/** What stands in every line, as it is written, that such a filter wants. */
function marksOf({ tenantId, callSid }: LineFilter): string[] {
  const values = [...(tenantId === null ? [] : [tenantId]), ...(callSid === null ? [] : [callSid])]
  return values.map((value) => JSON.stringify(value))
}
