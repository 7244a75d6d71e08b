import { type Cancel, type Clock, waitAtMost } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { isRowFault } from './database-trouble.ts'
import {
  forgetEntry,
  type JournalEntry,
  type JournaledCall,
  type JournaledTool,
  type JournaledTurn,
  toolEntry,
  turnEntry,
} from './journal-entry.ts'
import type { JournalFiles } from './journal-file.ts'
import { EntryKeeping } from './journal-keeping.ts'
import { PendingEntries } from './journal-pending.ts'
import { isTold, wantsTurns, writeEntries } from './journal-write.ts'

/** The journal of one call. Nothing here waits or throws: what happens on the way is told in the log. */
export type CallJournal = {
  /** The same item again replaces the turn. */
  append(turn: JournaledTurn): void
  /** The item was no turn of the conversation after all. */
  forget(itemId: string): void
  /** To be called for a tool call when it begins, and once when it is done, which takes the place of that. */
  tool(tool: JournaledTool): void
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Where entries are kept that the database has not taken for a second; without it they wait in memory alone. */
  files?: Pick<JournalFiles, 'isReady' | 'keep' | 'settle'>
  /** Who is asked whether a tenant still wants to be told of what is said; without it whoever wanted that when the call began is. */
  tenants?: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  maxBytes?: number
}

/** At most one transaction in this time, for all calls. */
const INTERVAL_MS = 250
const RETRY_MS = 1_000
const CLOSE_TIMEOUT_MS = 5_000

/** What one transaction takes; the rest follows at once. */
const MAX_ROWS = 500

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Writes down what is said and done in the calls of this process, all of them together every 250 ms at most.
 *
 * While the database does not answer, entries wait in memory, from the first second on in files too, and are written once when
 * it is back. At 64 MiB what comes after is lost, which the log tells with its number; calls go on. An entry that the database
 * refuses for what it holds is lost alone.
 */
