import { type ColumnType, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { DEFAULT_QUEUE, LIVE_STATUSES } from './callback-task-values.ts'

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** A span of each of these days, `HH:MM`; one that ends before it begins goes over midnight. */
export type BusinessHours = { days: Weekday[]; start: string; end: string }

/** How a queue works. */
export type QueueSettings = {
  queue_key: string
  name: string | null
  sla_minutes: number
  /** IANA; null: the tenant's. */
  timezone: string | null
  /** Empty: always. */
  business_hours: BusinessHours[]
  auto_dispatch: boolean
  dispatch_agent_key: string | null
  max_attempts: number
  retry_minutes: number
  reminder_minutes: number
  escalate_after_minutes: number
  escalation_target: string | null
}

type QueueRow = Omit<QueueSettings, 'business_hours'> & {
  tenant_id: TenantId
  /** Written as JSON text. */
  business_hours: ColumnType<BusinessHours[], string, string>
  created_at: ColumnType<Date, Date, never>
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    operator_queues: QueueRow
  }
}

/** What every queue is set to until somebody says otherwise. */
export const QUEUE_DEFAULTS: Omit<QueueSettings, 'queue_key'> = {
  name: null,
  sla_minutes: 30,
  timezone: null,
  business_hours: [],
  auto_dispatch: false,
  dispatch_agent_key: null,
  max_attempts: 3,
  retry_minutes: 30,
  reminder_minutes: 15,
  escalate_after_minutes: 60,
  escalation_target: null,
}

const COLUMNS = [
  'queue_key',
  'name',
  'sla_minutes',
  'timezone',
  'business_hours',
  'auto_dispatch',
  'dispatch_agent_key',
  'max_attempts',
  'retry_minutes',
  'reminder_minutes',
  'escalate_after_minutes',
  'escalation_target',
] as const satisfies (keyof QueueSettings)[]

/** The settings of its own that a queue of the tenant's has; null: it works by the defaults. */
export async function findOwnQueue(db: Db, tenantId: TenantId, queueKey: string): Promise<QueueSettings | null> {
  const row = await db
    .selectFrom('operator_queues')
    .select(COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('queue_key', '=', queueKey)
    .executeTakeFirst()
  return row ?? null
}

/** How a queue of the tenant's works, by its own settings or by the defaults. */
export async function findQueue(db: Db, tenantId: TenantId, queueKey: string): Promise<QueueSettings> {
  return (await findOwnQueue(db, tenantId, queueKey)) ?? { ...QUEUE_DEFAULTS, queue_key: queueKey }
}

/** How each of these queues of the tenant's works. */
export async function queuesByKey(db: Db, tenantId: TenantId, queueKeys: string[]): Promise<QueueSettings[]> {
  if (queueKeys.length === 0) return []
  const rows = await db
    .selectFrom('operator_queues')
    .select(COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('queue_key', 'in', queueKeys)
    .execute()
  const known = new Map(rows.map((row) => [row.queue_key, row]))
  return queueKeys.map((queue_key) => known.get(queue_key) ?? { ...QUEUE_DEFAULTS, queue_key })
}

/** Sets a queue, as a whole. */
export async function putQueue(tx: Tx, tenantId: TenantId, settings: QueueSettings, now: Date): Promise<void> {
  const { queue_key, ...rest } = settings
  const set = { ...rest, business_hours: JSON.stringify(settings.business_hours), updated_at: now }
  await tx
    .insertInto('operator_queues')
    .values({ ...set, tenant_id: tenantId, queue_key, created_at: now })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'queue_key']).doUpdateSet(set))
    .execute()
}

