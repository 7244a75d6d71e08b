import { hasAgentKey } from '../agents/agent-store.ts'
import type { Actor } from '../kernel/actor.ts'
import { type Clock, othersFirst } from '../kernel/clock.ts'
import { AppError, type FaultDetail, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { foreignCursor, type Page, type PagePosition, type PageRequest, toPage } from '../kernel/pages.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { expectTenant, holdKnownTenant, knownTenant } from '../tenancy/known-tenant.ts'
import { callingHoursFault, timeZoneFault } from '../tenancy/tenant-rules.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import {
  deleteQueue,
  findOwnQueue,
  findQueue,
  type LateQueue,
  type LateRank,
  listLateQueuesAcrossTenants,
  listQueues,
  listQueuesByHoursAcrossTenants,
  loadsOf,
  putQueue,
  QUEUE_DEFAULTS,
  type QueueClock,
  type QueueLoad,
  type QueueSettings,
} from './operator-queue-store.ts'
import { lastOpenAt, ofEach, reachesSla } from './queue-hours.ts'

/** A queue, and what waits in it. */
export type ListedQueue = { settings: QueueSettings; load: QueueLoad }

/** How a queue works, and whether that was set for it. */
export type KnownQueue = { settings: QueueSettings; isSet: boolean }

/** How the queues of operators are set, and what waits in them. Any key is a queue: it works by the defaults until it is set. */
export type OperatorQueues = {
  /**
   * By their keys: the default one, those that are set, and those with tasks that are not done. What is late is what the sweep takes
   * for it: outside a queue's business hours nothing becomes so.
   *
   * @throws AppError `not_found` for a deleted tenant.
   */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<ListedQueue>>
  /**
   * Of all tenants: those in which tasks are late, as the sweep takes it, those with the most of them first.
   *
   * @throws AppError `invalid_request`.
   */
  lateAcrossTenants(page: PageRequest): Promise<Page<LateQueue>>
  /** @throws AppError `not_found` for an unknown tenant. */
  get(tenantId: TenantId, queueKey: string): Promise<KnownQueue>
  /** Sets a queue, as a whole. @throws AppError `not_found` for an unknown tenant, `invalid_request` for what cannot be. */
  put(tenantId: TenantId, settings: QueueSettings, by: Actor): Promise<QueueSettings>
  /** Gives a queue the defaults again, and returns what it had. @throws AppError `not_found` when it was not set. */
  remove(tenantId: TenantId, queueKey: string, by: Actor): Promise<QueueSettings>
}

/** Queues have no age: their cursor is made of the key alone. */
const NO_INSTANT = new Date(0)

type Deps = { db: Db; clock: Clock; tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> } }

export function makeOperatorQueues({ db, clock, tenants }: Deps): OperatorQueues {
  async function loaded(tenantId: TenantId, queues: QueueSettings[]): Promise<ListedQueue[]> {
    const tenant = await knownTenant(tenants, tenantId)
    const now = new Date(clock.now())
    const clocks = await ofEach(queues, (queue, local) => ({
      queueKey: queue.queue_key,
      until: lastOpenAt(tenant, queue, now, local),
    }))
    const loads = await loadsOf(db, tenantId, clocks)
    return queues.flatMap((settings, at) => (loads[at] ? [{ settings, load: loads[at] }] : []))
  }

  return {
    async list(tenantId, { after, limit, offset }) {
      const queues = await listQueues(db, tenantId, { after: after?.id ?? null, limit, offset })
      const listed = await loaded(tenantId, queues)
      return toPage(listed, limit, ({ settings }) => ({ createdAt: NO_INSTANT, id: settings.queue_key }))
    },
    async lateAcrossTenants({ after, limit, offset }) {
      const now = new Date(clock.now())
      const asked = { now, clocks: await clocksAcrossTenants(db, now), after: after && rankAt(after), limit, offset }
      return toPage(await listLateQueuesAcrossTenants(db, asked), limit, positionOf)
    },
    async get(tenantId, queueKey) {
      await expectTenant(db, tenantId)
      const own = await findOwnQueue(db, tenantId, queueKey)
      return { settings: own ?? { ...QUEUE_DEFAULTS, queue_key: queueKey }, isSet: own !== null }
    },
    put: (tenantId, settings, by) =>
      db.transaction().execute(async (tx) => {
        await holdKnownTenant(tx, tenantId)
        const [first, ...others] = await faultsOf(tx, tenantId, settings)
        if (first) throw invalidRequest([first, ...others])
        const { queue_key: queueKey } = settings
        const told = { before: await findQueue(tx, tenantId, queueKey), after: settings, at: new Date(clock.now()) }
        await putQueue(tx, tenantId, settings, told.at)
        await audit(tx, { by, action: 'operator_queue.changed', tenantId, targetId: queueKey, ...told })
        return settings
      }),
    remove: (tenantId, queueKey, by) =>
      db.transaction().execute(async (tx) => {
        const removed = await deleteQueue(tx, tenantId, queueKey)
        if (!removed) throw new AppError('not_found', 'The queue has no settings of its own.')
        const told = { before: removed, at: new Date(clock.now()) }
        await audit(tx, { by, action: 'operator_queue.deleted', tenantId, targetId: queueKey, ...told })
        return removed
      }),
  }
}

/** Until when the clocks of queues with hours have run, as far as that makes a difference. */
async function clocksAcrossTenants(db: Db, now: Date): Promise<(QueueClock & { tenantId: TenantId })[]> {
  const clocks: (QueueClock & { tenantId: TenantId })[] = []
  for (const { timezone, business_hours, tenant_ids, keys } of await listQueuesByHoursAcrossTenants(db, now)) {
    const until = lastOpenAt({ compliance: { timezone } }, { timezone, business_hours }, now)
    for (const [at, queueKey] of keys.entries()) {
      const tenantId = tenant_ids[at]
      if (tenantId !== undefined) clocks.push({ tenantId, queueKey, until })
    }
    await othersFirst()
  }
  return clocks
}

/** How many are late stands where other lists have an instant, and neither key has a plus in it. */
function positionOf({ breached, tenant_id, queue_key }: LateRank): PagePosition {
  return { createdAt: new Date(breached), id: `${tenant_id}+${queue_key}` }
}

/** @throws AppError `invalid_request` for the cursor of another list. */
function rankAt({ createdAt, id }: PagePosition): LateRank {
  const [tenantId, queueKey] = id.split('+')
  if (!tenantId || !queueKey) throw foreignCursor()
  return { tenant_id: tenantId as TenantId, queue_key: queueKey, breached: createdAt.getTime() }
}

/** What is wrong with settings that their schema cannot tell. */
async function faultsOf(tx: Tx, tenantId: TenantId, settings: QueueSettings): Promise<FaultDetail[]> {
  const { dispatch_agent_key: agentKey, timezone, business_hours: hours } = settings
  const isUnknown = agentKey !== null && !(await hasAgentKey(tx, tenantId, agentKey))
  const found: [path: string, message: string | null][] = [
    ['timezone', timezone === null ? null : timeZoneFault(timezone)],
    ['dispatch_agent_key', isUnknown ? 'is not the key of an agent of the tenant' : null],
    ['sla_minutes', reachesSla(settings) ? null : 'must be open minutes of 100 days: the queue opens for less'],
    ...hours.map((span, index): [string, string | null] => [`business_hours/${index}`, callingHoursFault(span)]),
  ]
  return found.flatMap(([path, message]) => (message === null ? [] : [{ path: `/body/${path}`, message }]))
}
