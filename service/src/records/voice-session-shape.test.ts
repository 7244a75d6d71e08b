import { describe, expect, it } from 'vitest'
import type { FunctionCallRow, TurnRow } from './transcript-store.ts'
import { writeSupervisedSession } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

const ID = { tenant_id: 'acme', session_id: '0190a000-0000-7000-8000-000000000000' } as const
const SESSION = {
  id: ID.session_id,
  tenant_id: ID.tenant_id,
  latency: {},
  usage: {},
  started_at: null,
  ended_at: null,
} as VoiceSessionRow

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
    ...{
      start_ms: seq,
      end_ms: seq,
      interrupted: false,
      sent_ms: null,
      heard_ms: null,
      cost_usd: null,
      timeline: null,
    },
  } as TurnRow
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
    let others = 0
    let isWritten = false
    const count = () => {
      others += 1
      if (!isWritten) setImmediate(count)
    }
    setImmediate(count)
    const json = await writeSupervisedSession({
      ...{ session: SESSION, turns: numbers.map(turn), calls: numbers.map(called), actions: [] },
    })
    isWritten = true
    expect(JSON.parse(json)).toMatchObject({
      id: SESSION.id,
      transcript: numbers.map((seq) => ({ seq })),
      function_calls: numbers.map((seq) => ({ seq, arguments: { id: 7 } })),
      supervisor_actions: [],
    })
    expect(others).toBeGreaterThan(50)
  })
})
