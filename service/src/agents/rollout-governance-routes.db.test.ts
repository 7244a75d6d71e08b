import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken } from '../../test/harness/tenant-server.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import { storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { scoresOfVersions } from '../records/evaluations/evaluation-store.ts'
import { makeCredentials } from '../tenancy/credentials.ts'
import { tenantByToken } from '../tenancy/token-filter.ts'
import { lockAgent } from './agent-store.ts'
import { makeAgentVersions } from './agent-versions.ts'
import { makeAgents } from './agents.ts'
import { scoredCalls } from './governance.fixture.ts'
import { type GovernanceSweepResult, sweepGovernance } from './governance-sweep.ts'
import { makeGovernance } from './rollout-governance.ts'
import { rolloutGovernanceRoutes } from './rollout-governance-routes.ts'
import type { GovernanceEvaluation } from './rollout-governance-shape.ts'
import { makeRolloutPolicies, POLICY_DEFAULTS } from './rollout-policies.ts'
import { rolloutRoutes } from './rollout-routes.ts'
import { replaceRollouts } from './rollout-store.ts'
import { makeRollouts } from './rollouts.ts'

type Evaluated = { evaluation: GovernanceEvaluation }
type Swept = { result: GovernanceSweepResult }
type Share = { agent_version_id: string; traffic_percentage: number }
type Shares = {
  rollouts: (Share & { position: number })[]
  etag: string
  last_rollback: { at: string; reasons: string[]; versions: (Share & { version_number: number })[] } | null
}

const ACME = 'acme' as TenantId
const GLOBEX = 'globex' as TenantId
const UNKNOWN = '01890000-0000-7000-8000-000000000000'
const TWENTY_BAD = Array.from({ length: 20 }, () => 0.3)
const TWENTY_GOOD = Array.from({ length: 20 }, () => 0.9)

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const clock = new TestClock()
const parts = () => ({ db: test.db, clock })
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const admin = useAdminServer(() => {
  const governance = makeGovernance({ ...parts(), tenants })
  const credentials = makeCredentials({ db: test.db, clock: systemClock, log, legacyEnabled: true })
  const deps = { ...parts(), log, governance, isStopping: () => false }
  return [
    rolloutGovernanceRoutes({
      governance,
      sweep: (ask) => sweepGovernance(deps, ask),
      tenantBy: tenantByToken(credentials),
    }),
    rolloutRoutes(makeRollouts(parts()), makeRolloutPolicies(parts())),
  ]
})

type Furnished = { agentId: AgentId; published: AgentVersionId; second: AgentVersionId; third: AgentVersionId }
let mine: Furnished

/** An agent with a published version, and two more that answer 30 and 20 percent of its calls. */
async function furnish(tenantId: TenantId, agentKey = 'desk'): Promise<Furnished> {
  const asked = { agentKey, name: 'Desk', description: '' }
  const { id: agentId } = await makeAgents(parts()).create(tenantId, asked, THE_SYSTEM)
  const versions = makeAgentVersions({ ...parts(), clock: new TestClock(ago(24 * 30).getTime()) })
  const ids: AgentVersionId[] = []
  for (let made = 0; made < 3; made += 1) ids.push((await versions.create(tenantId, agentId, {}, THE_SYSTEM)).id)
  const [published = '' as AgentVersionId, second = '' as AgentVersionId, third = '' as AgentVersionId] = ids
  await versions.publish(tenantId, published, THE_SYSTEM)
  const entries = [
    { agent_version_id: second, traffic_percentage: 30 },
    { agent_version_id: third, traffic_percentage: 20 },
  ]
  await makeRollouts(parts()).replace(tenantId, agentId, { entries }, THE_SYSTEM)
  const policy = { ...POLICY_DEFAULTS, enabled: true }
  await makeRolloutPolicies(parts()).put(tenantId, agentId, policy, THE_SYSTEM)
  return { agentId, published, second, third }
}

