import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { isDispatch } from '../operators/task-dispatch-store.ts'
import { SaidOnce } from '../platform/db/said-once.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { ListedCall } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { type CallLogRow, findCallLogById } from '../records/call-log-store.ts'
import { statusReport } from '../records/call-record.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { accountOf } from './carrier-account.ts'
import { claimDialsAcrossTenants, countDoubtedDials, type DialRow, isKnownCallAcrossTenants } from './dial-store.ts'
import { LOOK_AFTER_MS } from './dialing.ts'
import type { CallStatuses } from './record-status.ts'
import { type DialOutcome, settleDial } from './settle-dial.ts'

/** Finds out, again and again, what became of calls of which that is not known. */
export type SettlingDials = {
  /** Looks again and again from now on. */
  start(): void
  /** Looks at those that are due now; the same again while it looks. Never rejects. */
  look(): Promise<void>
  /** Stops, and waits for a look on its way. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  carriers: Carriers
  statuses: Pick<CallStatuses, 'record'>
}

const LOOK_INTERVAL_MS = 5_000
/** Looked at beside each other; each takes one request to its carrier. */
const DIALS = 20
const LIST_TIMEOUT_MS = 5_000
/**
 * What the carrier does not have by then it will not have; should it call all the same, that call is taken. From then to the
 * two minutes that are promised there is time for a look, and for a carrier that does not answer it.
 */
const GIVE_UP_MS = 120_000 - LOOK_INTERVAL_MS - LIST_TIMEOUT_MS
/** A carrier that has not answered for so long will not know of it either. */
const GIVE_UP_ASKING_MS = 3_600_000
/** How far the carrier's clock may be from ours. */
const CLOCK_SKEW_MS = 60_000

export function makeSettlingDials(deps: Deps): SettlingDials {
  const { db, clock, log, tenants } = deps
  const closing = new AbortController()
  let looking: Promise<void> | null = null
  let cancel: Cancel = () => undefined
  const said = new SaidOnce()

  /** All that are due: after a carrier's outage that may be many. */
  async function lookNow(): Promise<void> {
    const silent = new Set<TenantId>()
    let claimed: number
    do {
      const now = new Date(clock.now())
      const again = { dueAgainAt: new Date(now.getTime() + LOOK_AFTER_MS), giveUpAfterMs: GIVE_UP_MS }
      const due = await claimDialsAcrossTenants(db, { now, ...again, limit: DIALS })
      const asked: Asked = { silent, allLate: new Map() }
      await Promise.all(due.map((dial) => lookAt(dial, asked).catch((err: unknown) => tell(dial, err))))
      for (const [tenantId, isSilent] of asked.allLate) if (isSilent) silent.add(tenantId)
      claimed = due.length
    } while (claimed === DIALS && !closing.signal.aborted)
  }

  function tell({ tenant_id, call_log_id }: DialRow, err: unknown): void {
    log.warn({ err, tenant_id, call_log_id }, 'it could not be found out what became of a call')
  }

  async function lookAt(dial: DialRow, asked: Asked): Promise<void> {
    const tenant = await tenants.get(dial.tenant_id)
    const dialled = tenant && (await findCallLogById(db, dial.tenant_id, dial.call_log_id))
    if (!dialled) return
    const looked = asked.silent.has(dial.tenant_id) ? NOT_ANSWERED : await search(tenant, { dial, dialled }, asked)
    if (closing.signal.aborted) return
    const { found } = looked
    const now = new Date(clock.now())
    const isDoubtful = !looked.isRuledOut && (await isPlacedAgain(db, dialled))
    const giveUpMs = isDoubtful ? GIVE_UP_ASKING_MS : GIVE_UP_MS
    const outcome = outcomeOf(looked, now.getTime() - dial.created_at.getTime() >= giveUpMs)
    await settleDial(db, tenant, dial.dial_ref, { outcome, now, waitsBriefly: true })
    if (outcome.type !== 'unknown') log.info({ tenant_id: dial.tenant_id, outcome }, 'a call in doubt was settled')
    if (found) await noteStatus(dial.tenant_id, found)
  }

  async function search(tenant: TenantRuntime, of: Pick<Search, 'dial' | 'dialled'>, { allLate }: Asked) {
    const { tenant_id: tenantId } = tenant
    const onEnd = (isLate: boolean) => void allLate.set(tenantId, isLate && (allLate.get(tenantId) ?? true))
    try {
      return await findAtCarrier(deps, tenant, { ...of, closing: closing.signal, onEnd })
    } catch (err) {
      tell(of.dial, err)
      return NOT_ANSWERED
    }
  }

  async function noteStatus(tenantId: TenantId, { callSid, status, durationSeconds, answeredBy }: ListedCall) {
    const report = { ...statusReport(status, new Date(clock.now())), durationSeconds, answeredBy }
    await deps.statuses.record(tenantId, callSid, report)
  }

  const settling: SettlingDials = {
    start() {
      cancel = clock.every(LOOK_INTERVAL_MS, () => void settling.look())
    },
    look() {
      looking ??= lookNow()
        .then(
          () => said.done(),
          (err: unknown) => said.failed(err, () => log.warn({ err }, 'calls in doubt could not be looked for')),
        )
        .finally(() => {
          looking = null
        })
      return looking
    },
    async close() {
      cancel()
      closing.abort()
      await looking
    },
  }
  return settling
}

/**
 * Whether we call again by ourselves when it failed: that nothing was placed must be known then, from a carrier that answers and has
 * nothing that may be it. Somebody whose phone has rung would be rung again for the same attempt.
 */
async function isPlacedAgain(db: Db, { tenant_id, id, callback_task_id, campaign_id }: CallLogRow): Promise<boolean> {
  if (campaign_id !== null) return true
  // Who had it placed may have named a task, and does not have that dispatched by it.
  return callback_task_id !== null && isDispatch(db, tenant_id, id)
}

function outcomeOf({ found }: { found: ListedCall | null }, isGivenUp: boolean): DialOutcome {
  if (found) return { type: 'found', callSid: found.callSid }
  return isGivenUp ? { type: 'failed', code: 'not_confirmed', reason: NOT_CONFIRMED } : { type: 'unknown' }
}

/** What a look has found. `isRuledOut`: the carrier has answered, and has no call that may be the one in doubt. */
type Looked = { found: ListedCall | null; isRuledOut: boolean }

const NOT_ANSWERED: Looked = { found: null, isRuledOut: false }
/** The carrier has one that may be it. */
const NOT_TOLD_APART = NOT_ANSWERED
const NOT_CONFIRMED = 'The carrier did not confirm the call within two minutes.'

/**
 * `allLate`: whether all of a tenant's requests that were made beside each other were late, since one of them may just be slow. Who
 * was `silent` like that before is asked no more in this look.
 */
type Asked = { silent: Set<TenantId>; allLate: Map<TenantId, boolean> }

type Search = { dial: DialRow; dialled: CallLogRow; closing: AbortSignal; onEnd: (isLate: boolean) => void }

/**
 * The call at the carrier that must be the dial's: it alone is none of ours and was made at about the time, and no other dial
 * may have made it. When more than one may be, the carrier has to say which is which.
 */
async function findAtCarrier(deps: Deps, tenant: TenantRuntime, search: Search): Promise<Looked> {
  const { db, carriers } = deps
  const account = accountOf(tenant)
  if (!account) return NOT_ANSWERED
  const askedMs = search.dial.created_at.getTime()
  const wanted = { from: search.dialled.from, to: search.dialled.to, since: new Date(askedMs - CLOCK_SKEW_MS) }
  const carrier = carriers[tenant.telephony.provider]
  const { calls, hasUnread } = await bounded(deps.clock, search, (signal) => carrier.listCalls(account, wanted, signal))
  const near = calls.filter(({ createdAt }) => Math.abs(createdAt.getTime() - askedMs) <= CLOCK_SKEW_MS)
  const isOurs = await Promise.all(near.map(({ callSid }) => isKnownCallAcrossTenants(db, tenant.tenant_id, callSid)))
  const [found, ...others] = near.filter((_, at) => !isOurs[at])
  // What cannot be read may be the call.
  if (!found) return hasUnread ? NOT_TOLD_APART : { found: null, isRuledOut: true }
  if (others.length > 0) return NOT_TOLD_APART
  const mayHaveMadeIt = await countDoubtedDials(db, tenant.tenant_id, { ...search.dialled, ...around(found) })
  return mayHaveMadeIt === 1 ? { found, isRuledOut: false } : NOT_TOLD_APART
}

function around({ createdAt }: ListedCall): { since: Date; until: Date } {
  const at = createdAt.getTime()
  return { since: new Date(at - CLOCK_SKEW_MS), until: new Date(at + CLOCK_SKEW_MS) }
}

function bounded<T>(
  clock: Clock,
  { closing, onEnd }: Pick<Search, 'closing' | 'onEnd'>,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(LIST_TIMEOUT_MS, () => late.abort())
  return request(AbortSignal.any([late.signal, closing])).finally(() => {
    cancel()
    onEnd(late.signal.aborted)
  })
}
