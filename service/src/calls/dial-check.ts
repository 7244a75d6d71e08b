import { hasAgentKey } from '../agents/agent-store.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { findHolder } from '../tenancy/phone-number-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { DialGate, DialRefusal } from './dial-gate.ts'

/** A call of which somebody wants to know whether it may be placed. */
export type CheckedDial = { to: PhoneNumber; from: PhoneNumber | null; agentKey: string | null }

/**
 * All that speaks against a call that would be placed now, the gravest first. Nothing is written, and nothing is promised for
 * a moment later.
 *
 * @throws AppError `invalid_request` for a `from` or an agent that the tenant does not have.
 */
export type DialCheck = (tenantId: TenantId, dial: CheckedDial) => Promise<DialRefusal[]>

type Deps = { db: Db; gate: DialGate; tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> } }

export function makeDialCheck({ db, gate, tenants }: Deps): DialCheck {
  return async (tenantId, dial) => {
    const tenant = await tenants.get(tenantId)
    if (!tenant) throw new AppError('not_found', 'There is no such tenant.')
    return db
      .transaction()
      .setAccessMode('read only')
      .execute(async (tx) => {
        await expectOwn(tx, tenant, dial)
        return gate.refusals(tx, tenant, { to: dial.to, from: dial.from, metadata: {}, kind: 'make_call' })
      })
  }
}

async function expectOwn(tx: Tx, { tenant_id, telephony }: TenantRuntime, dial: CheckedDial): Promise<void> {
  const { from, agentKey } = dial
  if (from !== null && from !== telephony.from_number && (await findHolder(tx, from)) !== tenant_id) {
    throw invalidRequest([{ path: '/body/from', message: 'is not a number of the tenant' }])
  }
  if (agentKey !== null && !(await hasAgentKey(tx, tenant_id, agentKey))) {
    throw invalidRequest([{ path: '/body/agent_key', message: 'is not the key of an agent of the tenant' }])
  }
}
