import { describe, expect, it } from 'vitest'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { replayed } from './harness/replayed.ts'
import { until } from './harness/wait.ts'

const GREETING = 'Hello, this is Robin. How can I help you?'
const KINDS = 'We have wooden ones, and metal ones, and some that fold, for the garden or the balcony.'

const SCENARIO: Scenario = {
  name: 'a model that reasons speaks ahead of its answers',
  call: { from: '+12025550124', to: NUMBER },
  caller: {
    steps: [
      { say: 'I would like to know what a chair costs.' },
      // Behind the silence in which the model thinks, which is bridged by a sound.
      { say: 'Which kinds of chairs do you have?', after_agent_ms: 3_000 },
      { say: 'Stop. Please have somebody call me back.', over_agent_ms: 900 },
      { say: 'No, thank you. Goodbye.', after_agent_ms: 2_000 },
    ],
    stays: true,
  },
  agent: {
    rules: [
      { when: { greeting: true }, say: GREETING },
      { when: { turn: 1 }, ahead: { say: 'Let me look that up.', think_ms: 5_000 }, say: 'It costs forty pounds.' },
      { when: { turn: 2 }, ahead: { say: 'That is a good question, give me a second.' }, say: KINDS },
      {
        when: { turn: 3 },
        ahead: { say: 'I will see to it.' },
        call: [
          { name: 'schedule_callback', arguments: { summary: 'The price of a chair' } },
          { name: 'record_outcome', arguments: { tags: ['chairs'] } },
        ],
      },
      { when: { after_tool: 'any' }, say: 'Somebody will call you back. Is there anything else?' },
      {
        when: { says: 'goodbye' },
        ahead: { say: 'Thank you for calling.' },
        say: 'Goodbye, and take care.',
        end: true,
      },
    ],
  },
  expect: {
    status: 'completed',
    ended_by: 'rest',
    heard: [
      ...[GREETING, 'Let me look that up', 'It costs forty pounds', 'That is a good'],
      ...['I will see to it', 'Somebody will call you back', 'Thank you for calling', 'Goodbye, and take care'],
    ],
    not_heard: ['We have wooden ones'],
    clicks: 0,
    // But for the caller's own, which is three seconds once.
    longest_silence_ms: { max: 3_400 },
    truncations: 1,
    model_sessions: 1,
    tools: [{ name: 'schedule_callback' }, { name: 'record_outcome' }, { name: 'end_call' }],
  },
}

describe('a call whose model says something ahead of its answers, in the same response', () => {
  const test = useDatabase()
  const live = useLiveApp(test, { agent: { agent_name: 'Robin', greeting: GREETING, reasoning_effort: 'low' } })

  it('has both parts heard, and kept as they were heard', async () => {
    const { served, simulator } = live
    const report = await runScenario(simulator, SCENARIO, live.urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])

    const session = await until(
      async () => {
        const { body } = await served.call<{ voice_sessions: { id: string; ended_at: string | null }[] }>(
          'acme',
          'GET',
          '/voice-sessions',
        )
        const [one] = body.voice_sessions
        if (!one?.ended_at) return null
        return (
          await served.call<{ voice_session: Record<string, unknown> }>('acme', 'GET', `/voice-sessions/${one.id}`)
        ).body.voice_session
      },
      { what: 'the end of the session to be written down' },
    )
    const turns = session['transcript'] as { role: string; text: string; unheard: string; interrupted: boolean }[]
    const said = turns.filter(({ role, text }) => role === 'agent' && text !== '').map(({ text }) => text)
    expect(said).toEqual([
      ...[GREETING, 'Let me look that up.', 'It costs forty pounds.', expect.stringMatching(/^That is a/)],
      ...['I will see to it.', 'Somebody will call you back. Is there anything else?'],
      ...['Thank you for calling.', 'Goodbye, and take care.'],
    ])
    expect(turns.filter(({ interrupted }) => interrupted)).toMatchObject([
      { role: 'agent' },
      { text: '', unheard: KINDS },
    ])
    expect(session['function_calls']).toMatchObject([
      { name: 'schedule_callback', status: 'ok' },
      { name: 'record_outcome', status: 'ok' },
      { name: 'end_call', status: 'ok' },
    ])
    const record = simulator.model.sessions.at(-1)?.record
    // The greeting, one answer to each turn, and one for both tools.
    expect(record?.said.map(({ status }) => status)).toEqual(Array(6).fill('completed'))
    expect([record?.errors, record?.received['session.update']]).toEqual([[], 1])
    expect([record?.received['conversation.item.delete'], record?.received['response.cancel']]).toEqual([1, undefined])
    expect(await replayed(served.dataDir, String(session['id']))).toMatchObject({ code: 0 })
  })
})