/** Gives a queue the defaults again, and returns what it had; null when it had no settings. */
export async function deleteQueue(db: Db, tenantId: TenantId, queueKey: string): Promise<QueueSettings | null> {
  const row = await db
    .deleteFrom('operator_queues')
    .where('tenant_id', '=', tenantId)
    .where('queue_key', '=', queueKey)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** What waits in a queue. */
export type QueueLoad = {
  /** Open tasks. */
  depth: number
  /** When the oldest of them was made. */
  oldest: Date | null
  /** Tasks, snoozed ones aside, that should be done by now, by the queue's clock. */
  breached: number
  /** When the next of the others should be; null: there is none. */
  next_breach: Date | null
}

/** A queue, and until when its clock has run: what should have been done before then is late. Null: nothing is. */
export type QueueClock = { queueKey: string; until: Date | null }

/** Which queues, in the order of their keys: `limit` after this one. */
export type QueuePage = { after: string | null; limit: number; offset: number }

/** The tenant's queues: those with settings or with tasks that are not done, and the default one; one more than `limit`. */
export async function listQueues(db: Db, tenantId: TenantId, page: QueuePage): Promise<QueueSettings[]> {
  const { rows } = await sql<{ key: string }>`
    with keys as (
      select queue_key as key from operator_queues where tenant_id = ${tenantId}
      union
      select queue_key from callback_tasks where tenant_id = ${tenantId} and ${isLive}
      union
      select ${DEFAULT_QUEUE}::text
    )
    select key from keys
     where key > ${page.after ?? ''}
     order by key
     limit ${page.limit + 1} offset ${page.offset}
  `.execute(db)
  return queuesByKey(
    db,
    tenantId,
    rows.map(({ key }) => key),
  )
}

/** What waits in each of these queues of the tenant, in their order. */
export async function loadsOf(db: Db, tenantId: TenantId, clocks: QueueClock[]): Promise<QueueLoad[]> {
  const keys = clocks.map(({ queueKey }) => queueKey)
  const untils = clocks.map(({ until }) => until?.toISOString() ?? null)
  const { rows } = await sql<QueueLoad>`
    select load.*
      from unnest(${keys}::text[], ${untils}::timestamptz[]) with ordinality as queue (key, until, place)
     cross join lateral (
       select count(*) filter (where status = 'open')::integer as depth,
              min(created_at) filter (where status = 'open') as oldest,
              count(*) filter (where status <> 'snoozed' and sla_due_at < queue.until)::integer as breached,
              min(sla_due_at) filter (where status <> 'snoozed' and (sla_due_at < queue.until) is not true) as next_breach
         from callback_tasks
        where tenant_id = ${tenantId} and queue_key = queue.key and ${isLive}
     ) load
     order by queue.place
  `.execute(db)
  return rows
}

/** A queue in which tasks should be done by now. */
export type LateQueue = { tenant_id: TenantId; queue_key: string; breached: number; oldest_due: Date }

/** Where a late queue stands among those of all tenants. */
export type LateRank = Pick<LateQueue, 'tenant_id' | 'queue_key' | 'breached'>

/** Queues that are open at the same hours, each by its tenant and its key. `timezone`: their own, else their tenants'. */
export type QueuesByHours = Pick<QueueSettings, 'timezone' | 'business_hours'> & {
  tenant_ids: TenantId[]
  keys: string[]
}

/** The queues of all tenants in which tasks are late by the calendar and may not be by the clock of the queue, which has hours. */
export async function listQueuesByHoursAcrossTenants(db: Db, now: Date): Promise<QueuesByHours[]> {
  const { rows } = await sql<QueuesByHours>`
    select coalesce(queue.timezone, tenants.document #>> '{compliance,timezone}') as timezone, queue.business_hours,
           array_agg(queue.tenant_id) as tenant_ids, array_agg(queue.queue_key) as keys
      from operator_queues queue
      join tenants on tenants.tenant_id = queue.tenant_id and tenants.deleted_at is null
     where queue.business_hours <> '[]'
       and exists (select from callback_tasks task
                    where task.tenant_id = queue.tenant_id and task.queue_key = queue.queue_key
                      and task.${isWaitedFor} and task.sla_due_at < ${now})
     group by 1, 2`.execute(db)
  return rows
}

type LateAsk = { now: Date; clocks: TenantQueueClock[]; after: LateRank | null; limit: number; offset: number }
type TenantQueueClock = QueueClock & { tenantId: TenantId }

/**
 * The queues of all tenants in which tasks, snoozed ones aside, should be done by now, those with the most of them first; one more
 * than `limit`. `clocks`: of the queues whose clocks have not run until now.
 */
export async function listLateQueuesAcrossTenants(
  db: Db,
  { now, clocks, after, limit, offset }: LateAsk,
): Promise<LateQueue[]> {
  const tenantIds = clocks.map(({ tenantId }) => tenantId)
  const keys = clocks.map(({ queueKey }) => queueKey)
  const untils = clocks.map(({ until }) => until?.toISOString() ?? null)
  const isBehind =
    after === null
      ? sql`true`
      : sql`(-count(*), tenant_id, queue_key) > (${-after.breached}::bigint, ${after.tenant_id}, ${after.queue_key})`
  const { rows } = await sql<LateQueue>`
    select tenant_id, queue_key, count(*)::integer as breached, min(sla_due_at) as oldest_due
      from callback_tasks
      left join unnest(${tenantIds}::text[], ${keys}::text[], ${untils}::timestamptz[]) as clock (tenant_id, queue_key, until)
     using (tenant_id, queue_key)
     where ${isWaitedFor} and sla_due_at < ${now} and (clock.queue_key is null or sla_due_at < clock.until)
       and exists (select from tenants where tenants.tenant_id = callback_tasks.tenant_id and deleted_at is null)
     group by tenant_id, queue_key
    having ${isBehind}
     order by breached desc, tenant_id, queue_key
     limit ${limit + 1} offset ${offset}`.execute(db)
  return rows
}

/** Written out, so that the indexes serve. A snoozed task is not waited for. */
const isWaitedFor = sql`status in ('open', 'claimed', 'dispatching')`
const isLive = sql`status in (${sql.join(LIVE_STATUSES.map((status) => sql.lit(status)))})`
