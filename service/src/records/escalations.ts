import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { lockRecord } from './call-store.ts'
import { changeCall } from './change-call.ts'

/** Notes which calls a person was asked to look after. */
export type Escalations = {
  /**
   * Marks a call as escalated, and tells the tenant so the first time; a further one changes whom it was escalated to.
   *
   * @param target who is to look after it, in the tenant's words; null for nobody in particular.
   * @throws AppError `not_found` when the tenant has no such call.
   */
  escalate(tenantId: TenantId, callSid: string, target: string | null): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

export function makeEscalations({ db, clock, tenants }: Deps): Escalations {
  return {
    async escalate(tenantId, callSid, target) {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const tenant = await knownTenant(tenants, tenantId)
      await db.transaction().execute(async (tx) => {
        const locked = await lockRecord(tx, tenantId, callSid)
        if (!locked) throw new AppError('not_found', 'There is no such call.')
        await changeCall(tx, tenant, {
          ...locked,
          now: new Date(clock.now()),
          change: ({ log, session }) => ({ log: { ...log, escalated: true, escalation_target: target }, session }),
        })
      })
    },
  }
}
