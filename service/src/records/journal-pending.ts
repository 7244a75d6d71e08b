import type { JournalEntry } from './journal-entry.ts'

/** Entries that wait to be written, oldest first. One takes the place of an earlier one of its key. */
export class PendingEntries {
  readonly #entries = new Map<string, JournalEntry>()
  readonly #countByCall = new Map<string, number>()
  #sizeBytes = 0

  get size(): number {
    return this.#entries.size
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Whether anything waits of this call; null: of any. */
  has(callSid: string | null): boolean {
    return callSid === null ? this.#entries.size > 0 : this.#countByCall.has(callSid)
  }

  put(entry: JournalEntry): void {
    const replaced = this.#entries.get(entry.key)
    if (replaced) this.#count(replaced, -1)
    this.#entries.set(entry.key, entry)
    this.#count(entry, 1)
  }

  get(key: string): JournalEntry | undefined {
    return this.#entries.get(key)
  }

  all(): JournalEntry[] {
    return [...this.#entries.values()]
  }

  first(maxRows: number): JournalEntry[] {
    return this.#entries.values().take(maxRows).toArray()
  }

  /** Takes out what has been written. What was replaced meanwhile stays: it has still to be written. */
  settle(written: JournalEntry[]): void {
    for (const entry of written) {
      if (this.#entries.get(entry.key) !== entry) continue
      this.#entries.delete(entry.key)
      this.#count(entry, -1)
    }
  }

  clear(): void {
    this.settle(this.all())
  }

  #count({ call, sizeBytes }: JournalEntry, change: 1 | -1): void {
    this.#sizeBytes += change * sizeBytes
    const count = (this.#countByCall.get(call.callSid) ?? 0) + change
    if (count === 0) this.#countByCall.delete(call.callSid)
    else this.#countByCall.set(call.callSid, count)
  }
}
