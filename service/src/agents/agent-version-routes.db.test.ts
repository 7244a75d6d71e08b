import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someText, someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { agentVersionRoutes } from './agent-version-routes.ts'
import { makeAgentVersions } from './agent-versions.ts'
import { makeAgents } from './agents.ts'

type VersionAnswer = { version: { id: string; agent_id: string; version_number: number; status: string; etag: string } }

type Listed = { etag: string; config: { voice: string } }

const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const CONFIG = {
  agent_name: 'Robin',
  assistant_profile: 'A calm receptionist.',
  chat_model: 'chat-1',
  greeting: 'Hello, this is Robin.',
  instructions: 'Book appointments.',
  realtime_model: 'realtime-1',
  voice: 'marin',
}

const test = useDatabase()
const admin = useAdminServer(() => [agentVersionRoutes(makeAgentVersions({ db: test.db, clock: systemClock }))])
let acme: TenantId
let agentId: string
let foreignAgentId: string

beforeEach(async () => {
  const agents = makeAgents({ db: test.db, clock: systemClock })
  acme = await makeTenant(test.db, 'acme')
  const globex = await makeTenant(test.db, 'globex')
  const agent = { agentKey: 'support', name: 'Support', description: '' }
  agentId = (await agents.create(acme, agent, THE_SYSTEM)).id
  foreignAgentId = (await agents.create(globex, agent, THE_SYSTEM)).id
})

function draft(tenant: string, ofAgent: string, config: unknown = CONFIG) {
  const body = { agent_id: ofAgent, config }
  return admin.call<VersionAnswer>('POST', `/tenants/${tenant}/agent-versions`, { body })
}

async function draftId(tenant: string, ofAgent: string): Promise<string> {
  return (await draft(tenant, ofAgent)).body.version.id
}

