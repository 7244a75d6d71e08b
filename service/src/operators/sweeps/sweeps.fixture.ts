import type { TestClock } from '../../../test/harness/clock.ts'
import type { TestDatabase } from '../../../test/harness/database.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Db } from '../../platform/db/schema.ts'
import { makeLog } from '../../platform/log.ts'
import { storedEvents, tenantTold } from '../../records/calls.fixture.ts'
import { makeCredentials } from '../../tenancy/credentials.ts'
import { tenantByToken } from '../../tenancy/token-filter.ts'
import type { TaskFields } from '../add-callback-task.ts'
import { makeTaskDesk } from '../callback-task-desk.ts'
import { findCallbackTask } from '../callback-task-store.ts'
import { putQueue, QUEUE_DEFAULTS, type QueueSettings } from '../operator-queue-store.ts'
import { type Sweeps, sweepRoutes } from './sweep-routes.ts'

export const ACME = 'acme' as TenantId
const log = makeLog({ level: 'silent', secrets: [] })
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const TASK: TaskFields = {
  ...{ customer_phone: '+12025550101' as PhoneNumber, queue_key: 'default', agent_name: null, summary: null },
  ...{ notes: null, priority: 'normal', due_at: null, sla_due_at: null, stream_sid: null, call_sid: null },
  ...{ metadata: {}, created_by: null },
}

/** Sweeps that a test does not ask for. */
const never = () => Promise.reject(new Error('this sweep is not asked for here'))

/** What a test of a sweep does to the tasks of tenants that want to be told everything. */
export function sweepBench(test: TestDatabase, clock: () => TestClock) {
  const now = () => new Date(clock().now())
  const desk = () => makeTaskDesk({ db: test.db, clock: clock(), log, tenants })
  return {
    desk,
    /** What every sweep needs. */
    known: (db: Db = test.db) => ({ db, clock: clock(), log, tenants, isStopping: () => false }),
    /** The routes of these sweeps, behind the real look at tokens. */
    routes(sweeps: Partial<Sweeps>) {
      const credentials = makeCredentials({ db: test.db, clock: systemClock, log, legacyEnabled: true })
      const all = { sla: never, followUps: never, dispatches: never, tickets: never, ...sweeps }
      return sweepRoutes({ sweeps: all, tenantBy: tenantByToken(credentials) })
    },
    create: async (facts: Partial<TaskFields> = {}, tenant = ACME) =>
      (await desk().create(tenant, { ...TASK, ...facts }, null)).task,
    read: (id: string) => findCallbackTask(test.db, ACME, id as never),
    setQueue: (settings: Partial<QueueSettings>) =>
      test.db
        .transaction()
        .execute((tx) => putQueue(tx, ACME, { ...QUEUE_DEFAULTS, queue_key: 'default', ...settings }, now())),
    /** The events of these names that tenants are told. */
    told: async (...names: string[]) => (await storedEvents(test.db)).filter(({ event }) => names.includes(event)),
    /** What was done to a task last. */
    newestChange: async (id: string) => {
      const { rows } = await desk().history(ACME, id as never, { limit: 1, offset: 0, after: null })
      return rows[0]
    },
  }
}
