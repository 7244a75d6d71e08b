import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { audit } from './audit-log.ts'

type Deps = { db: Db; clock: Clock }
type Act = { by: Actor; tenantId: TenantId; method: string; path: string }

/** Makes what writes down that an administrator of the installation did something in a tenant's place. */
export function makeActNotes({ db, clock }: Deps): (act: Act) => Promise<void> {
  return async ({ by, tenantId, method, path }) => {
    const change = { by, action: 'tenant.acted_for', tenantId, targetId: null, after: { method, path } }
    await db.transaction().execute((tx) => audit(tx, { ...change, at: new Date(clock.now()) }))
  }
}