beforeEach(async () => {
  await makeTenantWithToken(test.db, ACME)
  await makeTenantWithToken(test.db, GLOBEX)
  mine = await furnish(ACME)
})

const at = (what: string, agentId: string = mine.agentId, tenant = 'acme') =>
  `/tenants/${tenant}/agents/${agentId}/${what}`
const ago = (hours: number) => new Date(clock.now() - hours * 3_600_000)
const scored = (
  versionId: string,
  scores: number[],
  more: { endedAt?: Date; begunAt?: Date; source?: 'model' | 'human' | 'heuristic'; direction?: 'browser' } = {},
) => scoredCalls(test.db, ACME, { versionId, scores, endedAt: ago(1), ...more })
const evaluate = async (body: object = {}) => {
  const answer = await admin.call<Evaluated>('POST', at('rollout-governance/evaluate'), { body })
  expect(answer.status).toBe(200)
  return answer.body.evaluation
}
const sweep = async (body: object = {}) => {
  const answer = await admin.call<Swept>('POST', '/rollout-governance/sweep', { body })
  expect(answer.status).toBe(200)
  return answer.body.result
}
const shares = async () => (await admin.call<Shares>('GET', at('rollouts'))).body
const sharesOf = async () => (await shares()).rollouts.map((each) => [each.agent_version_id, each.traffic_percentage])
const audited = () => test.db.selectFrom('audit_log').selectAll().where('action', '=', 'rollout.rolled_back').execute()
const told = async () => (await storedEvents(test.db)).filter(({ event }) => event === 'rollout.rolled_back')

