import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { talkSpans } from '../../simulator/src/audio/levels.ts'
import { encodeMulaw } from '../../simulator/src/audio/mulaw.ts'
import { runScenario, type ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { readWav } from '../src/records/recordings.fixture.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { scratchFolder } from './harness/scratch.ts'
import { until } from './harness/wait.ts'

const SCENARIO: Scenario = {
  name: 'a conversation with an interruption',
  call: { from: '+12025550123', to: NUMBER },
  caller: {
    steps: [
      { say: 'I would like to know what a chair costs.' },
      { say: 'Stop. Please have somebody call me back.', over_agent_ms: 2_000 },
      { say: 'No, thank you. Goodbye.' },
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
      { when: { turn: 2 }, say: 'I will see to it. Is there anything else?' },
      { when: { says: 'goodbye' }, say: 'Thank you for calling. Goodbye.', end: true },
    ],
  },
  expect: { status: 'completed', clears: 1, not_heard: ['for the garden or the balcony'] },
}
/** What the ways between the carrier and the service may take, and the granularity of the comparison. */
const CLOSE_MS = 120

type Span = { startMs: number; endMs: number }

/** Whether both sides were heard at the same times, when one record begins `offsetMs` after the other. */
function expectSame(ours: Span[], carriers: Span[], offsetMs: number): void {
  expect(ours, JSON.stringify({ ours, carriers })).toHaveLength(carriers.length)
  for (const [n, { startMs, endMs }] of carriers.entries()) {
    expect(Math.abs((ours[n]?.startMs ?? 0) + offsetMs - startMs), `start ${n}`).toBeLessThan(CLOSE_MS)
    expect(Math.abs((ours[n]?.endMs ?? 0) + offsetMs - endMs), `end ${n}`).toBeLessThan(CLOSE_MS)
  }
}

describe('a call that is recorded', () => {
  const test = useDatabase()
  const settings: Record<string, string> = {}
  beforeAll(async () => {
    settings['DATA_DIR'] = await scratchFolder()
  })
  afterAll(() => rm(settings['DATA_DIR'] ?? '', { recursive: true }))
  const live = useLiveApp(test, {
    settings,
    document: {
      compliance: { record_calls: true },
      webhook: { url: 'https://hooks.example.com/parley', events: ['voice.recording.ready'] },
    },
    agent: { agent_name: 'Robin', greeting: 'Hello, this is Robin. How can I help you?' },
  })

  /** On a machine that is busy with other tests there may be no room for the first calls. */
  async function talk(scenario: Scenario): Promise<ScenarioReport> {
    const report = await runScenario(live.simulator, scenario, live.urls)
    return report.facts.heard.startsWith('All our lines are busy') ? talk(scenario) : report
  }

  it('has the caller on the left and the agent on the right, at the times at which the caller heard them', {
    timeout: 180_000,
  }, async () => {
    const { served } = live
    const { facts, audio, findings } = await talk(SCENARIO)
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([])
    const log = await served.call<{ call_log: { voice_session_id: string } }>('acme', 'GET', `/call-logs/${facts.sid}`)
    const id = log.body.call_log.voice_session_id
    const told = await until(
      () =>
        test.db
          .selectFrom('webhook_outbox')
          .selectAll()
          .where('event', '=', 'voice.recording.ready')
          .executeTakeFirst(),
      { what: 'the news of the recording' },
    )
    const { body } = await served.call<{ voice_session: { recording_url: string } }>(
      'acme',
      'GET',
      `/voice-sessions/${id}`,
    )
    const url = body.voice_session.recording_url
    expect(told.body).toMatchObject({ payload: { recording: { recording_url: url, parts: 1 } } })

    const response = await fetch(served.address + url, {
      headers: { authorization: `Bearer ${served.tokenOf('acme')}` },
    })
    const { left, right } = readWav(Buffer.from(await response.arrayBuffer()))
    const [caller, agent] = [talkSpans(audio?.caller ?? new Uint8Array()), talkSpans(audio?.agent ?? new Uint8Array())]
    const [ourCaller, ourAgent] = [talkSpans(encodeMulaw(left)), talkSpans(encodeMulaw(right))]
    // The stream begins some time after the call was answered.
    const offsetMs = (caller[0]?.startMs ?? 0) - (ourCaller[0]?.startMs ?? 0)
    expect(offsetMs).toBeGreaterThanOrEqual(0)
    expectSame(ourCaller, caller, offsetMs)
    expectSame(ourAgent, agent, offsetMs)
    expect(served.logLines().filter(({ level }) => level === 'error')).toEqual([])
  })

  it('lies in one file, as its row says', { timeout: 90_000 }, async () => {
    const scenario: Scenario = {
      ...SCENARIO,
      caller: { steps: [{ say: 'Goodbye.' }] },
      expect: {},
    }
    await talk(scenario)
    const row = await until(
      () => test.db.selectFrom('recordings').selectAll().where('state', '=', 'ready').executeTakeFirst(),
      { what: 'the end of the recording' },
    )
    const path = join(settings['DATA_DIR'] ?? '', 'recordings', row.path)
    expect(await readdir(join(path, '..'))).toEqual(['1.wav'])
    const file = await readFile(path)
    expect(file).toHaveLength(row.bytes ?? 0)
    expect(file.readUInt32LE(4)).toBe(file.length - 8)
    expect(file.readUInt32LE(54)).toBe(file.length - 58)
    expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt32LE(24)]).toEqual([7, 2, 8_000])
  })
})
