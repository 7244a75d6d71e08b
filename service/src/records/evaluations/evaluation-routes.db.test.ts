import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from '../../../test/harness/chat-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { someInstant, someUuid } from '../../../test/harness/matchers.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import { until } from '../../../test/harness/wait.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { openaiChat } from '../../platform/chat/openai.ts'
import type { ChatModel } from '../../platform/chat/port.ts'
import type { Db } from '../../platform/db/schema.ts'
import { openServer } from '../../platform/db/server.ts'
import { makeLog } from '../../platform/log.ts'
import { findCallLog } from '../call-log-store.ts'
import type { SessionId } from '../call-values.ts'
import { someTurn, storedEvents, tenantTold } from '../calls.fixture.ts'
import { voiceSessionRoutes } from '../voice-session-routes.ts'
import { makeVoiceSessions } from '../voice-sessions.ts'
import { evaluationRoutes } from './evaluation-routes.ts'
import { AGENT_ID, assessmentOf, endedCall, findJudged } from './evaluations.fixture.ts'
import { makeEvaluations } from './evaluations.ts'

type Row = Record<string, unknown> & { id: string; source: string; score: number }
type List = { evaluations: Row[]; count: number; next_cursor: string | null }

const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const VERSION_ID = '0190c000-0000-7000-8000-000000000002'

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const tenants = { get: async (id: TenantId) => tenantTold(id) }
// Nobody listens there.
const unreachable = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
const clock = new TestClock()
let provider: ChatServer

