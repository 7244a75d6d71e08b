import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { makeLog } from '../platform/log.ts'
import { makeAuditLog } from '../tenancy/audit-log.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { makeAgentVersions } from './agent-versions.ts'
import { makeAgents } from './agents.ts'
import { makeResolveAgent } from './resolve.ts'
import { makeRolloutPolicies } from './rollout-policies.ts'
import { rolloutRoutes } from './rollout-routes.ts'
import { makeRollouts } from './rollouts.ts'

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const parts = () => ({ db: test.db, clock: systemClock, log })
const admin = useAdminServer(() => [rolloutRoutes(makeRollouts(parts()), makeRolloutPolicies(parts()))])

const acme = 'acme' as TenantId
const globex = 'globex' as TenantId
const UNKNOWN = '01890000-0000-7000-8000-000000000000'

type Furnished = { agentId: string; published: string; draft: string; draft2: string }
type List = { etag: string; rollouts: { id: string; created_at: string; traffic_percentage: number }[] }
let mine: Furnished
let theirs: Furnished

/** An agent with a published version and two drafts. */
async function furnish(tenantId: TenantId): Promise<Furnished> {
  const { id } = await makeAgents(parts()).create(
    tenantId,
    { agentKey: 'desk', name: 'Desk', description: '' },
    THE_SYSTEM,
  )
  const versions = makeAgentVersions(parts())
  const ids: string[] = []
  for (let made = 0; made < 3; made += 1) ids.push((await versions.create(tenantId, id, {}, THE_SYSTEM)).id)
  const [published = '', draft = '', draft2 = ''] = ids
  await versions.publish(tenantId, published as never, THE_SYSTEM)
  return { agentId: id, published, draft, draft2 }
}

beforeEach(async () => {
  await makeTenant(test.db, acme)
  await makeTenant(test.db, globex)
  mine = await furnish(acme)
  theirs = await furnish(globex)
})

const at = (what: string, agentId = mine.agentId, tenant = 'acme') => `/tenants/${tenant}/agents/${agentId}/${what}`
const entry = (agent_version_id: string, traffic_percentage: number) => ({ agent_version_id, traffic_percentage })
const shouted = () => mine.draft.toUpperCase()
const put = (entries: unknown, ifMatch?: string) =>
  admin.call<List>('PUT', at('rollouts'), {
    body: { entries },
    headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
  })

