import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { replayed } from './harness/replayed.ts'
import { until } from './harness/wait.ts'

const SCENARIO: Scenario = {
  name: 'a caller rings, an agent answers',
  call: { from: '+12025550123', to: NUMBER },
  caller: {
    steps: [
      { say: 'I would like to know what a chair costs.' },
      { say: 'Stop. Please have somebody call me back.', over_agent_ms: 2_000 },
      // Between the answer and what follows from the tool there may be a pause.
      { say: 'No, thank you. Goodbye.', after_agent_ms: 3_000 },
    ],
    stays: true,
  },
  agent: {
    rules: [
      { when: { greeting: true }, say: 'Hello, this is Robin. How can I help you?' },
      {
        when: { turn: 1 },
        say: 'We have many kinds of chairs. There are wooden ones, and there are metal ones, and there are some that fold, for the garden or the balcony.',
      },
      {
        when: { turn: 2 },
        say: 'I will see to it.',
        call: { name: 'schedule_callback', arguments: { summary: 'The price of a chair' } },
      },
      { when: { after_tool: 'schedule_callback' }, say: 'Somebody will call you back. Is there anything else?' },
      { when: { says: 'goodbye' }, say: 'Thank you for calling. Goodbye.', end: true },
    ],
  },
  expect: {
    status: 'completed',
    ended_by: 'rest',
    heard: ['Hello, this is Robin', 'We have many kinds', 'I will see to it', 'Somebody will call you back', 'Goodbye'],
    not_heard: ['for the garden or the balcony'],
    understood: ['what a chair costs', 'call me back', 'Goodbye'],
    clears: 1,
    truncations: 1,
    clicks: 0,
    model_sessions: 1,
    tools: [{ name: 'schedule_callback' }, { name: 'end_call' }],
  },
}

describe('a call', () => {
  const test = useDatabase()
  const live = useLiveApp(test, {
    agent: { agent_name: 'Robin', greeting: 'Hello, this is Robin. How can I help you?' },
  })

  it('is answered, interrupted, served by a tool and ended by the agent, all of it is kept, and it can be run again', async () => {
    const { served } = live
    const report = await runScenario(live.simulator, SCENARIO, live.urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])

    const { sid } = report.facts
    const { body } = await until(
      async () => {
        const answer = await served.call<{ call_log: Record<string, unknown> }>('acme', 'GET', `/call-logs/${sid}`)
        return answer.body.call_log?.['status'] === 'completed' ? answer : null
      },
      { what: 'the end of the call to be written down' },
    )
    expect(body.call_log).toMatchObject({
      ...{ direction: 'inbound', from: '+12025550123', to: NUMBER, agent_key: 'desk', agent_name: 'Robin' },
      ...{ version_number: 1, status: 'completed', escalated: false },
    })
    const session = await until(
      async () => {
        const id = String(body.call_log['voice_session_id'])
        const answer = await served.call<{ voice_session: Record<string, unknown> }>(
          'acme',
          'GET',
          `/voice-sessions/${id}`,
        )
        return answer.body.voice_session?.['ended_at'] ? answer.body.voice_session : null
      },
      { what: 'the end of the session to be written down' },
    )
    const transcript = session['transcript'] as { role: string; text: string; interrupted: boolean }[]
    expect(transcript.map(({ role }) => role)).toEqual([
      ...['agent', 'caller', 'agent', 'caller', 'agent', 'agent', 'caller', 'agent'],
    ])
    expect(transcript.filter(({ role }) => role === 'caller').map(({ text }) => text)).toEqual([
      'I would like to know what a chair costs.',
      'Stop. Please have somebody call me back.',
      'No, thank you. Goodbye.',
    ])
    expect(transcript.filter(({ interrupted }) => interrupted)).toHaveLength(1)
    expect(session['end_reason']).toBe('agent_hangup')
    expect(session['function_calls']).toMatchObject([
      { name: 'schedule_callback', status: 'ok' },
      { name: 'end_call', status: 'ok' },
    ])
    expect(await test.db.selectFrom('callback_tasks').selectAll().execute()).toMatchObject([
      { call_sid: sid, customer_phone: '+12025550123', summary: 'The price of a chair', status: 'open' },
    ])
    const timelines = (session['transcript'] as { timeline: { tools: { name: string }[] } | null }[]).flatMap(
      ({ timeline }) => (timeline ? [timeline] : []),
    )
    expect(timelines.map(({ tools }) => tools.map(({ name }) => name))).toEqual([[], [], []])
    for (const { tools: _tools, ...instants } of timelines)
      expect(Object.values(instants)).toEqual(Object.values(instants).toSorted((a, b) => Number(a) - Number(b)))

    const id = String(session['id'])
    expect(await replayed(served.dataDir, id)).toEqual({
      ...{ code: 0, said: expect.stringContaining('the same follows; ended by agent_hangup') },
    })
    const log = join(served.dataDir, 'event-logs', 'acme', id)
    expect(await readdir(log)).toEqual(['1.events'])
    expect(await served.call('acme', 'DELETE', `/voice-sessions/${id}`)).toMatchObject({ status: 200 })
    await expect(readdir(log)).rejects.toThrow('ENOENT')
    expect(served.logLines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
