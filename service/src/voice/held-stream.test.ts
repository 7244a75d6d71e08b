import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import type { SessionId, ToolStatus, TurnRole } from '../records/call-values.ts'
import type { EarlierStream } from '../records/sessions.ts'
import { NOT_ANSWERED } from '../records/transcript-store.ts'
import { resumptionOf } from './held-stream.ts'

const OF_SESSION = { tenant_id: 'acme' as TenantId, session_id: '0197' as SessionId }
const STARTED_AT = new Date('2026-01-01T10:00:00Z')

function turn(seq: number, role: TurnRole, startMs: number): EarlierStream['turns'][number] {
  const heard = { text: 'Some words.', unheard: '', interrupted: false, sent_ms: null, heard_ms: null }
  const unknown = { agent_name: null, cost_usd: null, timeline: null }
  return { ...OF_SESSION, ...heard, ...unknown, item_id: `i${seq}`, seq, role, start_ms: startMs, end_ms: startMs }
}

type Called = { name?: string; startMs: number; result?: string; status?: ToolStatus }

function tool({ name = 'price_of', startMs, result = '"ten"', status = 'ok' }: Called) {
  const asked = { call_id: `c${startMs}`, seq: 1, name, arguments: '{}', result, status }
  return { ...OF_SESSION, ...asked, start_ms: startMs, duration_ms: result === NOT_ANSWERED ? 0 : 1_000 }
}

const NOBODY = { answered_by: null, answered_by_source: null }

function left(turns: EarlierStream['turns'], toolCalls: EarlierStream['toolCalls']): EarlierStream {
  return {
    answered: NOBODY,
    ...{ startedAt: STARTED_AT, streamSid: 'MZ1', turns, toolCalls, isRecordingPaused: false, escalation: null },
    latency: { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 },
    ...{ usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 }, costUsd: null },
  }
}

describe('What a session goes on from', () => {
  it.each<[string, EarlierStream['turns'], Called, boolean]>([
    ['has answered, and the agent has said nothing since', [], { startMs: 4_000 }, true],
    ['has answered, and the agent spoke of it', [turn(3, 'agent', 5_500)], { startMs: 4_000 }, false],
    ['has answered behind a word that it takes a moment', [turn(3, 'agent', 4_500)], { startMs: 4_000 }, true],
    ['has not answered', [turn(3, 'agent', 4_500)], { startMs: 4_000, result: NOT_ANSWERED, status: 'timeout' }, true],
    [
      'has never answered, which is long ago',
      [turn(3, 'agent', 4_500), turn(4, 'caller', 9_000), turn(5, 'agent', 11_000)],
      { startMs: 4_000, result: NOT_ANSWERED, status: 'timeout' },
      false,
    ],
    ['has pressed keys, of which it says nothing', [], { name: 'send_dtmf', startMs: 4_000 }, false],
    ['was to end the call, which goes on', [], { name: 'end_call', startMs: 4_000 }, false],
  ])('knows whether the agent owes words on a tool that %s', (_, since, called, isOwed) => {
    const before = left([turn(1, 'caller', 1_000), turn(2, 'agent', 3_000), ...since], [tool(called)])
    expect(resumptionOf(before, 2, STARTED_AT).toolCalls).toMatchObject([{ name: called.name ?? 'price_of', isOwed }])
  })

  it('counts on from what the call has cost, which nobody knows where a part of it has no known price', () => {
    const spoken = [{ ...turn(1, 'agent', 1_000), cost_usd: 0.25 }]
    const used = { ...left(spoken, []).usage, output_tokens: 20 }
    const costOf = (facts: Partial<EarlierStream>) =>
      resumptionOf({ ...left(spoken, []), ...facts }, 2, STARTED_AT).costUsd
    expect(costOf({ usage: used, costUsd: 0.5 })).toBe(0.5)
    expect(costOf({ costUsd: null })).toBe(0.25)
    expect(costOf({ usage: used, costUsd: null })).toBeNull()
  })

  it.each([
    ['screening', 'words', { by: 'screening', from: 'words' }],
    ['machine_start', 'carrier', null],
    [null, null, null],
  ] as const)(
    'knows who answered, %s by %s, as far as that was heard by us',
    (answered_by, answered_by_source, known) => {
      const before = { ...left([], []), answered: { answered_by, answered_by_source } }
      expect(resumptionOf(before, 2, STARTED_AT).answered).toEqual(known)
    },
  )
})
