import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { noteFallback } from '../records/call-directory-store.ts'
import { type CallHolder, isHeldBy } from '../records/call-holder.ts'
import {
  type CallRecord,
  type CallReport,
  type SessionEnd,
  withReport,
  withSessionEnd,
  withTrueEnd,
} from '../records/call-record.ts'
import { isStreamPromised } from '../records/call-resume-store.ts'
import { lockRecord } from '../records/call-store.ts'
import { changeCall } from '../records/change-call.ts'
import { costSoFar } from '../records/cost-so-far-store.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { Journal } from '../records/journal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** The end of a call as its session knows it. */
export type CallEnding = CallHolder & {
  tenantId: TenantId
  callSid: string
  /** The stream that had the call; not given where none came to its session. */
  streamSid?: string
  session: SessionEnd
  /** How the call itself ended; null when it goes on without us, as after a transfer, or nobody knows yet. */
  call: CallReport | null
  /** Of one that has lost its stream: that none will come any more, and its carrier has ended it. */
  isForGood?: boolean
  /** Of one that has lost its model: whether it goes on at the fallback number; not given: that is not known. */
  isAtFallback?: boolean
}

/** Ends calls for good. */
export type Finishing = {
  /**
   * Closes the session and completes the log, and tells the tenant so, in one transaction and once: the first end of a session
   * stands, whoever tells another, but for `process_lost`, of which the session may know better, late. What was said is written before. While the database does not answer, this waits for it.
   *
   * @returns false when it is not the end of the call: another stream has it, or is on its way to it.
   * @throws the database's error when `close` was called and the end still cannot be written.
   */
  finish(ending: CallEnding): Promise<boolean>
  /**
   * Resolves when no end is being written any more; those that cannot be are given up. Close the journal before: ends wait for
   * it. Again, it changes nothing.
   */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  journal: Pick<Journal, 'flush'>
}

const RETRY_MS = 1_000

export function makeFinishing(deps: Deps): Finishing {
  const { db, clock, log, tenants, journal } = deps
  const running = new Set<Promise<boolean>>()
  const pauses = new Pauses(clock)

  async function write(ending: CallEnding): Promise<boolean> {
    const { tenantId, callSid, session } = ending
    // Asked before the transaction: the embedded database has one connection, which that owns.
    const tenant = await tenants.get(tenantId)
    if (!tenant) return true
    const stands = await db.transaction().execute((tx) => finishIn(tx, tenant, ending, new Date(clock.now())))
    const fields = { tenant_id: tenantId, call_sid: callSid, reason: session.endReason, usage: session.usage }
    if (stands === 'dropped')
      log.warn(fields, 'the end of a session was dropped: another one has the call, or is about to')
    return stands === 'end'
  }

  async function writeUntilStored(ending: CallEnding): Promise<boolean> {
    await journal.flush(ending.callSid)
    for (let tries = 1; ; tries += 1) {
      try {
        return await write(ending)
      } catch (err) {
        if (!isDatabaseTrouble(err) || pauses.areOver) throw err
        if (tries === 1) log.warn({ err, call_sid: ending.callSid }, 'the end of a call waits for the database')
        await pauses.wait(RETRY_MS)
      }
    }
  }

  return {
    finish(ending) {
      const finished = writeUntilStored(ending).finally(() => running.delete(finished))
      running.add(finished)
      return finished
    },
    async close() {
      pauses.end()
      await Promise.allSettled(running)
    },
  }
}

/** What became of an end: `dropped` when it was not that of the call. */
type Stands = 'end' | 'dropped' | 'unknown'

async function finishIn(tx: Tx, tenant: TenantRuntime, ending: CallEnding, now: Date): Promise<Stands> {
  const locked = await lockRecord(tx, tenant.tenant_id, ending.callSid)
  if (!locked) return 'unknown'
  const { call, before } = locked
  // Whoever thought its process lost may have taken the call from it. As long as no later stream began, it knows better.
  if (before.session.end_reason === 'process_lost' && before.session.stream_sid === ending.streamSid) {
    await changeCall(tx, tenant, { ...locked, now, change: (record) => withTrueEnd(record, ending.session) })
    return 'end'
  }
  if (!isHeldBy(call, ending)) return 'dropped'
  // Nobody knows that a call is over whose stream was lost, and the next one is on its way.
  const isGuessed = ending.session.endReason === 'carrier_lost' && !ending.isForGood
  if (isGuessed && (await isStreamPromised(tx, tenant.tenant_id, ending.callSid, now))) return 'dropped'
  const { isAtFallback } = ending
  if (isAtFallback !== undefined) await noteFallback(tx, tenant.tenant_id, ending.callSid, isAtFallback)
  // A stream that never came to its session goes on from one that may have cost something.
  const session =
    ending.session.costUsd === undefined ? { ...ending.session, ...(await costSoFar(tx, before)) } : ending.session
  const change = (record: CallRecord) => withSessionEnd(ending.call ? withReport(record, ending.call) : record, session)
  await changeCall(tx, tenant, { ...locked, now, change })
  return 'end'
}

/** Waits that can all be cut short, and are not begun any more after that. */
class Pauses {
  readonly #clock: Clock
  readonly #waiting = new Map<Cancel, () => void>()
  areOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wait(ms: number): Promise<void> {
    if (this.areOver) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => {
        this.#waiting.delete(cancel)
        resolve()
      })
      this.#waiting.set(cancel, resolve)
    })
  }

  end(): void {
    this.areOver = true
    for (const [cancel, resolve] of this.#waiting) {
      cancel()
      resolve()
    }
    this.#waiting.clear()
  }
}