describe('POST rollout-governance/evaluate', () => {
  it('says what it would do with a version that does badly, and does nothing', async () => {
    await scored(mine.second, TWENTY_BAD)
    await scored(mine.third, TWENTY_GOOD)
    const figures = { eval_count: 0, avg_score: null, high_quality_rate: null, breached: false }
    expect(await evaluate()).toEqual({
      ...{ agent_id: mine.agentId, agent_key: 'desk', agent_name: 'Desk', applied: false },
      status: 'rollback_recommended',
      policy: { ...POLICY_DEFAULTS, enabled: true },
      reasons: [
        'Version 2 scores 0.3 on average in 20 calls, less than 0.7.',
        'Version 2 has 0% of high quality in 20 calls, less than 60%.',
        'Version 3 scores 0.9 on average in 20 calls, 100% of high quality.',
      ],
      published_version: { ...figures, agent_version_id: mine.published, version_number: 1, traffic_percentage: 50 },
      rollout_versions: [
        {
          ...{ agent_version_id: mine.second, version_number: 2, traffic_percentage: 30, breached: true },
          ...{ eval_count: 20, avg_score: 0.3, high_quality_rate: 0 },
        },
        {
          ...{ agent_version_id: mine.third, version_number: 3, traffic_percentage: 20, breached: false },
          ...{ eval_count: 20, avg_score: 0.9, high_quality_rate: 1 },
        },
      ],
    })
    expect([await sharesOf(), await audited(), await told()]).toMatchObject([
      [
        [mine.second, 30],
        [mine.third, 20],
      ],
      [],
      [],
    ])
  })

  it('takes its share with apply: the others keep theirs and their callers, and it is audited and told', async () => {
    await scored(mine.second, TWENTY_BAD)
    const { etag } = await shares()
    const evaluation = await evaluate({ apply: true })
    expect(evaluation).toMatchObject({ status: 'rolled_back', applied: true })
    expect(evaluation.reasons).toContain('The share of version 2, 30%, went to the published version 1.')
    const { rollouts, last_rollback } = await shares()
    expect(rollouts).toMatchObject([{ agent_version_id: mine.third, position: 0, traffic_percentage: 20 }])
    const places = test.db.selectFrom('agent_version_rollouts').select('starts_at')
    expect(await places.where('agent_id', '=', mine.agentId).execute()).toEqual([{ starts_at: 3_000 }])
    expect(await audited()).toMatchObject([
      {
        ...{ tenant_id: 'acme', target_id: mine.agentId, actor_kind: 'key' },
        before: [{ traffic_percentage: 30 }, { traffic_percentage: 20 }],
        after: [{ agent_version_id: mine.third, traffic_percentage: 20 }],
      },
    ])
    expect(await told()).toMatchObject([
      { call_sid: null, body: { payload: { evaluation, rollouts: [{ position: 0 }] } } },
    ])
    // The people of the tenant do not see the audit log.
    expect(last_rollback).toEqual({
      ...{ at: new Date(clock.now()).toISOString(), reasons: evaluation.reasons },
      versions: [{ agent_version_id: mine.second, version_number: 2, traffic_percentage: 30 }],
    })
    // Whoever had read it before is told that it has changed.
    const body = { entries: [{ agent_version_id: mine.second, traffic_percentage: 40 }] }
    const stale = await admin.call('PUT', at('rollouts'), { body, headers: { 'if-match': etag } })
    expect(stale.status).toBe(409)
    expect(await evaluate({ apply: true })).toMatchObject({ status: 'insufficient_data', applied: false })
    expect(await told()).toHaveLength(1)
  })

  it('says why a share was lost for as long as nothing else is, also when it has been put back', async () => {
    expect((await shares()).last_rollback).toBeNull()
    await scored(mine.second, TWENTY_BAD)
    await evaluate()
    expect((await shares()).last_rollback).toBeNull()
    const { reasons } = await evaluate({ apply: true })
    await makeRolloutPolicies(parts()).put(ACME, mine.agentId, { ...POLICY_DEFAULTS, enabled: false }, THE_SYSTEM)
    const entries = [{ agent_version_id: mine.second, traffic_percentage: 10 }]
    const put = await admin.call<Shares>('PUT', at('rollouts'), { body: { entries } })
    expect([put.body.last_rollback?.reasons, (await shares()).last_rollback?.reasons]).toEqual([reasons, reasons])
  })

  it('judges a draft that was changed by the calls that have begun since', async () => {
    await scored(mine.second, TWENTY_BAD)
    const changed = await makeAgentVersions(parts()).replaceConfig(
      ACME,
      mine.second,
      { config: { greeting: 'Hello.' } },
      THE_SYSTEM,
    )
    await clock.advance(600_000)
    const liveThen = { begunAt: ago(1), endedAt: new Date(clock.now()) }
    await scored(mine.second, TWENTY_BAD, liveThen)
    expect(await evaluate()).toMatchObject({ status: 'insufficient_data', rollout_versions: [{ eval_count: 0 }, {}] })
    await scored(mine.second, TWENTY_BAD, { ...liveThen, begunAt: changed.updated_at })
    const judged = { status: 'rollback_recommended', rollout_versions: [{ eval_count: 20 }, {}] }
    expect(await evaluate()).toMatchObject(judged)
  })

  it('judges a draft by all of its calls where what was written is what it said before', async () => {
    const versions = makeAgentVersions(parts())
    const write = () => versions.replaceConfig(ACME, mine.second, { config: { greeting: 'Hello.' } }, THE_SYSTEM)
    const changed = await write()
    await clock.advance(600_000)
    await scored(mine.second, TWENTY_BAD, { begunAt: changed.updated_at, endedAt: new Date(clock.now()) })
    await clock.advance(600_000)
    expect(await write()).toEqual(changed)
    const judged = { status: 'rollback_recommended', rollout_versions: [{ eval_count: 20 }, {}] }
    expect(await evaluate()).toMatchObject(judged)
    const written = await test.db
      .selectFrom('audit_log')
      .select('id')
      .where('action', '=', 'agent_version.changed')
      .execute()
    expect(written).toHaveLength(1)
  })

  it('judges so, too, a draft that a node of the version before has changed', async () => {
    await scored(mine.second, TWENTY_BAD)
    const draft = test.db.updateTable('agent_versions').where('id', '=', mine.second)
    await draft.set({ updated_at: new Date(clock.now()), config_changed_at: null }).execute()
    const judged = { status: 'insufficient_data', rollout_versions: [{ eval_count: 0 }, {}] }
    expect(await evaluate()).toMatchObject(judged)
    const { published: second, second: published } = mine
    await clock.advance(1)
    for (const id of [published, second]) await makeAgentVersions(parts()).publish(ACME, id, THE_SYSTEM)
    const entries = [{ agent_version_id: published, traffic_percentage: 50 }]
    await makeRollouts(parts()).replace(ACME, mine.agentId, { entries }, THE_SYSTEM)
    expect(await evaluate()).toMatchObject({ ...judged, rollout_versions: [{ eval_count: 0 }] })
  })

  it('judges what was changed as a draft by the calls since, also once it was published', async () => {
    await scored(mine.second, TWENTY_BAD)
    const versions = makeAgentVersions(parts())
    await versions.replaceConfig(ACME, mine.second, { config: { greeting: 'Hello.' } }, THE_SYSTEM)
    for (const id of [mine.second, mine.published]) await versions.publish(ACME, id, THE_SYSTEM)
    const entries = [{ agent_version_id: mine.second, traffic_percentage: 50 }]
    await makeRollouts(parts()).replace(ACME, mine.agentId, { entries }, THE_SYSTEM)
    expect(await evaluate()).toMatchObject({ status: 'insufficient_data', rollout_versions: [{ eval_count: 0 }] })
  })

  it.each<[what: string, given: () => Promise<unknown>, status: string]>([
    ['a score too few', () => scored(mine.second, TWENTY_BAD.slice(1)), 'insufficient_data'],
    ['no scores at all', async () => undefined, 'insufficient_data'],
    ['what only the records say', () => scored(mine.second, TWENTY_BAD, { source: 'heuristic' }), 'insufficient_data'],
    [
      'calls of who tried it in a browser',
      () => scored(mine.second, TWENTY_BAD, { direction: 'browser' }),
      'insufficient_data',
    ],
    ['scores of long ago', () => scored(mine.second, TWENTY_BAD, { endedAt: ago(25) }), 'insufficient_data'],
    ['bad scores of the published version', () => scored(mine.published, TWENTY_BAD), 'insufficient_data'],
    ['no policy', () => test.db.deleteFrom('rollout_policies').execute(), 'no_policy'],
    [
      'a policy that is not enabled',
      () => test.db.updateTable('rollout_policies').set({ enabled: false }).execute(),
      'disabled',
    ],
    ['no rollout', () => test.db.deleteFrom('agent_version_rollouts').execute(), 'no_rollout'],
  ])('does nothing by %s', async (_what, given, status) => {
    if (['no_policy', 'disabled', 'no_rollout'].includes(status)) await scored(mine.second, TWENTY_BAD)
    await given()
    const before = await sharesOf()
    expect(await evaluate({ apply: true })).toMatchObject({ status, applied: false })
    expect([await sharesOf(), await audited(), await told()]).toEqual([before, [], []])
  })

  it('counts those who talk to the published version in a browser, and not those who try another', async () => {
    await scored(mine.published, TWENTY_GOOD, { direction: 'browser' })
    await scored(mine.second, TWENTY_GOOD, { direction: 'browser' })
    expect(await evaluate()).toMatchObject({
      ...{ published_version: { eval_count: 20 }, rollout_versions: [{ eval_count: 0 }, { eval_count: 0 }] },
    })
  })

  it('goes by what a person says of a call, where one has', async () => {
    await scored(mine.second, TWENTY_BAD)
    const { rows } = { rows: await test.db.selectFrom('evaluations').selectAll().execute() }
    for (const row of rows) {
      const said = { ...row, id: newId<string>(clock.now()), source: 'human' as const, score: 1, criteria: '[]' }
      await test.db
        .insertInto('evaluations')
        .values({ ...said, created_at: ago(2) })
        .execute()
    }
    expect((await evaluate()).rollout_versions[0]).toMatchObject({ eval_count: 20, avg_score: 1, breached: false })
  })

  it('judges what a person has just put in its place, not what was there before', async () => {
    await scored(mine.second, TWENTY_BAD)
    const now = new Date(clock.now())
    const entry = {
      id: newId<string>(clock.now()),
      created_at: now,
      updated_at: now,
      traffic_percentage: 55,
      starts_at: null,
    }
    let asked: Promise<GovernanceEvaluation> | undefined
    await test.db.transaction().execute(async (tx) => {
      await lockAgent(tx, ACME, mine.agentId)
      asked = evaluate({ apply: true })
      await replaceRollouts(tx, ACME, mine.agentId, [{ ...entry, agent_version_id: mine.third }])
    })
    expect(await asked).toMatchObject({ status: 'insufficient_data', applied: false })
    expect(await sharesOf()).toEqual([[mine.third, 55]])
  })

  it.each([
    [{ apply: 'yes' }, '/body/apply'],
    [{ dry_run: true }, '/body/dry_run'],
  ])('refuses %j with 400', async (body, path) => {
    const answer = await admin.call('POST', at('rollout-governance/evaluate'), { body })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('knows no agent of another tenant, and lets nobody in without the key; needs no body', async () => {
    const theirs = await furnish(GLOBEX)
    const what = 'rollout-governance/evaluate'
    const ids: [string, string][] = [
      [theirs.agentId, 'acme'],
      [UNKNOWN, 'acme'],
      ['x', 'acme'],
      [mine.agentId, 'nobody'],
    ]
    for (const [agentId, tenant] of ids) {
      for (const body of [{}, { apply: true }])
        expect(await admin.call('POST', at(what, agentId, tenant), { body })).toMatchObject({ status: 404 })
    }
    expect(await admin.call('POST', at(what), { adminKey: null })).toMatchObject({ status: 401 })
    expect(await admin.call('POST', at(what))).toMatchObject({ status: 200 })
  })
})

describe('POST rollout-governance/sweep', () => {
  it('tells what it would do with each agent that has a policy', async () => {
    await scored(mine.second, TWENTY_BAD)
    const theirs = await furnish(GLOBEX)
    const result = await sweep()
    expect(result).toMatchObject({
      ...{ attempted_agents: 2, attempted_tenants: 2, evaluated_agents: 2, evaluated_tenants: 2, failures: [] },
      ...{ rollback_recommended: 1, rollbacks_applied: 0 },
    })
    expect(result.items).toHaveLength(2)
    expect(result.items).toContainEqual({
      ...{
        tenant_id: 'acme',
        agent_id: mine.agentId,
        agent_key: 'desk',
        status: 'rollback_recommended',
        applied: false,
      },
      reasons: expect.arrayContaining(['Version 2 scores 0.3 on average in 20 calls, less than 0.7.']),
    })
    expect(result.items).toContainEqual(
      expect.objectContaining({ agent_id: theirs.agentId, status: 'insufficient_data' }),
    )
    expect(await sharesOf()).toHaveLength(2)
  })

  it('acts with apply, once, also when several sweep at a time', async () => {
    await scored(mine.second, TWENTY_BAD)
    const results = await Promise.all([sweep({ apply: true }), sweep({ apply: true }), sweep({ apply: true })])
    const applied = results.reduce((sum, { rollbacks_applied }) => sum + rollbacks_applied, 0)
    expect([applied, (await told()).length, (await audited()).length]).toEqual([1, 1, 1])
    expect(await sharesOf()).toEqual([[mine.third, 20]])
  })

  it('goes as far as its limit, and on from there the next time', async () => {
    const agents = [mine.agentId, (await furnish(ACME, 'sales')).agentId, (await furnish(GLOBEX)).agentId]
    expect(await sweep({ limit: 0 })).toMatchObject({ attempted_agents: 0, items: [] })
    const seen: string[] = []
    for (let count = 0; count < 3; count += 1) {
      await clock.advance(1_000)
      seen.push(...(await sweep({ limit: 1 })).items.map(({ agent_id }) => agent_id))
    }
    expect(seen.toSorted()).toEqual(agents.toSorted())
  })

  it('keeps to the tenant whose token it is given, and knows a wrong one', async () => {
    const theirs = await furnish(GLOBEX)
    const { items } = await sweep({ auth_token: 'bearer-token-of-globex' })
    expect(items).toMatchObject([{ tenant_id: 'globex', agent_id: theirs.agentId }])
    const inQuery = await admin.call('POST', '/rollout-governance/sweep?auth_token=bearer-token-of-globex')
    expect(inQuery).toMatchObject({ body: { result: { items: [{ agent_id: theirs.agentId }], attempted_agents: 1 } } })
    const body = { auth_token: 'bearer-token-of-nobody' }
    expect(await admin.call('POST', '/rollout-governance/sweep', { body })).toMatchObject({ status: 401 })
    expect(await admin.call('POST', '/rollout-governance/sweep', { adminKey: null })).toMatchObject({ status: 401 })
  })

  it.each([
    [{ limit: -1 }, '/body/limit'],
    [{ limit: 10_001 }, '/body/limit'],
    [{ apply: 1 }, '/body/apply'],
    [{ tenant_id: 'acme' }, '/body/tenant_id'],
  ])('refuses %j with 400', async (body, path) => {
    const answer = await admin.call('POST', '/rollout-governance/sweep', { body })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })
})

describe('the scheduled sweep', () => {
  it('looks only at what it can act on, and not at what another node has just judged', async () => {
    const governance = makeGovernance({ ...parts(), tenants })
    const deps = { ...parts(), log, governance, isStopping: () => false }
    const swept = async () => {
      const asked = { tenantId: null, apply: true, limitAgents: 100, acting: true, minAgeMs: 15_000 }
      return (await sweepGovernance(deps, asked)).items.map(({ tenant_id }) => tenant_id)
    }
    const theirs = await furnish(GLOBEX)
    await makeRolloutPolicies(parts()).put(GLOBEX, theirs.agentId, POLICY_DEFAULTS, THE_SYSTEM)
    expect(await swept()).toEqual(['acme'])
    expect(await swept()).toEqual([])
    await clock.advance(15_000)
    expect(await swept()).toEqual(['acme'])
  })

  it('tells of what fails, and goes on with the others', async () => {
    await furnish(GLOBEX)
    const some = { get: async (id: TenantId) => (id === ACME ? Promise.reject(new Error('no')) : tenantTold(id)) }
    const governance = makeGovernance({ ...parts(), tenants: some })
    const deps = { ...parts(), log, governance, isStopping: () => false }
    expect(await sweepGovernance(deps, { tenantId: null, apply: true, limitAgents: 100 })).toMatchObject({
      ...{ attempted_agents: 2, attempted_tenants: 2, evaluated_agents: 1, evaluated_tenants: 1 },
      items: [{ tenant_id: 'globex' }],
      failures: [{ tenant_id: 'acme', agent_id: mine.agentId, error: expect.stringMatching(/log says why/) }],
    })
  })
})

describe('what the calls of a version were worth', () => {
  it('is the same in whatever order they came', async () => {
    const scores = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(scores, async (hundredths) => {
        const [one, other] = [newId<AgentVersionId>(clock.now()), newId<AgentVersionId>(clock.now())]
        const values = hundredths.map((each) => each / 10_000)
        await scored(one, values)
        await scored(
          other,
          values.toReversed().toSorted((a, b) => b - a),
        )
        const versions = [one, other].map((id) => ({ id, begunSince: null, isTried: true }))
        const found = await scoresOfVersions(test.db, ACME, { versions, since: ago(24) })
        expect(found.get(one)).toEqual(found.get(other))
        expect(found.get(one)?.eval_count).toBe(values.length)
      }),
      { numRuns: 10 },
    )
  })
})
