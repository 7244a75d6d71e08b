import type { Clock } from '../kernel/clock.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { AttemptResult, ClaimedRow, Send, SendResult } from './attempt.ts'
import { release, type Settlement, settle } from './claim-store.ts'
import type { OutboxTable } from './outbox-store.ts'
import { nextDelayMs } from './retry-schedule.ts'

/** `failed`: given up for good. `returned`: not sent to its end by this process, and left to whoever comes next. */
export type AttemptEnd = 'delivered' | 'failed' | 'rescheduled' | 'returned'

/** How an attempt ended, and whether its target said anything at all. */
export type AttemptOutcome = { end: AttemptEnd; hasAnswered: boolean }

/** Counts attempts by how they ended. */
export type AttemptCount = (end: AttemptEnd) => void

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  table: OutboxTable
  send: Send
  count: AttemptCount
  chance: () => number
  /** How long to try to write down what came of an attempt: then it may be another process's. */
  settleWithinMs: number
}

const RETRY_MS = 1_000
/** A row whose attempts all ended with their process is not tried for ever. */
const MAX_TRIES = 20
/** What failed for a reason of ours is tried again after this. */
const OUR_FAULT_MS = 60_000
const RETURNED: AttemptOutcome = { end: 'returned', hasAnswered: true }

/** Makes the attempts of claimed rows and writes down what came of them. What it gives never rejects. */
export function makeAttempts(deps: Deps): (row: ClaimedRow, signal: AbortSignal) => Promise<AttemptOutcome> {
  const { db, clock, log, table, send, count } = deps

  async function attempt(row: ClaimedRow, signal: AbortSignal): Promise<AttemptOutcome> {
    const startedMs = clock.monotonicMs()
    const at = new Date(clock.now())
    const result = await sent(row, signal)
    if (result === 'stopped') {
      await release(db, table, row)
      return RETURNED
    }
    if (result === 'our fault') {
      const dueAt = new Date(clock.now() + OUR_FAULT_MS)
      await inTime(() => release(db, table, row, dueAt), signal)
      return RETURNED
    }
    const durationMs = Math.round(clock.monotonicMs() - startedMs)
    const settlement = settlementOf(row, result, { ...deps, at, durationMs })
    if (!(await inTime(() => settle(db, table, row, settlement), signal))) return RETURNED
    const end = settlement.status === 'pending' ? 'rescheduled' : settlement.status
    if (end === 'failed') log.warn(factsOf(row, table, result), 'a delivery was given up')
    return { end, hasAnswered: result.statusCode !== null || result.url === null }
  }

  async function sent(row: ClaimedRow, signal: AbortSignal): Promise<SendResult | 'our fault'> {
    if (signal.aborted) return 'stopped'
    if (row.attempts - row.attemptsBefore > MAX_TRIES) return cutShort()
    return send(row, signal).catch((err: unknown) => {
      log.error({ ...idsOf(row, table), err }, 'a delivery could not be sent for a reason of ours')
      return 'our fault' as const
    })
  }

  /** A database that is away gets as long as the row is surely ours; not while the service stops. */
  async function inTime<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const endsMs = clock.monotonicMs() + deps.settleWithinMs
    for (;;) {
      try {
        return await write()
      } catch (err) {
        if (signal.aborted || clock.monotonicMs() + RETRY_MS > endsMs) throw err
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
      }
    }
  }

  return async (row, signal) => {
    const outcome = await attempt(row, signal).catch((err: unknown) => {
      log.error({ ...idsOf(row, table), err }, 'an attempt to deliver came to no end')
      return RETURNED
    })
    count(outcome.end)
    return outcome
  }
}

type Facts = { at: Date; durationMs: number; clock: Clock; chance: () => number }

function settlementOf(row: ClaimedRow, result: AttemptResult, { at, durationMs, clock, chance }: Facts): Settlement {
  const now = new Date(clock.now())
  const { statusCode, error, retryAfterMs, isFinal } = result
  const seen = { at: at.toISOString(), status_code: statusCode, error, duration_ms: durationMs }
  const attempt = { ...seen, attempt: row.attempts }
  const written = { result, attempt, dueAt: now, deliveredAt: null }
  if (error === null) return { ...written, status: 'delivered', deliveredAt: now }
  const delayMs = isFinal ? null : nextDelayMs({ tries: row.endedBefore + 1, retryAfterMs, chance: chance() })
  if (delayMs === null) return { ...written, status: 'failed' }
  return { ...written, status: 'pending', dueAt: new Date(now.getTime() + delayMs) }
}

function idsOf({ tenantId, id }: ClaimedRow, table: OutboxTable) {
  return { table, tenant_id: tenantId, delivery_id: id }
}

function factsOf(row: ClaimedRow, table: OutboxTable, { statusCode }: AttemptResult) {
  return { ...idsOf(row, table), event: row.event, attempts: row.attempts, status_code: statusCode }
}

function cutShort(): AttemptResult {
  const error = 'Each attempt was cut short by the end of the process that made it.'
  return { url: null, statusCode: null, error, retryAfterMs: null, isFinal: true }
}
