import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import { openServer } from '../platform/db/server.ts'
import type { SessionId } from './call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from './calls.fixture.ts'
import { type JournalEntry, type JournaledTurn, toolEntry, turnEntry } from './journal-entry.ts'
import { writeEntries } from './journal-write.ts'
import { makeOutcomes } from './outcomes.ts'
import { makeSessions, type NewCall } from './sessions.ts'
import { insertSupervisorAction, type SupervisorAction } from './supervisor-action-store.ts'
import { voiceSessionRoutes } from './voice-session-routes.ts'
import { makeVoiceSessions } from './voice-sessions.ts'

type List = { voice_sessions: { call_sid: string; id: string }[]; next_cursor: string | null }

const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'

const TOLD = {
  ...{
    speechEndMs: 3_000.4,
    committedMs: 3_500.6,
    askedMs: 3_501,
    firstByteMs: 3_999,
    firstSentMs: 4_000,
    heardMs: 4_040,
  },
  tools: [{ callId: 'call_1', name: 'find_slot', startMs: 3_600, endMs: null }],
}
const TIMELINE = {
  ...{ speech_end_ms: 3_000, committed_ms: 3_501, asked_ms: 3_501, first_byte_ms: 3_999, first_sent_ms: 4_000 },
  ...{ heard_ms: 4_040, tools: [{ call_id: 'call_1', name: 'find_slot', start_ms: 3_600, end_ms: null }] },
}

const test = useDatabase()
// Nobody listens there.
const unreachable = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
const server = useTenantServer(
  () => test.db,
  () => [voiceSessionRoutes(makeVoiceSessions({ db: test.db }))],
)
const downServer = useTenantServer(
  () => test.db,
  () => [voiceSessionRoutes(makeVoiceSessions({ db: unreachable.db }))],
)
let clock: TestClock

beforeEach(async () => {
  clock = new TestClock()
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})
afterAll(() => unreachable.close())

async function open(tenant: string, callSid: string, facts: Partial<NewCall> = {}): Promise<SessionId> {
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  return (await sessions.open(tenantTold(tenant), someCall(callSid, facts))).sessionId
}

async function start(callSid: string): Promise<void> {
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  await sessions.started(tenantTold('acme'), {
    ...{ callSid, epoch: 1, streamSid: `MZ${callSid}`, model: 'realtime-1', voice: 'marin' },
  })
}

async function say(callSid: string, sessionId: SessionId, turns: JournaledTurn[], tools: JournalEntry[] = []) {
  const call = { tenant: tenantTold('acme'), callSid, sessionId, epoch: 1 }
  const entries = [...turns.map((turn) => turnEntry(call, turn)), ...tools]
  await test.db.transaction().execute((tx) => writeEntries(tx, entries, { now: new Date(clock.now()) }))
}

async function listed(query: string): Promise<string[]> {
  const { status, body } = await server.call<List>('acme', 'GET', `/voice-sessions${query}`)
  expect(status).toBe(200)
  return body.voice_sessions.map(({ call_sid }) => call_sid)
}

const SUMMARY = {
  ...{ tenant_id: 'acme', org_id: 'org-1', call_sid: 'CA1', stream_sid: 'MZCA1', direction: 'inbound' },
  ...{ agent_key: 'support', agent_name: 'Robin', agent_version_id: null, version_number: 3, model: 'realtime-1' },
  ...{ voice: 'marin', audio_output_provider: 'primary', started_at: '2030-01-01T00:00:01.000Z', ended_at: null },
  ...{ duration_seconds: null, end_reason: null, resumed_count: 0, tags: ['vip'], outcome: 'booked' },
  ...{ outcome_notes: null, recording_url: null, metadata: { order: 7 }, qa: null, qa_status: null, qa_reason: null },
  ...{ cost_usd: null, summary: null, extraction: null, extraction_status: null, extraction_reason: null },
  latency: { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 },
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 },
}

/** A session with every field that it can have before its end. */
async function openWhole(): Promise<SessionId> {
  const id = await open('acme', 'CA1', { metadata: { order: 7 } })
  await clock.advance(1_000)
  await start('CA1')
  const change = { tags: ['vip'], outcome: 'booked', notes: null }
  await makeOutcomes({ db: test.db }).record('acme' as TenantId, id, change)
  const call = { tenant: tenantTold('acme'), callSid: 'CA1', sessionId: id, epoch: 1 }
  const asked = { callId: 'call_1', seq: 1, name: 'find_slot', argumentsText: '{"day":"Monday"}', result: 'none free' }
  const broken = { callId: 'call_2', seq: 2, name: 'find_slot', argumentsText: '{"day":', result: '{"error":"JSON"}' }
  await say(
    'CA1',
    id,
    [
      someTurn(2, { text: 'Yes, pl', unheard: 'ease.', interrupted: true, costUsd: 0.0042, timeline: TOLD }),
      someTurn(1),
    ],
    [
      toolEntry(call, { ...asked, status: 'ok', startMs: 900, durationMs: 80 }),
      toolEntry(call, { ...broken, status: 'error', startMs: 1_900, durationMs: 1 }),
    ],
  )
  return id
}

