import type { ResolveAgent } from '../agents/resolve.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db } from '../platform/db/schema.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { DialGate, DialRefusal } from './dial-gate.ts'
import { namedAgent } from './named-agent.ts'
import { expectOwnNumber } from './own-number.ts'

/** A call of which somebody wants to know whether it may be placed. */
export type CheckedDial = {
  to: PhoneNumber
  from: PhoneNumber | null
  agentKey: string | null
  metadata: Record<string, unknown>
}

/**
 * All that speaks against a call that would be placed now, the gravest first. Nothing is written, and nothing is promised for
 * a moment later.
 *
 * @throws AppError `invalid_request` for a `from` that the tenant does not have, and for an agent that has nothing to speak by.
 */
export type DialCheck = (tenantId: TenantId, dial: CheckedDial) => Promise<DialRefusal[]>

type Deps = {
  db: Db
  gate: DialGate
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
}

export function makeDialCheck({ db, gate, tenants, resolveAgent }: Deps): DialCheck {
  return async (tenantId, dial) => {
    const tenant = await knownTenant(tenants, tenantId)
    const { to, from, agentKey, metadata } = dial
    if (from !== null) await expectOwnNumber(db, tenant, from)
    if (agentKey !== null) await namedAgent(resolveAgent, tenant, { agentKey, versionId: null })
    return gate.check(db, tenant, { to, from, metadata, kind: 'make_call' })
  }
}
