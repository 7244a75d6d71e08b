import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { AgentVersionConfig } from '../tenancy/agent-config.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { makeAgentVersions } from './agent-versions.ts'
import { makeAgents } from './agents.ts'
import { makeResolveAgent, type ResolveAgent } from './resolve.ts'

const test = useDatabase()
let clock: TestClock
let resolveAgent: ResolveAgent
let told: unknown[]
let acme: TenantRuntime
let agentId: AgentId

beforeEach(async () => {
  clock = new TestClock()
  told = []
  resolveAgent = makeResolveAgent({ db: test.db, clock, log: { error: (fields: unknown) => told.push(fields) } })
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  acme = tenant('acme', { instructions: 'Take messages.' })
  agentId = await makeAgent(acme, 'support')
})

function tenant(id: string, agent: AgentVersionConfig | null): TenantRuntime {
  const document = { tenant_id: id as TenantId, name: 'Acme Dental', agent }
  return toRuntime(document, { account_sid: null, auth_token: null, from_number: null })
}

async function makeAgent({ tenant_id }: TenantRuntime, agentKey: string): Promise<AgentId> {
  const agents = makeAgents({ db: test.db, clock })
  return (await agents.create(tenant_id, { agentKey, name: 'Support desk', description: '' }, THE_SYSTEM)).id
}

async function draft(config: AgentVersionConfig): Promise<AgentVersionId> {
  return (await makeAgentVersions({ db: test.db, clock }).create(acme.tenant_id, agentId, config, THE_SYSTEM)).id
}

async function publish(config: AgentVersionConfig): Promise<AgentVersionId> {
  const id = await draft(config)
  await makeAgentVersions({ db: test.db, clock }).publish(acme.tenant_id, id, THE_SYSTEM)
  return id
}

const SUPPORT = { agentKey: 'support' }

describe('an agent named by its key', () => {
  it('speaks by its published version, with every default applied', async () => {
    const versionId = await publish({ agent_name: 'Robin', greeting: 'Hello.' })
    await draft({ greeting: 'Not yet.' })
    const agent = await resolveAgent(acme, SUPPORT)
    expect(agent).toMatchObject({ agentId, agentKey: 'support', versionId, versionNumber: 1, agentName: 'Robin' })
    expect(agent?.config).toMatchObject({ greeting: 'Hello.', model_stall_ms: 6_000, voicemail: { action: 'hang_up' } })
  })

  it('goes on as it was while what is published cannot be read, which the log tells once', async () => {
    await publish({ greeting: 'Hello.' })
    await resolveAgent(acme, SUPPORT)
    const next = await publish({ greeting: 'Welcome.' })
    const write = (config: string) =>
      sql`update agent_versions set config = ${config}::jsonb where id = ${next}`.execute(test.db)
    await write('null')
    for (let time = 0; time < 3; time += 1) {
      await clock.advance(1_000)
      expect((await resolveAgent(acme, SUPPORT))?.config.greeting).toBe('Hello.')
    }
    expect(told).toEqual([{ err: expect.any(TypeError), agent: 'acme key support' }])
    await write('{"greeting": "Welcome."}')
    await clock.advance(1_000)
    expect((await resolveAgent(acme, SUPPORT))?.config.greeting).toBe('Welcome.')
  })

  it('is called by its own name when the version gives it none', async () => {
    await publish({})
    expect(await resolveAgent(acme, SUPPORT)).toMatchObject({ agentName: 'Support desk' })
  })

  it.each([['support'], ['unknown']])('falls back on the agent of the document: %s', async (agentKey) => {
    await draft({ greeting: 'Not yet.' })
    expect(await resolveAgent(acme, { agentKey })).toMatchObject({
      ...{ agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Acme Dental' },
      config: { instructions: 'Take messages.' },
    })
  })

  it('is nobody when the document has no agent either', async () => {
    expect(await resolveAgent(tenant('acme', null), SUPPORT)).toBeNull()
  })

  it.each(['a\0b', '\ud800', 'Support', ' '])('is nobody where no agent can have the key: %j', async (agentKey) => {
    expect(await resolveAgent(acme, { agentKey })).toMatchObject({ agentKey: null, agentName: 'Acme Dental' })
    expect(await resolveAgent(tenant('acme', null), { agentKey })).toBeNull()
  })

  it("is never another tenant's", async () => {
    await publish({ greeting: 'Hello.' })
    expect(await resolveAgent(tenant('globex', null), SUPPORT)).toBeNull()
  })

  it('is known by its version, too, without another look', async () => {
    const versionId = await publish({ greeting: 'Hello.' })
    const byKey = await resolveAgent(acme, SUPPORT)
    await test.db.deleteFrom('agents').where('id', '=', agentId).execute()
    expect(await resolveAgent(acme, { versionId })).toBe(byKey)
    await clock.advance(1_000)
    expect(await resolveAgent(acme, { versionId })).toBeNull()
  })

  it('speaks by a new version a second after that was published', async () => {
    await publish({ greeting: 'First.' })
    const greeting = async () => (await resolveAgent(acme, SUPPORT))?.config.greeting
    expect(await greeting()).toBe('First.')
    await publish({ greeting: 'Second.' })
    expect(await greeting()).toBe('First.')
    await clock.advance(1_000)
    expect(await greeting()).toBe('Second.')
  })
})

describe('an agent version named by its id', () => {
  it('speaks, draft or not', async () => {
    const versionId = await draft({ greeting: 'Try me.' })
    expect(await resolveAgent(acme, { versionId })).toMatchObject({ versionId, config: { greeting: 'Try me.' } })
  })

  it("is nobody's when it is unknown, no id, or another tenant's", async () => {
    const versionId = await draft({})
    const unknown = ['0190a000-0000-7000-8000-000000000000', 'first'] as AgentVersionId[]
    for (const id of unknown) expect(await resolveAgent(acme, { versionId: id })).toBeNull()
    expect(await resolveAgent(tenant('globex', {}), { versionId })).toBeNull()
  })
})

describe('nobody in particular', () => {
  it('is the agent of the document, or its absence', async () => {
    expect(await resolveAgent(acme, null)).toMatchObject({ agentKey: null, agentName: 'Acme Dental' })
    expect(await resolveAgent(tenant('acme', { agent_name: 'Kim' }), null)).toMatchObject({ agentName: 'Kim' })
    expect(await resolveAgent(tenant('acme', null), null)).toBeNull()
  })
})
