import type { Cancel, Clock } from '../kernel/clock.ts'
import type { JournalEntry } from './journal-entry.ts'
import type { JournalFiles } from './journal-file.ts'
import type { PendingEntries } from './journal-pending.ts'
import { keptEntry } from './journal-waiting.ts'

type Deps = { clock: Clock; pending: PendingEntries; files: Pick<JournalFiles, 'isReady' | 'keep' | 'settle'> }
type KeptVersion = { entry: JournalEntry; id: number }

const INTERVAL_MS = 1_000
/** So that a disk that is back does not hold up the process with all that waited for it. */
const MAX_AT_ONCE = 2_000

/**
 * Keeps what a journal has pending in files too: once the database has taken nothing for a second, all that waits, and from
 * then on, each second, what came.
 */
export class EntryKeeping {
  readonly #deps: Deps
  /** What is in no file yet, oldest first. */
  readonly #unkept = new Set<JournalEntry>()
  /** What stands in the files, by the key of the entries; an item that changed stands there more than once. */
  readonly #kept = new Map<string, KeptVersion[]>()
  #cancelTimer: Cancel | null = null
  #progressMs = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Something is about to be added to what is pending, in place of an earlier one of its key. */
  adding(entry: JournalEntry): void {
    const replaced = this.#deps.pending.get(entry.key)
    if (replaced) this.#unkept.delete(replaced)
    this.#unkept.add(entry)
    if (this.#cancelTimer) return
    this.#progressMs = this.#deps.clock.monotonicMs()
    this.#cancelTimer = this.#deps.clock.every(INTERVAL_MS, () => this.#look())
  }

  /**
   * These were stored, and are not pending any more. Resolves when the files know that: before, nothing newer about the same
   * items may be stored, or a later start would put the older on top of it.
   */
  async stored(entries: JournalEntry[]): Promise<void> {
    this.#progressMs = this.#deps.clock.monotonicMs()
    for (const entry of entries) this.#unkept.delete(entry)
    await this.#deps.files.settle(entries.flatMap(({ key }) => this.#forget(key)))
  }

  /** Keeps what is pending, without waiting for its time, and stops. @returns how many entries are not safe. */
  async close(): Promise<number> {
    this.#stop()
    while (this.#unkept.size > 0) if (!(await this.#keep())) return this.#unkept.size
    return 0
  }

  #stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #look(): void {
    const { clock, pending, files } = this.#deps
    if (!pending.has(null)) return this.#stop()
    if (clock.monotonicMs() - this.#progressMs >= INTERVAL_MS && files.isReady) void this.#keep()
  }

  async #keep(): Promise<boolean> {
    const entries = this.#take()
    if (entries.length === 0) return true
    const { ids, isSafe } = this.#deps.files.keep(entries.map(keptEntry))
    for (const [index, id] of ids.entries()) this.#note(entries[index], id)
    if (await isSafe) return true
    for (const entry of entries) if (this.#isPending(entry)) this.#unkept.add(entry)
    return false
  }

  /** What was replaced meanwhile needs not be kept any more. */
  #take(): JournalEntry[] {
    const taken = this.#unkept.values().take(MAX_AT_ONCE).toArray()
    for (const entry of taken) this.#unkept.delete(entry)
    return taken.filter((entry) => this.#isPending(entry))
  }

  #isPending(entry: JournalEntry): boolean {
    return this.#deps.pending.get(entry.key) === entry
  }

  #note(entry: JournalEntry | undefined, id: number): void {
    if (entry) this.#kept.set(entry.key, [...(this.#kept.get(entry.key) ?? []), { entry, id }])
  }

  /** The versions of an item that wait no more: all but the one that is pending now. */
  #forget(key: string): number[] {
    const versions = this.#kept.get(key) ?? []
    const { waiting = [], settled = [] } = Object.groupBy(versions, ({ entry }) =>
      this.#isPending(entry) ? 'waiting' : 'settled',
    )
    if (waiting.length > 0) this.#kept.set(key, waiting)
    else this.#kept.delete(key)
    return settled.map(({ id }) => id)
  }
}
