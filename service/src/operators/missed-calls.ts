import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { inTurns } from '../kernel/in-turns.ts'
import { phoneNumberOf } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { listTenantsWithAcrossTenants } from '../tenancy/tenant-store.ts'
import type { MissedCallKind } from '../tenancy/tenant-values.ts'
import { addTask, type TaskFields } from './add-callback-task.ts'
import { cancel } from './callback-task-moves.ts'
import { changeTask } from './change-callback-task.ts'
import {
  findMissedCallTask,
  listMissedCalls,
  MISSED_CALL,
  type MissedCall,
  type MissedCallPosition,
  takeMissedCall,
} from './missed-call-store.ts'

/** Whether a call that was not taken goes on all the same, at the fallback number; null when its carrier does not say. Never rejects. */
export type GoesOn = (tenant: TenantRuntime, callSid: string) => Promise<boolean | null>

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  goesOn: GoesOn
  isStopping: () => boolean
}

/** What ended earlier is history. */
const LOOK_BACK_MS = 3_600_000
const LONGEST_CALL_MS = LONGEST_CALL_SECONDS * 1_000
/** Whoever answers at the fallback number does so by then: that they did is told when they have hung up, and whether they talk is asked for. */
const ANSWERED_WITHIN_MS = 300_000
/** Read at once, and made of one tenant before it is another one's turn. */
const BATCH_ROWS = 100

const SUMMARIES: Record<MissedCallKind, string> = {
  missed: 'Called, and nobody answered.',
  failed: 'Called, and the call broke off.',
  abandoned: 'Called, and hung up without having said a word.',
}

/**
 * Makes callback tasks of calls that came in and came to nothing, for the tenants that want that: one for each call, on however
 * many nodes this is done. What fails with one tenant or call holds up no other one, and is tried again.
 *
 * @returns how many were made.
 */
export async function collectMissedCalls(deps: Deps): Promise<number> {
  const { db, clock, log, tenants, isStopping } = deps
  const since = new Date(clock.now() - LOOK_BACK_MS)
  const looks = (await listTenantsWithAcrossTenants(db, 'missed_calls')).map(
    (tenantId): Look => ({ tenantId, since, after: null, callers: new Set(), isCarrierAway: false }),
  )
  let made = 0
  await inTurns({ clock, isStopping }, looks, async (look) => {
    const { tenantId: tenant_id } = look
    try {
      const tenant = await tenants.get(tenant_id)
      if (!tenant?.missed_calls) return false
      const some = await collect(deps, tenant, tenant.missed_calls, look)
      made += some
      return some >= BATCH_ROWS
    } catch (err) {
      log.error({ tenant_id, err }, 'calls that were missed could not be looked for')
      return false
    }
  })
  return made
}

/** How far the calls of a tenant were gone through. */
type Look = {
  tenantId: TenantId
  since: Date
  after: MissedCallPosition | null
  /** Whoever called twice is called back once. */
  callers: Set<string>
  /** It does not say which calls go on: it is not asked again now. */
  isCarrierAway: boolean
}

/** @returns how many tasks were made: `BATCH_ROWS` or more where there may be more to be made. */
async function collect(
  deps: Deps,
  tenant: TenantRuntime,
  { queue_key, when: kinds }: NonNullable<TenantRuntime['missed_calls']>,
  look: Look,
): Promise<number> {
  const { since, callers } = look
  const begunAfter = new Date(since.getTime() - LONGEST_CALL_MS)
  const refusedBefore = new Date(
    deps.clock.now() - (tenant.telephony.fallback_number === null ? 0 : ANSWERED_WITHIN_MS),
  )
  let made = 0
  // Page by page: callers of whom no task can be made are found each time, and keep nobody else waiting, however many they are.
  while (made < BATCH_ROWS && !deps.isStopping()) {
    const page = { kinds, since, begunAfter, refusedBefore, after: look.after, limit: BATCH_ROWS }
    const calls: MissedCall[] = await listMissedCalls(deps.db, tenant.tenant_id, page)
    for (const call of calls) {
      look.after = call
      if (callers.has(call.from)) continue
      callers.add(call.from)
      const fields = fieldsOf(call, queue_key)
      if (!fields || (await isElsewhere(deps, tenant, call, look))) continue
      if (await makeTask(deps, tenant, call, fields)) made += 1
    }
    if (calls.length < BATCH_ROWS) break
  }
  return made
}

/** Whether the caller talks at the fallback number now: by the end of that it is known. */
async function isElsewhere(
  { goesOn }: Deps,
  tenant: TenantRuntime,
  { call_sid, was_taken }: MissedCall,
  look: Look,
): Promise<boolean> {
  if (was_taken || tenant.telephony.fallback_number === null || look.isCarrierAway) return false
  const isOn = await goesOn(tenant, call_sid)
  look.isCarrierAway = isOn === null
  return isOn === true
}

/** Whether this made a task of the call. Never rejects. */
async function makeTask(
  { db, clock, log }: Deps,
  tenant: TenantRuntime,
  call: MissedCall,
  fields: TaskFields,
): Promise<boolean> {
  const { tenant_id } = tenant
  const subject = { callSid: call.call_sid, sessionId: call.session_id }
  try {
    return await db.transaction().execute(async (tx) => {
      if (!(await takeMissedCall(tx, tenant_id, call))) return false
      await addTask(tx, tenant, { fields, subject }, new Date(clock.now()))
      return true
    })
  } catch (err) {
    log.error({ tenant_id, call_sid: call.call_sid, err }, 'no callback task was made of a call that was missed')
    return false
  }
}

/** Somebody else has answered a call after all: the task that was made of it is not to be done, unless somebody is about to do it. */
export async function cancelMissedCall(tx: Tx, tenant: TenantRuntime, callSid: string, now: Date): Promise<void> {
  const id = await findMissedCallTask(tx, tenant.tenant_id, callSid)
  if (id === null) return
  const move = cancel({ operator: null, note: 'Somebody has answered at the fallback number.' })
  await changeTask(tx, tenant, { id, move: { ...move, from: ['open', 'snoozed'] } }, now)
}

/** Null for a caller who cannot be called: who has withheld the number, or has none. */
function fieldsOf(call: MissedCall, queue_key: string): TaskFields | null {
  const customer_phone = phoneNumberOf(call.from)
  if (customer_phone === null) return null
  return {
    ...{ customer_phone, queue_key, priority: 'normal', summary: SUMMARIES[call.kind], notes: null },
    ...{ agent_name: call.agent_name, stream_sid: call.stream_sid, call_sid: call.call_sid },
    ...{ metadata: { missed_call: call.kind }, created_by: MISSED_CALL, due_at: null, sla_due_at: null },
  }
}