const routesOn = (db: () => Db, model: () => ChatModel | null) => () => [
  evaluationRoutes(makeEvaluations({ db: db(), clock, log, tenants, findJudged, model: model() })),
  voiceSessionRoutes(makeVoiceSessions({ db: db() })),
]
beforeAll(async () => {
  provider = await startChatServer()
})
const model = () => openaiChat({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' })
const server = useTenantServer(
  () => test.db,
  routesOn(() => test.db, model),
)
const mute = useTenantServer(
  () => test.db,
  routesOn(
    () => test.db,
    () => null,
  ),
)
const down = useTenantServer(
  () => test.db,
  routesOn(() => unreachable.db, model),
)
afterAll(async () => {
  await provider.close()
  await unreachable.close()
})
beforeEach(async () => {
  provider.asked.length = 0
  provider.answer({ says: assessmentOf(0.9, 0.6, 0.9) })
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

const evaluate = (id: string, body: unknown = {}, tenant: string | null = 'acme') =>
  server.call<{ evaluation: Row }>(tenant, 'POST', `/voice-sessions/${id}/evaluations`, body)
const list = async (query = '', tenant = 'acme') =>
  (await server.call<List>(tenant, 'GET', `/evaluations${query}`)).body
const sessionOf = async (id: SessionId) =>
  (await server.call<{ voice_session: Record<string, unknown> }>('acme', 'GET', `/voice-sessions/${id}`)).body
    .voice_session

describe('POST voice-sessions/:id/evaluations', () => {
  it("records a person's score, which the session shows, and tells the tenant", async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    expect(await sessionOf(id)).toMatchObject({ qa: null, qa_status: 'pending' })
    const said = { score: 0.8, criteria: [{ name: 'tone', score: 0.75, reason: 'Friendly.' }], summary: 'Good.' }
    const { status, body } = await evaluate(id, said)
    const evaluation = {
      ...{ id: someUuid, tenant_id: 'acme', voice_session_id: id, agent_id: AGENT_ID, agent_version_id: null },
      ...{ ...said, high_quality: true, source: 'human', created_at: someInstant },
    }
    expect([status, body]).toEqual([200, { ok: true, evaluation }])
    const qa = { score: 0.8, high_quality: true, summary: 'Good.', criteria: said.criteria }
    expect(await sessionOf(id)).toMatchObject({ qa, qa_status: 'scored', qa_reason: null })
    expect(await findCallLog(test.db, 'acme' as TenantId, 'CA1')).toMatchObject({ summary: 'Good.' })
    const [told] = (await storedEvents(test.db)).filter(({ event }) => event === 'voice.evaluation.completed')
    expect(told).toMatchObject({ call_sid: 'CA1', body: { voice_session_id: id, payload: { evaluation } } })
    expect(provider.asked).toEqual([])
  })

  it('has the model score with an empty body, or none, and keeps a person above it', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    const first = await evaluate(id)
    expect(first).toMatchObject({
      status: 200,
      body: { evaluation: { score: 0.8, source: 'model', summary: 'They talked.' } },
    })
    expect(provider.asked[0]).toMatchObject({ model: 'gpt-6-luna', response_format: { type: 'json_object' } })
    expect(provider.asked[0]?.messages[1]?.content).toContain('Sentence 2.')
    await clock.advance(1)
    await evaluate(id, { score: 0.3 })
    await clock.advance(1)
    provider.answer({ says: assessmentOf(1) })
    const again = await server.send('acme', 'POST', `/voice-sessions/${id}/evaluations`)
    expect([again.status, JSON.parse(again.text)]).toMatchObject([200, { evaluation: { score: 1 } }])
    expect(await sessionOf(id)).toMatchObject({ qa: { score: 0.3, high_quality: false, summary: null, criteria: [] } })
    expect((await list()).evaluations.map(({ source }) => source)).toEqual(['model', 'human', 'model'])
    expect(await test.db.selectFrom('session_scorings').selectAll().execute()).toEqual([])
  })

  it("takes away nothing that was said of the call with a person's summary that is blank", async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    await evaluate(id)
    const { body } = await evaluate(id, { score: 0.3, summary: ' ' })
    expect(body.evaluation).toMatchObject({ source: 'human', summary: null })
    expect(await sessionOf(id)).toMatchObject({ qa: { score: 0.3, summary: null }, summary: 'They talked.' })
    expect(await findCallLog(test.db, 'acme' as TenantId, 'CA1')).toMatchObject({ summary: 'They talked.' })
  })

  it('gives the call the summary of a model that was slower than a person who gave none', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    await evaluate(id, { score: 0.3 })
    await evaluate(id)
    expect(await sessionOf(id)).toMatchObject({ qa: { score: 0.3, summary: null }, summary: 'They talked.' })
    expect(await findCallLog(test.db, 'acme' as TenantId, 'CA1')).toMatchObject({ summary: 'They talked.' })
  })

  it("keeps a person's words when they score the call again without any, and a model does after them", async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    await evaluate(id, { score: 0.3, summary: 'Nobody helped.' })
    await clock.advance(1)
    await evaluate(id, { score: 0.4 })
    await clock.advance(1)
    await evaluate(id)
    expect(await sessionOf(id)).toMatchObject({ qa: { score: 0.4, summary: null }, summary: 'Nobody helped.' })
    expect(await findCallLog(test.db, 'acme' as TenantId, 'CA1')).toMatchObject({ summary: 'Nobody helped.' })
  })

  it.each([
    [{ criteria: [] }, '/body/score'],
    [{ score: 1.1 }, '/body/score'],
    [{ score: 'good' }, '/body/score'],
    [{ score: 1, criteria: [{ name: 'tone', score: -1 }] }, '/body/criteria/0/score'],
    [{ score: 1, criteria: [{ score: 1 }] }, '/body/criteria/0/name'],
    [{ score: 1, source: 'model' }, '/body/source'],
  ])('refuses %j with 400', async (body, path) => {
    const id = await endedCall(test.db, clock, 'CA1')
    expect(await evaluate(id, body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
    expect(await list()).toMatchObject({ count: 0 })
  })

  it('is a conflict before the end, and where nothing was said that a model could score', async () => {
    const live = await endedCall(test.db, clock, 'CA1', { hasEnded: false })
    for (const body of [{}, { score: 1 }])
      expect(await evaluate(live, body)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    const silent = await endedCall(test.db, clock, 'CA2', { turns: [someTurn(1)] })
    expect(await evaluate(silent)).toMatchObject({
      status: 409,
      body: { error: 'There is nothing to score: the caller said nothing.' },
    })
    expect(await evaluate(silent, { score: 0 })).toMatchObject({ status: 200 })
    expect(provider.asked).toEqual([])
  })

  it.each([
    [503, { status: 500, body: 'oh' }],
    [503, 'cut'],
    [502, { says: 'It was fine.' }],
  ] as const)('answers %i when the model answers %j, and writes nothing', async (status, answer) => {
    const id = await endedCall(test.db, clock, 'CA1')
    provider.answer(answer)
    expect((await evaluate(id)).status).toBe(status)
    expect(await list()).toMatchObject({ count: 0 })
    expect(await sessionOf(id)).toMatchObject({ qa: null, qa_status: 'pending' })
  })

  it('says that the model refuses, and what to check, where another try changes nothing', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    provider.answer({ status: 404, body: '{"error":{"message":"The model does not exist."}}' })
    const error = "The chat model refused to read it: check the agent version's chat_model."
    expect(await evaluate(id)).toMatchObject({ status: 502, body: { code: 'upstream_failed', error } })
    expect(await list()).toMatchObject({ count: 0 })
  })

  it('answers 503 when the model says nothing for half a minute, or there is none', async () => {
    const id = await endedCall(test.db, clock, 'CA1')
    provider.answer('nothing')
    const waiting = evaluate(id)
    await until(() => provider.asked.length === 1, { what: 'the model to be asked' })
    await clock.advance(30_000)
    expect((await waiting).status).toBe(503)
    expect(await mute.call('acme', 'POST', `/voice-sessions/${id}/evaluations`, {})).toMatchObject({ status: 503 })
  })

  it("knows nothing of another tenant's session, and asks for a credential", async () => {
    const theirs = await endedCall(test.db, clock, 'CA9', { tenant: tenantTold('globex') })
    expect((await evaluate(theirs, { score: 1 }, 'globex')).status).toBe(200)
    for (const id of [theirs, UNKNOWN_ID, 'x'])
      for (const body of [{}, { score: 1 }]) expect((await evaluate(id, body)).status).toBe(404)
    expect((await evaluate(theirs, { score: 1 }, null)).status).toBe(401)
    expect(await list()).toMatchObject({ count: 0 })
  })
})

describe('GET evaluations', () => {
  /** When the second one is made. */
  let secondAt = ''

  async function furnish(): Promise<SessionId[]> {
    const agent = { agentKey: 'sales', agentName: 'Kim', versionId: VERSION_ID as never, versionNumber: 1 }
    const ids = [
      await endedCall(test.db, clock, 'CA1'),
      await endedCall(test.db, clock, 'CA2', { facts: { agent } }),
      await endedCall(test.db, clock, 'CA3', { tenant: tenantTold('globex') }),
    ]
    await evaluate(ids[0] ?? '', { score: 0.1 })
    await clock.advance(1_000)
    secondAt = new Date(clock.now()).toISOString()
    await evaluate(ids[1] ?? '', { score: 0.2 })
    await clock.advance(1_000)
    await evaluate(ids[1] ?? '')
    await evaluate(ids[2] ?? '', { score: 0.4 }, 'globex')
    return ids
  }

  it('lists those of the tenant, newest first, page by page', async () => {
    await furnish()
    const { evaluations, next_cursor } = await list('?limit=2')
    expect(evaluations.map(({ score }) => score)).toEqual([0.8, 0.2])
    expect((await list(`?limit=2&cursor=${next_cursor}`)).evaluations.map(({ score }) => score)).toEqual([0.1])
    expect((await list('', 'globex')).evaluations.map(({ score }) => score)).toEqual([0.4])
  })

  it('finds what a query asks for', async () => {
    const [first, second, theirs] = await furnish()
    const found = async (query: string) => (await list(`?${query}`)).evaluations.map(({ score }) => score)
    expect(await found(`voice_session_id=${first}`)).toEqual([0.1])
    expect(await found(`voice_session_id=${second}`)).toEqual([0.8, 0.2])
    for (const query of [`voice_session_id=${theirs}`, 'voice_session_id=x', 'agent_version_id=x', 'agent_key=nobody'])
      expect(await found(query)).toEqual([])
    expect(await found('agent_key=sales')).toEqual([0.8, 0.2])
    expect(await found(`agent_version_id=${VERSION_ID}`)).toEqual([0.8, 0.2])
    expect(await found('source=model')).toEqual([0.8])
    expect(await found(`started_after=${secondAt}`)).toEqual([0.8, 0.2])
    expect(await found(`started_before=${secondAt}`)).toEqual([0.1])
  })

  it.each([
    ['?source=nobody', '/query/source'],
    ['?limit=501', '/query/limit'],
    ['?started_after=yesterday', '/query/started_after'],
    ['?score=1', '/query/score'],
  ])('refuses %s and names it', async (query, path) => {
    expect(await server.call('acme', 'GET', `/evaluations${query}`)).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    })
  })

  it('asks for a credential, and says when the database is down', async () => {
    expect((await server.call(null, 'GET', '/evaluations')).status).toBe(401)
    expect((await down.call('acme', 'GET', '/evaluations')).status).toBe(503)
  })
})
