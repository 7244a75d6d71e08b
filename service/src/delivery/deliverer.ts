import { type Cancel, type Clock, waitAtMost } from '../kernel/clock.ts'
import { byChance } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import { onCommit } from '../platform/db/commits.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { type ClaimedRow, SEND_WITHIN_MS, type Send } from './attempt.ts'
import { type AttemptCount, type AttemptOutcome, makeAttempts } from './attempts.ts'
import {
  claimDueAcrossTenants,
  claimOldestAcrossTenants,
  dueTenantsAcrossTenants,
  endLeasesAcrossTenants,
} from './claim-store.ts'
import { Lanes } from './lanes.ts'
import type { OutboxTable } from './outbox-store.ts'

/** What a sweep has come to. `failed`: given up for good; `rescheduled`: to be tried again. */
export type SweepCounts = { attempted: number; delivered: number; failed: number; rescheduled: number }

type Options = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  bus: Pick<Bus, 'publish' | 'subscribe'>
  table: OutboxTable
  send: Send
  /** At a time: for one tenant, and for all. */
  lanes: { perTenant: number; total: number }
  count: AttemptCount
  /** No other process is on the database: what was claimed before the start is nobody's. */
  isAlone?: boolean
  /** From 0 to 1; default: by chance. */
  chance?: () => number
}

/** What is asked of the database again and again. It may let the one be done and not the other, as when it can only be read. */
type Asking = 'look' | 'claim'

/** Due rows are looked for this often; what is committed in this process is sent at once. */
const LOOK_EVERY_MS = 1_000
const LOOK_TENANTS = 500
/** Longer than the four attempts of one call take that may wait for each other. */
const LEASE_MS = 60_000
/** A row that waited longer than this may be another process's before its attempt is over. */
const START_WITHIN_MS = LEASE_MS - SEND_WITHIN_MS - 5_000
const CLOSE_WITHIN_MS = 1_500
/** A sweep that somebody waits for begins nothing after this. */
const SWEEP_BEGINS_WITHIN_MS = 20_000

/**
 * Delivers what stands in one of the outbox tables, at least once each, however many processes do the same: at its commit in
 * this process, else within a second. The events of one call leave this process one after another; of what failed nothing
 * else waits.
 */
export class Deliverer {
  readonly #options: Options
  readonly #lanes: Lanes
  readonly #attempt: (row: ClaimedRow, signal: AbortSignal) => Promise<AttemptOutcome>
  /** Tenants of whom something is or may be due. */
  readonly #wanted = new Set<string>()
  /** Tenants who had more than could be taken. */
  readonly #more = new Set<string>()
  /** The last attempt of each call that has one under way. */
  readonly #tails = new Map<string, Promise<unknown>>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #stopping = new AbortController()
  #cancels: Cancel[] = []
  #claiming: Promise<void> | null = null
  #looking: Promise<void> | null = null
  /** A look fell due while another one took its time. */
  #isDue = false
  #isClosing = false
  /** What could not be done the last time. */
  readonly #failing = new Set<Asking>()
  #lookedAfter: string | null = null