describe('rollouts', () => {
  it('are empty at first, with an ETag', async () => {
    const answer = await admin.call('GET', at('rollouts'))
    expect(answer).toEqual({
      status: 200,
      body: { ok: true, count: 0, rollouts: [], etag: expect.stringMatching(/^".+"$/), last_rollback: null },
    })
  })

  it('are replaced as a whole, in the order in which they were sent', async () => {
    const { status, body } = await put([entry(mine.draft, 12.34), entry(mine.draft2, 0.01)])
    const shown = { tenant_id: 'acme', agent_id: mine.agentId, agent_key: 'desk', agent_name: 'Desk' }
    const times = { id: someUuid, created_at: someInstant, updated_at: someInstant }
    expect([status, body]).toEqual([
      200,
      {
        ...{ ok: true, count: 2, etag: expect.any(String), last_rollback: null },
        rollouts: [
          { ...shown, ...times, ...entry(mine.draft, 12.34), version_number: 2, position: 0 },
          { ...shown, ...times, ...entry(mine.draft2, 0.01), version_number: 3, position: 1 },
        ],
      },
    ])
    expect((await admin.call('GET', at('rollouts'))).body).toEqual(body)
    const next = await put([entry(mine.draft2, 100)])
    expect(next.body.rollouts).toMatchObject([{ id: body.rollouts[1]?.id, position: 0, traffic_percentage: 100 }])
    expect((await put([])).body).toMatchObject({ count: 0 })
  })

  it('know a version by its id in capitals too', async () => {
    const { status, body } = await put([entry(shouted(), 5)])
    expect([status, body.rollouts]).toMatchObject([200, [entry(mine.draft, 5)]])
  })

  it('are written only over those of If-Match: a stale one is a conflict', async () => {
    const first = (await admin.call<List>('GET', at('rollouts'))).body
    const second = await put([entry(mine.draft, 10)], first.etag)
    expect(second.status).toBe(200)
    expect(await put([entry(mine.draft, 20)], first.etag)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await put([entry(mine.draft, 20)], second.body.etag)).toMatchObject({ status: 200 })
    expect(await put([entry(mine.draft, 30)])).toMatchObject({ status: 200 })
  })

  it('let one of several at once win that read the same', async () => {
    const { etag } = (await admin.call<List>('GET', at('rollouts'))).body
    const answers = await Promise.all([1, 2, 3, 4, 5].map((share) => put([entry(mine.draft, share)], etag)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409])
  })

  it.each<[what: string, entries: () => unknown, path: string]>([
    ['more than all calls', () => [entry(mine.draft, 60), entry(mine.draft2, 40.01)], '/body/entries'],
    ['three decimals', () => [entry(mine.draft, 0.001)], '/body/entries/0/traffic_percentage'],
    ['a share above 100', () => [entry(mine.draft, 101)], '/body/entries/0/traffic_percentage'],
    ['a negative share', () => [entry(mine.draft, -1)], '/body/entries/0/traffic_percentage'],
    ['a version twice', () => [entry(mine.draft, 1), entry(mine.draft, 1)], '/body/entries/1/agent_version_id'],
    ['one in capitals too', () => [entry(mine.draft, 1), entry(shouted(), 1)], '/body/entries/1/agent_version_id'],
    ["another tenant's version", () => [entry(theirs.draft, 1)], '/body/entries/0/agent_version_id'],
    ['no version at all', () => [entry('nothing', 1)], '/body/entries/0/agent_version_id'],
    ['an unknown field', () => [{ ...entry(mine.draft, 1), weight: 1 }], '/body/entries/0/weight'],
    ['no list', () => undefined, '/body/entries'],
  ])('refuse %s and name it', async (_what, entries, path) => {
    const answer = await put(entries())
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
    expect((await admin.call('GET', at('rollouts'))).body).toMatchObject({ count: 0 })
  })
})

describe('a rollout-policy', () => {
  const NEW = { enabled: true, lookback_hours: 48, min_avg_score: 0.8, min_eval_count: 5, min_high_quality_rate: 0.5 }

  it('is null at first, then what was written', async () => {
    expect(await admin.call('GET', at('rollout-policy'))).toEqual({ status: 200, body: { ok: true, policy: null } })
    const written = { status: 200, body: { ok: true, policy: NEW } }
    expect(await admin.call('PUT', at('rollout-policy'), { body: NEW })).toEqual(written)
    expect(await admin.call('GET', at('rollout-policy'))).toEqual(written)
  })

  it('has its defaults for what is left out', async () => {
    await admin.call('PUT', at('rollout-policy'), { body: NEW })
    expect(await admin.call('PUT', at('rollout-policy'), { body: { enabled: true } })).toMatchObject({
      body: {
        policy: {
          enabled: true,
          lookback_hours: 24,
          min_avg_score: 0.7,
          min_eval_count: 20,
          min_high_quality_rate: 0.6,
        },
      },
    })
  })

  it.each([
    ['lookback_hours', 0],
    ['min_avg_score', 1.1],
    ['min_eval_count', 0],
    ['min_high_quality_rate', -0.1],
    ['enabled', 'yes'],
    ['score', 1],
  ])('refuses %s %s', async (name, value) => {
    const answer = await admin.call('PUT', at('rollout-policy'), { body: { [name]: value } })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: `/body/${name}` }] } })
  })
})

