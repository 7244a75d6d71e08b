import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { type AgentId, newId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import { uniqueViolation } from '../platform/db/errors.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { expectTenant, holdKnownTenant } from '../tenancy/known-tenant.ts'
import {
  AGENT_KEY_CONSTRAINT,
  type AgentChange,
  type AgentRow,
  insertAgent,
  listAgents,
  lockAgent,
  updateAgent,
} from './agent-store.ts'
import { unknownAgent } from './unknown-agent.ts'

/** What a new agent is made of. */
type NewAgent = { agentKey: string; name: string; description: string; requireSimulation?: boolean }

/** The agents of tenants: who may answer and place calls. */
export type Agents = {
  /** Newest first. @throws AppError `not_found` for an unknown tenant. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<AgentRow>>
  /** @throws AppError `not_found` for an unknown tenant, `conflict` when it has an agent of that key. */
  create(tenantId: TenantId, agent: NewAgent, by: Actor): Promise<AgentRow>
  /** @throws AppError `not_found` for an unknown tenant or agent. */
  change(tenantId: TenantId, agentId: AgentId, change: AgentChange, by: Actor): Promise<AgentRow>
}

export function makeAgents({ db, clock }: { db: Db; clock: Clock }): Agents {
  async function createIn(tx: Tx, tenantId: TenantId, asked: NewAgent, by: Actor): Promise<AgentRow> {
    const { agentKey, name, description, requireSimulation = false } = asked
    await holdKnownTenant(tx, tenantId)
    const now = new Date(clock.now())
    const id = newId<AgentId>(now.getTime())
    const given = { agent_key: agentKey, name, description, require_simulation: requireSimulation }
    const agent = { id, ...given, created_at: now, updated_at: now }
    const row = await insertAgent(tx, tenantId, agent)
    await audit(tx, { by, action: 'agent.created', tenantId, targetId: id, after: given, at: now })
    return row
  }

  type Change = { tenantId: TenantId; agentId: AgentId; change: AgentChange; by: Actor }

  async function changeIn(tx: Tx, { tenantId, agentId, change, by }: Change): Promise<AgentRow> {
    await holdKnownTenant(tx, tenantId)
    const before = isUuid(agentId) ? await lockAgent(tx, tenantId, agentId) : null
    if (!before) throw unknownAgent()
    const at = new Date(clock.now())
    const row = await updateAgent(tx, tenantId, agentId, { ...change, updated_at: at })
    const told = { before: shown(before), after: shown(row), at }
    await audit(tx, { by, action: 'agent.changed', tenantId, targetId: agentId, ...told })
    return row
  }

  return {
    async list(tenantId, page) {
      const rows = await listAgents(db, tenantId, page)
      if (rows.length === 0) await expectTenant(db, tenantId)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async create(tenantId, agent, by) {
      try {
        return await db.transaction().execute((tx) => createIn(tx, tenantId, agent, by))
      } catch (error) {
        if (uniqueViolation(error) !== AGENT_KEY_CONSTRAINT) throw error
        throw new AppError('conflict', `The tenant has an agent ${agent.agentKey} already.`)
      }
    },
    change: (tenantId, agentId, change, by) =>
      db.transaction().execute((tx) => changeIn(tx, { tenantId, agentId, change, by })),
  }
}

/** As the audit log tells it. */
function shown({ agent_key, name, description, require_simulation }: AgentRow) {
  return { agent_key, name, description, require_simulation }
}
