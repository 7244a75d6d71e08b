import { describe, expect, it } from 'vitest'
import { othersTurns } from '../../test/harness/others-turns.ts'
import type { FunctionCallRow, TurnRow } from './transcript-store.ts'
import { TurnTimeline } from './turn-timeline.ts'
import { SupervisedSession, writeSupervisedSession } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

const ID = { tenant_id: 'acme', session_id: '0190a000-0000-7000-8000-000000000000' } as const
const SESSION = {
  ...{ id: ID.session_id, tenant_id: ID.tenant_id, org_id: null, call_sid: 'CA1', stream_sid: 'MZ1' },
  ...{ direction: 'inbound', agent_key: null, agent_name: null, agent_version_id: null, version_number: null },
  ...{ model: null, voice: null, audio_output_provider: 'primary', started_at: null, ended_at: null },
  ...{ duration_seconds: null, end_reason: null, resumed_count: 0, cost_usd: null, tags: [], outcome: null },
  latency: { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 },
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 },
  ...{ outcome_notes: null, qa: null, qa_status: null, qa_reason: null, summary: null, metadata: {} },
  ...{ extraction: null, extraction_status: null, extraction_reason: null, has_recording: false },
} as unknown as VoiceSessionRow

/** In the order in which a database gives it: that of the lengths of its names. */
const TIMELINE = {
  tools: [],
  ...{ asked_ms: 20, heard_ms: 60, committed_ms: 10, first_byte_ms: 40, first_sent_ms: 50, speech_end_ms: 5 },
} satisfies TurnRow['timeline']

function turn(seq: number): TurnRow {
  return {
    ...{
      ...ID,
      item_id: `item_${seq}`,
      seq,
      role: 'caller',
      agent_name: null,
      text: 'words '.repeat(500),
      unheard: '',
    },
    ...{ start_ms: seq, end_ms: seq, interrupted: false, sent_ms: null, heard_ms: null, cost_usd: null },
    timeline: TIMELINE,
  } as unknown as TurnRow
}

function called(seq: number): FunctionCallRow {
  return {
    ...{ ...ID, call_id: `call_${seq}`, seq, name: 'look_up', arguments: '{"id":7}', result: `"${'x'.repeat(3_000)}"` },
    ...{ status: 'ok', start_ms: seq, duration_ms: 1 },
  } as FunctionCallRow
}

describe('A session with all that was said and done in it', () => {
  it('is written whole while others have their turns', async () => {
    const numbers = Array.from({ length: 1_000 }, (_, at) => at + 1)
    const whole = { session: SESSION, turns: numbers.map(turn), calls: numbers.map(called), actions: [] }
    const { done: json, turns } = await othersTurns(() => writeSupervisedSession(whole))
    expect(JSON.parse(json)).toMatchObject({
      id: SESSION.id,
      transcript: numbers.map((seq) => ({ seq })),
      function_calls: numbers.map((seq) => ({ seq, arguments: { id: 7 } })),
      supervisor_actions: [],
    })
    expect(turns).toBeGreaterThan(50)
  })

  it('has its members in the order in which they are described', async () => {
    const json = await writeSupervisedSession({ session: SESSION, turns: [turn(1)], calls: [called(1)], actions: [] })
    const written = JSON.parse(json) as { transcript: { timeline: object }[] }
    expect(Object.keys(written)).toEqual(Object.keys(SupervisedSession.properties))
    expect(Object.keys(written.transcript[0]?.timeline ?? {})).toEqual(Object.keys(TurnTimeline.properties))
  })
})
