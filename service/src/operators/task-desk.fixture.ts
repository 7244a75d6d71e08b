import { beforeEach } from 'vitest'
import type { TestClock } from '../../test/harness/clock.ts'
import { makeTenantWithToken, type TenantServer, useTenantServer } from '../../test/harness/tenant-server.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeLog } from '../platform/log.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import { callbackTaskActionRoutes } from './callback-task-action-routes.ts'
import { makeTaskDesk } from './callback-task-desk.ts'
import { callbackTaskRoutes } from './callback-task-routes.ts'

const tenants = { get: async (id: TenantId) => tenantTold(id) }
const log = makeLog({ level: 'silent', secrets: [] })
const nobodyDials = () => Promise.reject(new Error('nothing is dispatched here'))

/** Gives a test file the routes of callback tasks, of which none is dispatched, and before each test the tenants acme and globex. */
export function useTaskDesk(test: { db: Db }, clock: TestClock): TenantServer {
  const server = useTenantServer(
    () => test.db,
    () => {
      const desk = makeTaskDesk({ db: test.db, clock, log, tenants })
      return [callbackTaskRoutes(desk), callbackTaskActionRoutes({ desk, dispatch: nobodyDials })]
    },
  )
  beforeEach(async () => {
    for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
  })
  return server
}