export class Journal {
  readonly #deps: Deps
  readonly #pending = new PendingEntries()
  readonly #maxBytes: number
  readonly #keeping: EntryKeeping | null
  /** What was said while nobody could be asked whose the call is; see `writeEntries`. */
  readonly #late = new WeakSet<JournalEntry>()
  #cancelTimer: Cancel | null = null
  #writing: Promise<void> | null = null
  #isAway = false
  #lostSinceTold = 0
  #closing: Promise<void> | null = null
  #waiters = new Set<{ callSid: string | null; resolve: () => void; reject: (error: Error) => void }>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#maxBytes = deps.maxBytes ?? MAX_BYTES
    const { clock, files } = deps
    this.#keeping = files ? new EntryKeeping({ clock, files, pending: this.#pending }) : null
  }

  /** The journal of a call, for as long as its stream has it. */
  of(call: JournaledCall): CallJournal {
    return {
      append: (turn) => this.#put(turnEntry(call, turn)),
      forget: (itemId) => this.#put(forgetEntry(call, itemId)),
      tool: (tool) => this.#put(toolEntry(call, tool)),
    }
  }

  /** Entries that wait to be written. */
  get waiting(): number {
    return this.#pending.size
  }

  /**
   * Resolves when nothing of the call, or of any call, waits to be written; while the database does not answer that is when
   * it is back.
   *
   * @throws AppError `unavailable` when the journal is closed before.
   */
  flush(callSid: string | null = null): Promise<void> {
    if (!this.#pending.has(callSid)) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.add({ callSid, resolve, reject }))
  }

  /**
   * Writes what a process that is dead now had not stored. Resolves when that is done.
   *
   * @throws AppError `unavailable` when the journal is closed before.
   */
  async restore(entries: JournalEntry[]): Promise<void> {
    for (const entry of entries) {
      const newer = this.#pending.get(entry.key)
      if (newer && !this.#late.has(newer)) continue
      this.#late.add(entry)
      this.#pending.put(entry)
    }
    const stored = Promise.all(
      [...new Set(entries.map(({ call }) => call.callSid))].map((callSid) => this.flush(callSid)),
    )
    // Closed meanwhile, it is refused before it is waited for.
    stored.catch(() => {})
    await this.#writeAndGoOn()
    await stored
  }

  /**
   * Writes what waits and stops. What the database does not take within 5 s is left in the files to the next start, or lost
   * where there are none, which the log tells; lost is whatever comes later. Again, it waits for the same end.
   */
  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  #put(entry: JournalEntry): void {
    const isFull = this.#pending.sizeBytes + entry.sizeBytes > this.#maxBytes
    if (isFull || this.#closing) return this.#lose(isFull ? 'full' : 'closed')
    if (this.#isAway) this.#late.add(entry)
    this.#keeping?.adding(entry)
    this.#pending.put(entry)
    this.#writeIn(INTERVAL_MS)
  }

  #lose(reason: 'full' | 'closed'): void {
    if (this.#lostSinceTold === 0) this.#deps.log.error({ reason }, 'the journal loses what calls say')
    this.#lostSinceTold += 1
  }

  #writeIn(delayMs: number): void {
    if (this.#cancelTimer || this.#writing || this.#closing) return
    this.#cancelTimer = this.#deps.clock.after(delayMs, () => {
      this.#cancelTimer = null
      void this.#writeAndGoOn()
    })
  }

  async #writeAndGoOn(): Promise<void> {
    await this.#write()
    if (this.#pending.has(null)) this.#writeIn(this.#isAway ? RETRY_MS : INTERVAL_MS)
  }

  /** Writes what waits, or joins whoever does. Never throws. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    try {
      for (let batch = this.#pending.first(MAX_ROWS); batch.length > 0; batch = this.#pending.first(MAX_ROWS)) {
        await this.#store(batch)
        this.#pending.settle(batch)
        await this.#keeping?.stored(batch)
        this.#tellWaiters()
        if (batch.length < MAX_ROWS) break
      }
      if (this.#isAway) this.#deps.log.info('the journal is written again')
      this.#isAway = false
      this.#tellLost()
    } catch (err) {
      if (!this.#isAway) this.#becomeAway(err)
    }
  }

  #becomeAway(err: unknown): void {
    this.#deps.log.warn({ err }, 'the journal cannot be written: it waits in memory')
    this.#isAway = true
    for (const entry of this.#pending.all()) this.#late.add(entry)
  }

  /** Halves what is refused until the entry at fault is alone, and loses that. */
  async #store(entries: JournalEntry[]): Promise<void> {
    const { db, clock, log } = this.#deps
    try {
      const now = new Date(clock.now())
      const isLate = (entry: JournalEntry) => this.#late.has(entry)
      const quiet = await this.#toldNoMore(entries)
      const isUnwanted = ({ call }: JournalEntry) => quiet.has(call.tenant.tenant_id)
      const stale = await db.transaction().execute((tx) => writeEntries(tx, entries, { now, isLate, isUnwanted }))
      if (stale.length > 0) log.warn({ entries: stale.length }, 'journal entries of calls that are not ours any more')
    } catch (err) {
      if (!isRowFault(err)) throw err
      const [first, ...others] = entries
      if (first && others.length === 0) return this.#refused(first, err)
      const half = Math.ceil(entries.length / 2)
      await this.#store(entries.slice(0, half))
      await this.#store(entries.slice(half))
    }
  }

  /** Those whose webhook was taken away, or asks for other events, since their calls began: it may be another one's by now. */
  async #toldNoMore(entries: JournalEntry[]): Promise<Set<TenantId>> {
    const { tenants } = this.#deps
    const quiet = new Set<TenantId>()
    if (!tenants) return quiet
    const look = async (id: TenantId) => {
      // While that cannot be found out it is taken to want what it did.
      const present = await tenants.get(id).catch(() => undefined)
      if (present !== undefined && !(present && wantsTurns(present))) quiet.add(id)
    }
    const asked = new Set(entries.filter(isTold).map(({ call }) => call.tenant.tenant_id))
    await Promise.all([...asked].map(look))
    return quiet
  }

  #refused({ call, type }: JournalEntry, err: unknown): void {
    const { callSid, tenant } = call
    this.#deps.log.error({ err, tenant_id: tenant.tenant_id, call_sid: callSid, type }, 'a journal entry was refused')
  }

  #tellWaiters(): void {
    for (const waiter of this.#waiters) {
      if (this.#pending.has(waiter.callSid)) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  #tellLost(): void {
    if (this.#lostSinceTold > 0) this.#deps.log.error({ entries: this.#lostSinceTold }, 'journal entries were lost')
    this.#lostSinceTold = 0
  }

  async #stop(): Promise<void> {
    const { clock } = this.#deps
    this.#cancelTimer?.()
    this.#cancelTimer = null
    const late = () => new AppError('unavailable', 'The database is not reachable: the journal was closed.')
    await waitAtMost(clock, this.#writeToTheEnd(), CLOSE_TIMEOUT_MS)
    await this.#giveUp()
    for (const waiter of this.#waiters) waiter.reject(late())
    this.#waiters.clear()
  }

  async #giveUp(): Promise<void> {
    const left = this.#pending.size
    const lost = this.#keeping ? await this.#keeping.close() : left
    if (left > lost) this.#deps.log.warn({ entries: left - lost }, 'journal entries are left to the next start')
    this.#pending.clear()
    this.#lostSinceTold += lost
    this.#tellLost()
  }

  /** Ends when nothing waits, or `#stop` has given up and emptied what did. */
  async #writeToTheEnd(): Promise<void> {
    while (this.#pending.has(null)) {
      await this.#write()
      if (this.#isAway) await new Promise<void>((resolve) => this.#deps.clock.after(INTERVAL_MS, resolve))
    }
  }
}
