import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { KEY_MS } from '../../kernel/request-key.ts'
import { forgetKeysAcrossTenants } from '../../platform/db/request-keys.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { CAMPAIGN_KEYS } from './campaign-key-store.ts'
import { campaignRoutes } from './campaign-routes.ts'
import { makeCampaigns } from './campaigns.ts'

type Answer = { campaign: { id: string; status: string; contacts: { total: number } }; errors: unknown[]; code: string }

const BODY = { name: 'Spring', agent_key: 'desk', contacts: [{ phone: '+12025550101' }, { phone: 'nobody' }] }
const desk: ResolvedAgent = {
  ...{ agentId: null, agentKey: 'desk', versionId: null, versionNumber: null, agentName: 'Desk' },
  config: agentConfigDefaults({}),
}

const test = useDatabase()
const clock = new TestClock()
let known: ResolvedAgent | null = desk
const server = useTenantServer(
  () => test.db,
  () => {
    const tenants = { get: async (id: TenantId) => tenantTold(id) }
    return [campaignRoutes(makeCampaigns({ db: test.db, clock, tenants, resolveAgent: async () => known }))]
  },
)

beforeEach(async () => {
  known = desk
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

type Sent = { body?: object | string; tenant?: string; type?: string; query?: string }

async function make(key: string, { body = BODY, tenant = 'acme', type, query = '' }: Sent = {}) {
  const sent = { body, headers: { 'idempotency-key': key }, ...(type !== undefined && { type }) }
  const { status, text, headers } = await server.send(tenant, 'POST', `/campaigns${query}`, sent)
  return { status, body: JSON.parse(text) as Answer, isReplay: headers['idempotent-replayed'] === 'true' }
}

async function countCampaigns(tenant = 'acme'): Promise<number> {
  return (await server.call<{ count: number }>(tenant, 'GET', '/campaigns')).body.count
}

describe('a campaign that is asked for again with the same Idempotency-Key', () => {
  it('is made once, and is answered as it is now, with what was left out of its list', async () => {
    const first = await make('list-7')
    expect(first).toMatchObject({ status: 200, isReplay: false, body: { campaign: { contacts: { total: 1 } } } })
    await server.call('acme', 'POST', `/campaigns/${first.body.campaign.id}/start`)
    const { id } = first.body.campaign
    const { errors } = first.body
    const again = await make('list-7')
    expect(again).toMatchObject({ status: 200, isReplay: true, body: { campaign: { id, status: 'running' }, errors } })
    expect(await countCampaigns()).toBe(1)
  })

  it('is answered though its agent is gone by then', async () => {
    const { body } = await make('k')
    known = null
    expect(await make('k')).toMatchObject({ status: 200, isReplay: true, body: { campaign: { id: body.campaign.id } } })
    expect(await make('m')).toMatchObject({ status: 400 })
  })

  it('is made once however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => make('k')))
    expect(new Set(answers.map(({ body }) => body.campaign.id)).size).toBe(1)
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
    expect(await countCampaigns()).toBe(1)
  })

  it('is made once of a list as CSV, and refused with another list', async () => {
    const asCsv = { type: 'text/csv', query: '?name=Spring&agent_key=desk' }
    const first = await make('k', { ...asCsv, body: 'phone\n+12025550101\n' })
    expect(await make('k', { ...asCsv, body: 'phone\n+12025550101\n' })).toMatchObject({
      ...{ status: 200, isReplay: true, body: { campaign: { id: first.body.campaign.id } } },
    })
    const other = await make('k', { ...asCsv, body: 'phone\n+12025550102\n' })
    expect(other).toMatchObject({ status: 422, isReplay: false, body: { code: 'idempotency_mismatch' } })
  })

  it('is made anew after 24 h, when the key is forgotten too', async () => {
    await make('k')
    await clock.advance(KEY_MS - 1)
    expect(await make('k')).toMatchObject({ isReplay: true })
    await clock.advance(1)
    expect(await make('k')).toMatchObject({ status: 200, isReplay: false })
    await forgetKeysAcrossTenants(test.db, CAMPAIGN_KEYS, new Date(clock.now()))
    expect(await test.db.selectFrom('campaign_keys').select('key').execute()).toEqual([])
    expect(await countCampaigns()).toBe(2)
  })

  it("is another tenant's own, and refuses a key that is none", async () => {
    await make('k')
    expect(await make('k', { tenant: 'globex' })).toMatchObject({ status: 200, isReplay: false })
    expect([await countCampaigns(), await countCampaigns('globex')]).toEqual([1, 1])
    expect(await make('a key with ü')).toMatchObject({ status: 400 })
  })
})
