import { beforeEach, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { showCallLog } from './call-log-shape.ts'
import type { CallLogRow } from './call-log-store.ts'
import { makeCallLogs } from './call-logs.ts'
import { NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeSessions } from './sessions.ts'
import { showSession } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'
import { makeVoiceSessions } from './voice-sessions.ts'

const ACME = 'acme' as TenantId
/** What is hard to write: in JSON, in SQL, in either's text. */
const HARD = 'a "quoted" back\\slash, a\nline, Zoë, 电话, \u{1F4DE}, \u2028 and \u0001'
const METADATA = { order: 7, deep: { ok: [true, null, 1.5e-7] }, [HARD]: HARD, empty: {} }

const test = useDatabase()

/** An instant with this many milliseconds behind its second. */
const at = (ms: number) => new Date(Date.UTC(2030, 0, 31, 9, 5, 0, ms))

const CALLS: Partial<CallLogRow>[] = [
  {},
  { call_sid: null, status: 'failed', error_code: 'carrier_rejected', error_message: HARD, started_at: null },
  { answered_at: null, ended_at: at(500), status: 'no-answer' },
  { answered_at: at(0), ended_at: new Date(at(0).getTime() + 63_499), status: 'completed' },
  { answered_at: at(0), ended_at: new Date(at(0).getTime() + 63_500), status: 'completed' },
  { answered_at: at(900), ended_at: at(100), status: 'completed' },
  { answered_at: at(0), ended_at: at(120), duration_seconds: 41, cost_usd: 0.1 + 0.2, status: 'completed' },
  { answered_at: at(1), duration_seconds: 41, answered_by: 'human', escalated: true, escalation_target: HARD },
  { summary: HARD, metadata: METADATA, cost_usd: 1e-9 },
  { placed_by: HARD, canceled_by: 'ada', ended_at: at(500), status: 'canceled' },
  { placed_by: 'grace@acme.example', canceled_by: 'ada', answered_at: at(0), status: 'in-progress' },
]

const SESSIONS: Partial<VoiceSessionRow>[] = [
  {},
  { started_at: at(7), ended_at: at(70), duration_seconds: 0, end_reason: 'caller_hangup', resumed_count: 2 },
  {
    ...{ model: 'gpt-realtime', voice: 'marin', audio_output_provider: 'secondary', has_recording: true },
    latency: { greeting_ms: 12, response_p50_ms: 340, response_p95_ms: 910, interruptions: 3, response_times: 'abc' },
    usage: { input_tokens: 1, output_tokens: 2, cached_tokens: 3, audio_seconds: 4.25, is_partial: true },
    ...{ tags: ['vip', HARD, '{a,b}', ''], outcome: HARD, outcome_notes: '', cost_usd: 0.1 + 0.2, metadata: METADATA },
  },
  {
    qa: { score: 0.85, high_quality: true, summary: HARD, criteria: [{ name: 'tone', score: 1, reason: null }] },
    ...{ qa_status: 'scored', summary: HARD, extraction: METADATA, extraction_status: 'filled' },
  },
  { qa_status: 'not_scored', qa_reason: HARD, extraction_status: 'missing', extraction_reason: HARD },
]

beforeEach(() => makeTenant(test.db, ACME))

async function openCalls(count: number): Promise<string[]> {
  const sessions = makeSessions({ db: test.db, clock: new TestClock(), nodeId: NODE })
  const sids = Array.from({ length: count }, (_, i) => `CA${i}`)
  for (const sid of sids) await sessions.open(tenantTold(ACME), someCall(sid))
  return sids
}

/** As they come out of the API: by what is not written there, they are not told apart. */
function byText(rows: readonly unknown[]): unknown[] {
  return rows.map((row): unknown => JSON.parse(JSON.stringify(row))).toSorted((a, b) => text(a).localeCompare(text(b)))
}

function text(row: unknown): string {
  return JSON.stringify(Object.entries(row as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

it('shows calls in lists as it shows each of them', async () => {
  for (const [i, sid] of (await openCalls(CALLS.length)).entries()) {
    await test.db
      .updateTable('call_logs')
      .set({ direction: 'inbound', ...CALLS[i] })
      .where('call_sid', '=', sid)
      .execute()
  }
  const stored = await test.db.selectFrom('call_logs').selectAll().execute()
  const { json, count } = await makeCallLogs({ db: test.db }).list(ACME, {}, readPage({}))
  expect(count).toBe(CALLS.length)
  expect(byText(JSON.parse(json))).toEqual(byText(stored.map(showCallLog)))
})

it('shows sessions in lists as it shows each of them', async () => {
  for (const [i, sid] of (await openCalls(SESSIONS.length)).entries()) {
    await test.db
      .updateTable('voice_sessions')
      .set({ direction: 'inbound', ...SESSIONS[i] })
      .where('call_sid', '=', sid)
      .execute()
  }
  const stored = await test.db.selectFrom('voice_sessions').selectAll().execute()
  const { json, count } = await makeVoiceSessions({ db: test.db }).list(ACME, {}, readPage({}))
  expect(count).toBe(SESSIONS.length)
  expect(byText(JSON.parse(json))).toEqual(byText(stored.map(showSession)))
})

it('has a cursor exactly when there is more', async () => {
  await openCalls(3)
  const { list } = makeCallLogs({ db: test.db })
  const counts = await Promise.all(
    [0, 2, 3, 4].map(async (limit) => {
      const { count, nextCursor } = await list(ACME, {}, readPage({ limit }))
      return [count, nextCursor !== null]
    }),
  )
  expect(counts).toEqual([
    [0, false],
    [2, true],
    [3, false],
    [3, false],
  ])
})
