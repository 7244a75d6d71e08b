import { sql } from 'kysely'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { prepared } from '../platform/db/prepared.ts'
import type { Db } from '../platform/db/schema.ts'
import type { SessionId } from '../records/call-values.ts'

/** Who holds a number, and who answers it: null when it has no route that takes calls. */
export type DialledNumber = { tenantId: TenantId; agentKey: string | null }

/** The number that somebody dialled; null when no tenant holds it. A look-up over all tenants. */
export async function findDialledAcrossTenants(db: Db, number: PhoneNumber): Promise<DialledNumber | null> {
  const row = await db
    .selectFrom('phone_numbers as held')
    .leftJoin('phone_routes as route', (join) =>
      join
        .onRef('route.tenant_id', '=', 'held.tenant_id')
        .onRef('route.phone_number', '=', 'held.phone_number')
        .on('route.inbound_enabled', '=', true),
    )
    .select(['held.tenant_id as tenantId', 'route.agent_key as agentKey'])
    .where('held.phone_number', '=', number)
    .executeTakeFirst()
  return row ?? null
}

/** A call of the directory. */
export type KnownCall = { tenantId: TenantId; sessionId: SessionId; owner: NodeId | null }

/** Whose call this is; null when it is nobody's. A look-up over all tenants. */
export async function findCallAcrossTenants(db: Db, callSid: string): Promise<KnownCall | null> {
  const statement = sql<KnownCall>`
    select tenant_id as "tenantId", session_id as "sessionId", owner from call_directory where call_sid = ${callSid}`
  const { rows } = await prepared('call', statement).execute(db)
  return rows[0] ?? null
}

/** Each is one more signature to try. */
const MAX_TENANTS = 20

/** Tenants whose documents name this carrier account; 20 at most. */
export async function findAccountTenantsAcrossTenants(db: Db, accountSid: string): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where(sql<boolean>`document #>> '{telephony,account_sid}' = ${accountSid}`)
    .orderBy('tenant_id')
    .limit(MAX_TENANTS)
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}