/** Somebody does that to the call `CA1`. @returns the action, but for its instant. */
async function act(tenant: string, done: Partial<SupervisorAction>) {
  const facts = {
    ...{ tenant_id: tenant as TenantId, id: newId<string>(clock.now()), stream_sid: 'MZCA1', call_sid: 'CA1' },
    ...{ action: 'note', supervisor: 'ada', target: null, reason: null, note: null, metadata: {}, ...done },
  }
  await insertSupervisorAction(test.db, facts.tenant_id, { ...facts, created_at: new Date(clock.now()) })
  return facts
}

async function actionsIn(tenant: string, id: SessionId): Promise<{ note: string | null }[]> {
  type Read = { voice_session: { supervisor_actions: { note: string | null }[] } }
  const { status, body } = await server.call<Read>(tenant, 'GET', `/voice-sessions/${id}`)
  expect(status).toBe(200)
  return body.voice_session.supervisor_actions
}

describe('GET voice-sessions', () => {
  it('shows every field of a session but what was said and done', async () => {
    const id = await openWhole()
    expect(await server.call('acme', 'GET', '/voice-sessions')).toEqual({
      status: 200,
      body: { ok: true, count: 1, next_cursor: null, voice_sessions: [{ id, ...SUMMARY }] },
    })
  })

  it('lists the sessions of the tenant only, newest first, page by page', async () => {
    await open('globex', 'CA9')
    for (const sid of ['CA1', 'CA2', 'CA3']) {
      await open('acme', sid)
      await clock.advance(1)
    }
    const { body } = await server.call<List>('acme', 'GET', '/voice-sessions?limit=2')
    expect(body).toMatchObject({ count: 2, voice_sessions: [{ call_sid: 'CA3' }, { call_sid: 'CA2' }] })
    expect(await listed(`?limit=2&cursor=${body.next_cursor}`)).toEqual(['CA1'])
  })

  it.each([
    ['?status=in-progress', ['CA2']],
    ['?direction=outbound', ['CA3']],
    ['?agent_key=sales', ['CA3']],
    ['?agent_key=nobody', []],
    ['?from=+12025550102', ['CA3']],
    ['?to=%2B12025550199', ['CA3', 'CA2', 'CA1']],
    ['?started_after=2030-01-01T00:00:00Z', ['CA2']],
    ['?started_before=2030-01-01T00:00:01Z', []],
    ['?tag=vip', ['CA2', 'CA1']],
    ['?tag=late', ['CA1']],
    ['?tag=unheard-of', []],
    ['?end_reason=voicemail', ['CA3']],
    ['?tag=vip&status=ringing', ['CA1']],
  ])('finds what %s asks for', async (query, expected) => {
    const first = await open('acme', 'CA1')
    await clock.advance(1_000)
    const second = await open('acme', 'CA2')
    await start('CA2')
    await clock.advance(1_000)
    const agent = { agentKey: 'sales', agentName: 'Kim', versionId: null, versionNumber: 1 }
    const third = await open('acme', 'CA3', { agent, direction: 'outbound', from: '+12025550102' })
    const outcomes = makeOutcomes({ db: test.db })
    await outcomes.record('acme' as TenantId, first, { tags: ['vip', 'late'], outcome: null, notes: null })
    await outcomes.record('acme' as TenantId, second, { tags: ['vip'], outcome: null, notes: null })
    await test.db.updateTable('voice_sessions').set({ end_reason: 'voicemail' }).where('id', '=', third).execute()
    expect(await listed(query)).toEqual(expected)
  })

  it.each([
    ['refund', ['CA2', 'CA1']],
    ['REFUND', ['CA2', 'CA1']],
    // In two different turns.
    ['refund monday', ['CA1']],
    ['"next week"', ['CA2']],
    ['"week next"', []],
    ['refund "on monday"', ['CA1']],
    ["don't", ['CA1']],
    ['refund -- !', ['CA2', 'CA1']],
    ['refund refund refund refund refund refund refund refund refund refund monday', ['CA1']],
    ['"i want a refund i don\'t need it" you have it on monday', ['CA1']],
    ['refunds', []],
    ['unheard', []],
    ['"', []],
    ['-- !', []],
  ])('searches transcripts for %s', async (q, expected) => {
    const first = await open('acme', 'CA1')
    await say('CA1', first, [
      someTurn(1, { text: "I want a refund, I don't need it." }),
      someTurn(2, { text: 'You have it on Monday.', unheard: 'unheard' }),
    ])
    await clock.advance(1)
    await say('CA2', await open('acme', 'CA2'), [someTurn(1, { text: 'A refund takes until next week.' })])
    await say('CA3', await open('acme', 'CA3'), [someTurn(1, { text: 'Hello.' })])
    expect(await listed(`?q=${encodeURIComponent(q)}`)).toEqual(expected)
  })

  it("never searches another tenant's transcripts", async () => {
    const id = await open('acme', 'CA1')
    await say('CA1', id, [someTurn(1, { text: 'A refund.' })])
    const { body } = await server.call<List>('globex', 'GET', '/voice-sessions?q=refund')
    expect(body.voice_sessions).toEqual([])
    expect(await listed('?q=refund')).toEqual(['CA1'])
  })

  it.each([
    ['?status=over', '/query/status'],
    ['?end_reason=bored', '/query/end_reason'],
    ['?q=', '/query/q'],
    ['?q=i would like to get my money back for the kettle', '/query/q'],
    ['?tags=vip', '/query/tags'],
    ['?limit=501', '/query/limit'],
  ])('refuses %s and names it', async (query, path) => {
    expect(await server.call('acme', 'GET', `/voice-sessions${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path }] },
    })
  })
})

describe('GET voice-sessions/:id', () => {
  it('shows a session with its transcript and its function calls, in their order', async () => {
    const id = await openWhole()
    expect(await server.call('acme', 'GET', `/voice-sessions/${id}`)).toEqual({
      status: 200,
      body: {
        ok: true,
        voice_session: {
          ...{ id, ...SUMMARY },
          transcript: [
            {
              ...{ seq: 1, role: 'agent', agent_name: null, text: 'Sentence 1.', unheard: '' },
              ...{ start_ms: 2_000, end_ms: 3_500, interrupted: false, cost_usd: null, timeline: null },
            },
            {
              ...{ seq: 2, role: 'caller', agent_name: null, text: 'Yes, pl', unheard: 'ease.' },
              ...{ start_ms: 4_000, end_ms: 5_500, interrupted: true, cost_usd: 0.0042, timeline: TIMELINE },
            },
          ],
          function_calls: [
            {
              ...{ seq: 1, name: 'find_slot', arguments: { day: 'Monday' }, result: 'none free', status: 'ok' },
              ...{ start_ms: 900, duration_ms: 80 },
            },
            {
              ...{ seq: 2, name: 'find_slot', arguments: '{"day":', result: { error: 'JSON' }, status: 'error' },
              ...{ start_ms: 1_900, duration_ms: 1 },
            },
          ],
          supervisor_actions: [],
        },
      },
    })
  })

  it('shows what supervisors did in it, oldest first', async () => {
    const id = await openWhole()
    const note = await act('acme', { action: 'note', note: 'Wants the green chair.', metadata: { ticket: 7 } })
    await clock.advance(1_000)
    const ended = await act('acme', { action: 'end_call', reason: 'abuse', target: null })
    await act('globex', { action: 'escalate', target: 'billing' })
    expect(await actionsIn('acme', id)).toEqual([
      { ...note, created_at: '2030-01-01T00:00:01.000Z' },
      { ...ended, created_at: '2030-01-01T00:00:02.000Z' },
    ])
    expect((await server.call('globex', 'GET', `/voice-sessions/${id}`)).status).toBe(404)
  })

  it('shows no more of it than calls can go on beside', async () => {
    const id = await open('acme', 'CA1')
    await sql`
      insert into supervisor_actions (tenant_id, id, stream_sid, call_sid, action, note, metadata, created_at)
      select 'acme', gen_random_uuid(), 'MZCA1', 'CA1', 'note', n, '{}', timestamptz '2030-01-01' + n * interval '1 second'
        from generate_series(1, 501) n`.execute(test.db)
    const notes = async () => (await actionsIn('acme', id)).map(({ note }) => note)
    expect(await notes()).toEqual(Array.from({ length: 500 }, (_, n) => String(n + 1)))
    await sql`update supervisor_actions set note = repeat('x', 400000)`.execute(test.db)
    expect(await notes()).toHaveLength(2)
  })

  it("knows no unknown session and none of another tenant's", async () => {
    const id = await open('globex', 'CA1')
    expect((await server.call('globex', 'GET', `/voice-sessions/${id}`)).status).toBe(200)
    for (const unknown of [id, UNKNOWN_ID, 'first']) {
      expect(await server.call('acme', 'GET', `/voice-sessions/${unknown}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
  })
})

describe('the voice session routes', () => {
  const PATHS = ['/voice-sessions', `/voice-sessions/${UNKNOWN_ID}`]

  it.each(PATHS)('let nobody without a credential read %s', async (path) => {
    expect(await server.call(null, 'GET', path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })

  it.each(PATHS)('say of %s that the database is down', async (path) => {
    expect(await downServer.call('acme', 'GET', path)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})
