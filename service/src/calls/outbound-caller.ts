import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type NamedAgent, namedAgent } from './named-agent.ts'
import { expectOwnNumber } from './own-number.ts'
import { findOutboundRoute } from './phone-route-store.ts'

/** Where a call comes from and who speaks in it. */
export type OutboundCaller = { from: PhoneNumber; agent: ResolvedAgent }

type Given = NamedAgent & { from: PhoneNumber | null; to: PhoneNumber }

/**
 * Finds what a request to place a call leaves open: the number of the route that is the outbound default, else that of the
 * tenant's document; the agent of that route, with the shares of its rollout, else the document's own. An agent that is named
 * by its key speaks by its published version, unless its shares are to count (`caller`).
 *
 * @throws AppError `missing_route` when there is no number, `invalid_request` for a number that is not the tenant's and for an
 *   agent that it does not have.
 */
export async function outboundCaller(
  { db, resolveAgent }: { db: Db; resolveAgent: ResolveAgent },
  tenant: TenantRuntime,
  given: Given,
): Promise<OutboundCaller> {
  const isNamed = given.agentKey !== null || given.versionId !== null
  const route = isNamed && given.from !== null ? null : await findOutboundRoute(db, tenant.tenant_id)
  const from = given.from ?? route?.phone_number ?? tenant.telephony.from_number
  if (from === null) throw missingRoute('/body/from')
  if (given.from !== null) await expectOwnNumber(db, tenant, given.from)
  if (isNamed) return { from, agent: await namedAgent(resolveAgent, tenant, given) }
  const agent = await resolveAgent(tenant, route && { agentKey: route.agent_key, caller: given.to })
  if (!agent) throw invalidRequest([{ path: '/body/agent_key', message: 'is required: no agent speaks by default' }])
  return { from, agent }
}

/** There is no number to call from. @param path where in the request one could be given; empty where it could not. */
export function missingRoute(path: string): AppError {
  const message = 'There is no number to call from: give from, or make a phone route the outbound default.'
  return new AppError('missing_route', message, { details: [{ path, message }] })
}