describe.each([
  ['GET', 'rollouts', undefined],
  ['PUT', 'rollouts', { entries: [] }],
  ['GET', 'rollout-policy', undefined],
  ['PUT', 'rollout-policy', {}],
] as const)('%s %s', (method, what, body) => {
  const sent = body === undefined ? {} : { body }

  it('knows no agent of another tenant, and none that there is not', async () => {
    for (const path of [at(what, theirs.agentId), at(what, UNKNOWN), at(what, 'x'), at(what, mine.agentId, 'nobody')]) {
      expect(await admin.call(method, path, sent)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })

  it('lets nobody in without the admin key', async () => {
    expect(await admin.call(method, at(what), { ...sent, adminKey: null })).toMatchObject({ status: 401 })
  })
})

describe('a call', () => {
  const tenant = toRuntime({ tenant_id: acme }, { account_sid: null, auth_token: null, from_number: null })
  const callers = Array.from({ length: 400 }, (_, index) => `+1202555${String(1_000 + index)}`)

  it('is answered by the version of its share, the same one each time, and by the published one without a caller', async () => {
    await put([entry(mine.draft, 25), entry(mine.draft2, 25)])
    const resolve = makeResolveAgent(parts())
    const counts: Record<string, number> = {}
    for (const caller of callers) {
      const agent = await resolve(tenant, { agentKey: 'desk', caller })
      expect((await resolve(tenant, { agentKey: 'desk', caller }))?.versionId).toBe(agent?.versionId)
      counts[agent?.versionId ?? ''] = (counts[agent?.versionId ?? ''] ?? 0) + 1
    }
    expect(Object.keys(counts).toSorted()).toEqual([mine.published, mine.draft, mine.draft2].toSorted())
    expect(counts[mine.published]).toBeGreaterThan(150)
    expect(counts[mine.published]).toBeLessThan(250)
    expect((await resolve(tenant, { agentKey: 'desk' }))?.versionId).toBe(mine.published)
  })

  const publish = (versionId: string) => makeAgentVersions(parts()).publish(acme, versionId as never, THE_SYSTEM)
  const shares = async () => (await admin.call<List>('GET', at('rollouts'))).body.rollouts

  it('is not answered any more by a version that had a share, was published, and was gone back from', async () => {
    await put([entry(mine.draft, 25), entry(mine.draft2, 5)])
    await publish(mine.draft)
    expect(await shares()).toMatchObject([{ ...entry(mine.draft2, 5), position: 0 }])
    await publish(mine.published)
    const resolve = makeResolveAgent(parts())
    const answered = await Promise.all(callers.map((caller) => resolve(tenant, { agentKey: 'desk', caller })))
    expect(new Set(answered.map((agent) => agent?.versionId))).toEqual(new Set([mine.published, mine.draft2]))
    const { rows } = await makeAuditLog(parts()).list({ action: 'rollout.changed' }, readPage({}))
    expect(rows.map(({ before, after }) => [before, after])).toEqual([
      [[entry(mine.draft, 25), entry(mine.draft2, 5)], [entry(mine.draft2, 5)]],
      [[], [entry(mine.draft, 25), entry(mine.draft2, 5)]],
    ])
  })

  it('is not answered by one that has such a share from before, but by one that was given it as the published one', async () => {
    await put([entry(mine.draft2, 25)])
    await publish(mine.draft)
    // As publishing left it in a release before this one.
    await sql`update agent_version_rollouts set agent_version_id = ${mine.draft}, updated_at = now() - interval '1 hour'
               where agent_id = ${mine.agentId}`.execute(test.db)
    await publish(mine.published)
    expect(await shares()).toEqual([])
    await put([entry(mine.published, 10)])
    await publish(mine.draft2)
    expect(await shares()).toMatchObject([entry(mine.published, 10)])
  })

  it('is answered by the published version when nothing else has a share', async () => {
    const resolve = makeResolveAgent(parts())
    const answered = await Promise.all(callers.map((caller) => resolve(tenant, { agentKey: 'desk', caller })))
    expect(new Set(answered.map((agent) => agent?.versionId))).toEqual(new Set([mine.published]))
  })
})
