import type { AgentVersions } from './agents/agent-versions.ts'
import type { Agents } from './agents/agents.ts'
import type { PhoneRoutes } from './calls/phone-routes.ts'
import { THE_SYSTEM } from './kernel/actor.ts'
import { AppError } from './kernel/errors.ts'
import type { AgentId, TenantId } from './kernel/ids.ts'
import type { PhoneNumber } from './kernel/phone.ts'
import type { Db } from './platform/db/schema.ts'
import type { AgentVersionConfig } from './tenancy/agent-config.ts'
import { hasMark, setMark } from './tenancy/installation-store.ts'
import type { Tenants } from './tenancy/tenants.ts'

/** What a new installation can be tried with. The number is one of those kept for fiction. */
export const DEMO = {
  tenantId: 'demo' as TenantId,
  agentKey: 'front-desk',
  phoneNumber: '+12025550100' as PhoneNumber,
}

/** Of an installation that has had its demo. */
export const DEMO_MARK = 'demo'

const CONFIG: AgentVersionConfig = {
  agent_name: 'Robin',
  assistant_profile: 'You are Robin, the friendly front desk of the Demo Company. You speak in short sentences.',
  greeting: 'Hello, this is Robin at the Demo Company. How can I help you?',
  instructions:
    'Answer questions about the company: it is open on weekdays from nine to five and sells garden chairs. ' +
    'Offer to have somebody call back when you do not know an answer. When the caller is done, say goodbye and end the call.',
}

type Deps = { db: Db; tenants: Tenants; agents: Agents; versions: AgentVersions; phoneRoutes: PhoneRoutes }

/** Whether the demo tenant is there. */
export async function hasDemo(tenants: Tenants): Promise<boolean> {
  return tenants.get(DEMO.tenantId).then(
    () => true,
    () => false,
  )
}

/**
 * Makes the demo tenant with an agent that answers a number, once in the life of an installation: whoever deletes it does
 * not find it again. A start that is killed half way goes on where it stopped, because each part is made if it is missing.
 */
export async function makeDemoOnce({ db, tenants, agents, versions, phoneRoutes }: Deps): Promise<void> {
  if (await hasMark(db, DEMO_MARK)) return
  const { tenantId, agentKey, phoneNumber } = DEMO
  await unlessThere('precondition_failed', () =>
    tenants.put(tenantId, { tenant_id: tenantId, name: 'Demo Company' }, { ifNoneMatch: '*' }, THE_SYSTEM),
  )
  await unlessThere('conflict', () =>
    agents.create(tenantId, { agentKey, name: 'Front desk', description: 'Answers the demo number.' }, THE_SYSTEM),
  )
  await publishFirstVersion(agents, versions)
  const route = {
    phone_number: phoneNumber,
    agent_key: agentKey,
    label: 'Demo',
    inbound_enabled: true,
    outbound_default: true,
  }
  await unlessThere('conflict', () => phoneRoutes.create(tenantId, route, THE_SYSTEM))
  await setMark(db, DEMO_MARK)
}

async function publishFirstVersion(agents: Agents, versions: AgentVersions): Promise<void> {
  const firstPage = { limit: 1, offset: 0, after: null }
  const { rows } = await agents.list(DEMO.tenantId, firstPage)
  const agentId = rows[0]?.id as AgentId
  const known = await versions.list(DEMO.tenantId, agentId, firstPage)
  const version = known.rows[0] ?? (await versions.create(DEMO.tenantId, agentId, CONFIG, THE_SYSTEM))
  await versions.publish(DEMO.tenantId, version.id, THE_SYSTEM)
}

async function unlessThere(code: AppError['code'], make: () => Promise<unknown>): Promise<void> {
  try {
    await make()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== code) throw error
  }
}