  constructor(options: Options) {
    this.#options = options
    this.#lanes = new Lanes(options.lanes)
    this.#attempt = makeAttempts({
      ...options,
      chance: options.chance ?? byChance,
      settleWithinMs: LEASE_MS - SEND_WITHIN_MS,
    })
  }

  /** Resolves when it is under way. @throws the database's error. */
  async start(): Promise<void> {
    const { db, clock, bus, table, isAlone = false } = this.#options
    if (isAlone) await endLeasesAcrossTenants(db, table)
    if (this.#isClosing) return
    this.#cancels = [
      clock.every(LOOK_EVERY_MS, () => this.#look()),
      onCommit(db, table, (tenantIds) => this.#committed(tenantIds)),
      bus.subscribe(topicOf(table), (tenantId) => void (typeof tenantId === 'string' && this.#want([tenantId]))),
    ]
    this.#look()
  }

  /** Delivers up to so many due rows now, the oldest first, and says what came of it. What others are at is not counted. */
  async sweep(limitRows: number): Promise<SweepCounts> {
    const { db, clock, table, lanes } = this.#options
    const counts = { attempted: 0, delivered: 0, failed: 0, rescheduled: 0 }
    const endsMs = clock.monotonicMs() + SWEEP_BEGINS_WITHIN_MS
    while (counts.attempted < limitRows && clock.monotonicMs() < endsMs && !this.#isClosing) {
      const free = lanes.total - this.#lanes.taken
      if (free <= 0) {
        await Promise.race(this.#running)
        continue
      }
      const limit = Math.min(free, limitRows - counts.attempted)
      const now = new Date(clock.now())
      const rows = await claimOldestAcrossTenants(db, table, { now, limit, leaseMs: LEASE_MS })
      const outcomes = await Promise.all(rows.map((row) => this.#deliver(row)))
      counts.attempted += rows.length
      for (const { end } of outcomes) if (end !== 'returned') counts[end] += 1
      if (rows.length < limit) break
    }
    return counts
  }

  /**
   * Begins nothing more, waits a little for what is under way, and gives the rest back. Never rejects. Again, it waits for the
   * same end.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const cancel of this.#cancels) cancel()
    await this.#soon()
    this.#stopping.abort()
    await this.#soon()
  }

  /** What targets hold up is given back then; what a silent database holds up is found again when its lease is over. */
  async #soon(): Promise<void> {
    await waitAtMost(this.#options.clock, this.#settled(), CLOSE_WITHIN_MS)
  }

  async #settled(): Promise<void> {
    await this.#looking
    await this.#claiming
    await Promise.all(this.#running)
  }

  #committed(tenantIds: string[]): void {
    const { bus, table, lanes } = this.#options
    // Whoever has room takes it, before it is looked for.
    if (this.#lanes.taken >= lanes.total) for (const tenantId of tenantIds) bus.publish(topicOf(table), tenantId)
    this.#want(tenantIds)
  }

  #want(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) {
      if (this.#lanes.free(tenantId) > 0) this.#wanted.add(tenantId)
      else this.#more.add(tenantId)
    }
    this.#claim()
  }

  #look(): void {
    if (this.#looking) {
      this.#isDue = true
      return
    }
    this.#isDue = false
    this.#looking = this.#guarded('look', () => this.#lookOnce()).finally(() => {
      this.#looking = null
      if (this.#isDue && !this.#isClosing) this.#look()
    })
  }

  /** A page of tenants at a time, so that a thousand that wait keep none from being found. */
  async #lookOnce(): Promise<Asking[]> {
    const { db, clock, table } = this.#options
    const page = { now: new Date(clock.now()), limit: LOOK_TENANTS, after: this.#lookedAfter }
    const due = await dueTenantsAcrossTenants(db, table, page)
    this.#lookedAfter = due.length < LOOK_TENANTS ? null : (due.at(-1) ?? null)
    this.#want(due)
    // Where nothing is due nothing waits to be claimed.
    return due.length === 0 && page.after === null ? ['look', 'claim'] : ['look']
  }

  #claim(): void {
    if (this.#claiming || this.#wanted.size === 0 || this.#isClosing) return
    this.#claiming = this.#guarded('claim', () => this.#claimWanted()).finally(() => {
      this.#claiming = null
      // What came in the last moment.
      this.#claim()
    })
  }

  async #claimWanted(): Promise<Asking[]> {
    const { db, clock, table } = this.#options
    for (let turns = this.#turns(); turns.size > 0 && !this.#isClosing; turns = this.#turns()) {
      for (const [limit, tenantIds] of turns) {
        const claim = { tenantIds, limit, now: new Date(clock.now()), leaseMs: LEASE_MS }
        const rows = await claimDueAcrossTenants(db, table, claim)
        for (const [tenantId, { length }] of Map.groupBy(rows, (row) => row.tenantId)) {
          if (length === limit) this.#more.add(tenantId)
        }
        for (const row of rows) void this.#deliver(row)
      }
    }
    return ['claim']
  }

  /** Who is asked for how many rows; no more altogether than there are lanes, and for silent ones than their half. */
  #turns(): Map<number, string[]> {
    // A sweep may have taken more.
    let left = Math.max(0, this.#options.lanes.total - this.#lanes.taken)
    let leftForSilent = this.#lanes.freeForSilent
    const turns: [tenantId: string, limit: number][] = []
    for (const tenantId of this.#wanted) {
      const isSilent = this.#lanes.isSilent(tenantId)
      const limit = Math.min(this.#lanes.free(tenantId), left, isSilent ? leftForSilent : left)
      if (limit === 0) this.#more.add(tenantId)
      else turns.push([tenantId, limit])
      left -= limit
      if (isSilent) leftForSilent -= limit
    }
    this.#wanted.clear()
    const groups = Map.groupBy(turns, ([, limit]) => limit)
    return new Map([...groups].map(([limit, group]) => [limit, group.map(([tenantId]) => tenantId)]))
  }

  /** Never rejects. */
  #deliver(row: ClaimedRow): Promise<AttemptOutcome> {
    const giveBack = this.#lanes.take(row.tenantId)
    const call = row.callSid === null ? row.id : `${row.tenantId} ${row.callSid}`
    const done = this.#afterOthers(row, this.#tails.get(call)).finally(() => {
      if (this.#tails.get(call) === done) this.#tails.delete(call)
      this.#running.delete(done)
      giveBack()
      this.#goOn()
    })
    this.#tails.set(call, done)
    this.#running.add(done)
    return done
  }

  async #afterOthers(row: ClaimedRow, before: Promise<unknown> | undefined): Promise<AttemptOutcome> {
    const { clock } = this.#options
    const claimedMs = clock.monotonicMs()
    await before
    const isLate = clock.monotonicMs() - claimedMs > START_WITHIN_MS
    const outcome = await this.#attempt(row, isLate ? AbortSignal.abort() : this.#stopping.signal)
    this.#lanes.heard(row.tenantId, outcome.hasAnswered)
    return outcome
  }

  /** A lane is free: whoever waited for one gets it. */
  #goOn(): void {
    const waiting = [...this.#more]
    this.#more.clear()
    if (waiting.length > 0) this.#want(waiting)
  }

  /** A database that is away is said once, and once that it is back. `work` tells what can be done now. */
  async #guarded(what: Asking, work: () => Promise<Asking[]>): Promise<void> {
    const { log, table } = this.#options
    const failing = this.#failing
    try {
      const done = await work()
      const wasFailing = failing.size > 0
      for (const each of done) failing.delete(each)
      if (wasFailing && failing.size === 0) log.info({ table }, 'deliveries go on')
    } catch (err) {
      if (failing.size === 0) log.warn({ table, err }, 'deliveries wait for the database')
      failing.add(what)
    }
  }
}

function topicOf(table: OutboxTable): string {
  return `due/${table}`
}