describe('POST agent-versions', () => {
  it('answers the draft', async () => {
    const { status, body } = await draft('acme', agentId, { ...CONFIG, metadata: { 'a\nb': [1, { c: null }] } })
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        version: {
          id: someUuid,
          tenant_id: 'acme',
          agent_id: agentId,
          agent_key: 'support',
          agent_name: 'Support',
          version_number: 1,
          status: 'draft',
          config: { ...CONFIG, metadata: { 'a\nb': [1, { c: null }] } },
          etag: someText(/^"[0-9a-f]{32}"$/),
          created_at: someInstant,
          updated_at: someInstant,
          published_at: null,
        },
      },
    ])
  })

  it.each([
    ['no config', { agent_id: UNKNOWN_ID }, '/body/config'],
    ['no agent', { config: {} }, '/body/agent_id'],
    ['an unknown field', { agent_id: UNKNOWN_ID, config: {}, status: 'published' }, '/body/status'],
    ['an unknown setting', { agent_id: UNKNOWN_ID, config: { colour: 'blue' } }, '/body/config/colour'],
    ['an unknown nested one', { agent_id: UNKNOWN_ID, config: { dtmf: { beep: true } } }, '/body/config/dtmf/beep'],
    ['a text that is none', { agent_id: UNKNOWN_ID, config: { voice: null } }, '/body/config/voice'],
    [
      'instructions too long',
      { agent_id: UNKNOWN_ID, config: { instructions: 'x'.repeat(32_001) } },
      '/body/config/instructions',
    ],
    ['a NUL', { agent_id: UNKNOWN_ID, config: { greeting: 'a\0b' } }, '/body/config/greeting'],
    [
      'what only the rules know',
      { agent_id: UNKNOWN_ID, config: { turn_detection: { eagerness: 'low' } } },
      '/body/config/turn_detection/eagerness',
    ],
  ])('refuses %s and names it', async (_what, body, path) => {
    const answer = await admin.call('POST', '/tenants/acme/agent-versions', { body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
  })

  it('names the field in the sentence as every other refusal does', async () => {
    const answer = await draft('acme', UNKNOWN_ID, { turn_detection: { eagerness: 'low' } })
    expect(answer.body).toMatchObject({ error: 'config.turn_detection.eagerness is not a setting of server_vad.' })
  })

  it("knows neither another tenant's agent, nor an unknown agent or tenant", async () => {
    for (const answer of [
      await draft('acme', foreignAgentId),
      await draft('acme', UNKNOWN_ID),
      await draft('acme', 'support'),
      await draft('nobody', agentId),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })
})

describe('GET agent-versions', () => {
  it("lists the tenant's versions, of one agent if asked", async () => {
    await draft('globex', foreignAgentId)
    await draft('acme', agentId)
    const path = '/tenants/acme/agent-versions'
    for (const query of ['', `?agent_id=${agentId}`]) {
      expect(await admin.call('GET', path + query)).toMatchObject({
        status: 200,
        body: { ok: true, count: 1, next_cursor: null, versions: [{ agent_id: agentId, config: CONFIG }] },
      })
    }
  })

  it("is 404 for another tenant's agent and for no tenant, 400 for an id that is none", async () => {
    await draft('globex', foreignAgentId)
    const path = '/tenants/acme/agent-versions'
    expect(await admin.call('GET', `${path}?agent_id=${foreignAgentId}`)).toMatchObject({ status: 404 })
    expect(await admin.call('GET', `${path}?agent_id=support`)).toMatchObject({
      status: 400,
      body: { details: [{ path: '/query/agent_id' }] },
    })
    expect(await admin.call('GET', '/tenants/nobody/agent-versions')).toMatchObject({ status: 404 })
  })
})

describe('names of tools', () => {
  it('are told where they are of no tool, whoever writes or publishes them, and taken all the same', async () => {
    const tools = [
      { type: 'http', name: 'order_status', url: 'https://api.example.com/' },
      { type: 'mcp', name: 'orders', url: 'https://mcp.example.com/' },
    ]
    const document = JSON.stringify({ tenant_id: 'acme', name: 'Acme', tools })
    await test.db.updateTable('tenants').set({ document }).where('tenant_id', '=', acme).execute()
    const sound = { tools: ['end_call', 'order_status', 'orders', 'orders__look_up'] }
    expect((await draft('acme', agentId, sound)).body).not.toHaveProperty('warnings')

    const wrong = { tools: [...sound.tools, 'order_staus'] }
    const told = { warnings: [expect.stringMatching(/^tools names order_staus, which is no built-in tool/)] }
    const { status, body } = await draft('acme', agentId, wrong)
    expect([status, body]).toMatchObject([200, told])
    const path = `/tenants/acme/agent-versions/${body.version.id}`
    expect(await admin.call('PATCH', path, { body: { config: wrong } })).toMatchObject({ status: 200, body: told })
    expect(await admin.call('POST', `${path}/publish`)).toMatchObject({ status: 200, body: told })
  })
})

describe('PATCH agent-versions/:version_id', () => {
  it('replaces the config of a draft', async () => {
    const id = await draftId('acme', agentId)
    const answer = await admin.call('PATCH', `/tenants/acme/agent-versions/${id}`, {
      body: { config: { voice: 'cedar' } },
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { ok: true, version: { id, config: { voice: 'cedar', greeting: '' } } },
    })
  })

  it('writes over what If-Match names, and not over what somebody else has written meanwhile', async () => {
    const id = await draftId('acme', agentId)
    const read = async () => {
      const { body } = await admin.call<{ versions: Listed[] }>(
        'GET',
        `/tenants/acme/agent-versions?agent_id=${agentId}`,
      )
      return body.versions[0]
    }
    const write = (voice: string, etag = '') =>
      admin.call<{ version: Listed }>('PATCH', `/tenants/acme/agent-versions/${id}`, {
        ...{ body: { config: { voice } }, headers: { 'if-match': etag } },
      })
    const known = (await read())?.etag
    const theirs = await write('cedar', known)
    expect(theirs).toMatchObject({ status: 200, body: { version: { config: { voice: 'cedar' } } } })
    expect(await write('ash', known)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await read()).toEqual(theirs.body.version)
    expect((await write('ash', theirs.body.version.etag)).status).toBe(200)
    expect((await write('verse', '*')).status).toBe(200)
  })

  it('is a conflict once the version was published', async () => {
    const id = await draftId('acme', agentId)
    await admin.call('POST', `/tenants/acme/agent-versions/${id}/publish`)
    const answer = await admin.call('PATCH', `/tenants/acme/agent-versions/${id}`, { body: { config: {} } })
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })

  it.each([
    ['no config', {}, '/body/config'],
    ['an unknown field', { config: {}, agent_id: UNKNOWN_ID }, '/body/agent_id'],
    ['faulty criteria', { config: { criteria: [{ name: 'tone' }, { name: 'tone' }] } }, '/body/config/criteria/1'],
  ])('refuses %s and names it', async (_what, body, path) => {
    const id = await draftId('acme', agentId)
    const answer = await admin.call('PATCH', `/tenants/acme/agent-versions/${id}`, { body })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })
})

describe('POST agent-versions/:version_id/publish', () => {
  it('answers the published version, and the same when repeated', async () => {
    const id = await draftId('acme', agentId)
    const first = await admin.call('POST', `/tenants/acme/agent-versions/${id}/publish`)
    expect(first).toMatchObject({
      status: 200,
      body: { ok: true, version: { id, status: 'published', published_at: someInstant } },
    })
    expect(await admin.call('POST', `/tenants/acme/agent-versions/${id}/publish`)).toEqual(first)
  })

  it('publishes what If-Match names, and not what somebody else has written meanwhile', async () => {
    const { id, etag: known } = (await draft('acme', agentId)).body.version
    const path = `/tenants/acme/agent-versions/${id}`
    const body = { config: { greeting: 'Unseen.' } }
    const { etag } = (await admin.call<VersionAnswer>('PATCH', path, { body })).body.version
    const publish = (tag: string) =>
      admin.call<VersionAnswer>('POST', `${path}/publish`, { headers: { 'if-match': tag } })
    expect(await publish(known)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    const { body: listed } = await admin.call('GET', `/tenants/acme/agent-versions?agent_id=${agentId}`)
    expect(listed).toMatchObject({ versions: [{ id, status: 'draft' }] })
    const published = { status: 200, body: { version: { id, status: 'published', config: { greeting: 'Unseen.' } } } }
    expect(await publish(etag)).toMatchObject(published)
    // Whoever else has published it meanwhile: what is live now is not what was seen.
    expect((await publish(known)).status).toBe(412)
    expect(await publish('*')).toMatchObject(published)
  })
})

describe('the agent version routes', () => {
  it.each([
    ['PATCH', ''],
    ['POST', '/publish'],
  ] as const)(
    "reach no other tenant's version, no unknown one and no unknown tenant with %s",
    async (method, suffix) => {
      const foreign = await draftId('globex', foreignAgentId)
      const body = method === 'PATCH' ? { config: {} } : undefined
      for (const path of [
        `/tenants/acme/agent-versions/${foreign}`,
        `/tenants/acme/agent-versions/${UNKNOWN_ID}`,
        '/tenants/acme/agent-versions/first',
        `/tenants/nobody/agent-versions/${foreign}`,
      ]) {
        expect(await admin.call(method, path + suffix, { body })).toMatchObject({
          status: 404,
          body: { code: 'not_found' },
        })
      }
      const { body: list } = await admin.call('GET', '/tenants/globex/agent-versions')
      expect(list).toMatchObject({ versions: [{ id: foreign, status: 'draft', config: CONFIG }] })
    },
  )

  it.each([
    ['GET', '/tenants/acme/agent-versions'],
    ['POST', '/tenants/acme/agent-versions'],
    ['PATCH', `/tenants/acme/agent-versions/${UNKNOWN_ID}`],
    ['POST', `/tenants/acme/agent-versions/${UNKNOWN_ID}/publish`],
  ] as const)('let nobody without the admin key %s %s', async (method, path) => {
    expect(await admin.call(method, path, { adminKey: null })).toMatchObject({ status: 401 })
  })
})
