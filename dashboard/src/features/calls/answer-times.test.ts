import { describe, expect, it } from 'vitest'
import { answerTimes } from './answer-times.ts'
import type { VoiceSession } from './call-queries.ts'

type Turn = VoiceSession['transcript'][number]
const turn = (role: Turn['role'], startMs: number, endMs: number): Turn => ({
  ...{ seq: startMs, role, text: '', unheard: '', agent_name: null, start_ms: startMs, end_ms: endMs },
  ...{ interrupted: false, cost_usd: null, timeline: null },
})
const tool = (name: string, startMs: number): VoiceSession['function_calls'][number] => ({
  ...{ seq: startMs, name, arguments: {}, result: {}, status: 'ok', start_ms: startMs, duration_ms: 300 },
})

describe('answerTimes', () => {
  it('are from the end of what the caller said to the answer, and not of a greeting', () => {
    const transcript = [turn('agent', 400, 2_000), turn('caller', 2_500, 3_500), turn('agent', 4_100, 5_000)]
    expect(answerTimes({ transcript, function_calls: [] })).toEqual([
      { seq: 4_100, askedMs: 3_500, waitedMs: 600, stages: [], tools: [] },
    ])
  })

  it('know the tools that were waited for', () => {
    const transcript = [turn('caller', 0, 1_000), turn('system', 1_100, 1_100), turn('agent', 2_000, 3_000)]
    const times = answerTimes({ transcript, function_calls: [tool('early', 500), tool('lookup', 1_200)] })
    expect(times).toMatchObject([{ waitedMs: 1_000, tools: [{ name: 'lookup', durationMs: 300 }] }])
  })

  it('are what the service has measured, where it has', () => {
    const timeline = {
      ...{ speech_end_ms: 1_000, committed_ms: 1_500, asked_ms: 1_510, first_byte_ms: 2_000, first_sent_ms: 2_001 },
      ...{ heard_ms: 2_041, tools: [{ call_id: 'c', name: 'lookup', start_ms: 1_600, end_ms: 1_800 }] },
    }
    const transcript = [turn('caller', 0, 900), { ...turn('agent', 2_000, 3_000), timeline }]
    expect(answerTimes({ transcript, function_calls: [] })).toEqual([
      {
        ...{ seq: 2_000, askedMs: 1_000, waitedMs: 1_041, tools: [{ name: 'lookup', durationMs: 200 }] },
        stages: [
          { name: 'End of turn', ms: 500 },
          { name: 'Request', ms: 10 },
          { name: 'Model', ms: 490 },
          { name: 'Sending', ms: 1 },
          { name: 'Way', ms: 40 },
        ],
      },
    ])
  })

  it('are never below nothing, where the agent did not wait for the end', () => {
    const transcript = [turn('caller', 0, 1_000), turn('agent', 900, 2_000)]
    expect(answerTimes({ transcript, function_calls: [] })).toMatchObject([{ waitedMs: 0 }])
  })
})
