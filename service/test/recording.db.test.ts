import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { talkSpans } from '../../simulator/src/audio/levels.ts'
import { runScenario, type ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { STORED_HEADER_BYTES } from '../src/records/recording-wav.ts'
import { lagBetween } from './harness/alignment.ts'
import { useDataFolder } from './harness/data-folder.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { until } from './harness/wait.ts'

const GREETING =
  'Hello, this is Robin. We are glad that you call us today. We have chairs, tables, lamps and shelves, and all of them are on sale.'
const INTERRUPTED_AT_MS = 1_500
/** What the recording's two sides may be apart from what the carrier had. */
const APART_MS = 60

const GOODBYE = { when: { says: 'goodbye' }, say: 'Thank you for calling. Goodbye.', end: true }

const SCENARIO: Scenario = {
  name: 'a caller who says goodbye',
  call: { from: '+12025550123', to: NUMBER },
  caller: { steps: [{ say: 'Goodbye.' }], stays: true },
  agent: { rules: [{ when: { greeting: true }, say: 'Hello, this is Robin. How can I help you?' }, GOODBYE] },
}

const INTERRUPTED: Scenario = {
  ...SCENARIO,
  name: 'a caller who interrupts',
  caller: {
    steps: [{ say: 'Excuse me, I have got a question.', over_agent_ms: INTERRUPTED_AT_MS }, { say: 'Goodbye.' }],
    stays: true,
  },
  agent: {
    rules: [
      { when: { greeting: true }, say: GREETING },
      { when: { says: 'question' }, say: 'Yes, of course.' },
      GOODBYE,
    ],
  },
}

/** One side of a stored part. */
function side(file: Buffer, channel: 0 | 1): Uint8Array {
  const stereo = file.subarray(STORED_HEADER_BYTES)
  return Uint8Array.from({ length: stereo.length / 2 }, (_, frame) => stereo[2 * frame + channel] ?? 0)
}

describe('a call that is recorded', () => {
  const test = useDatabase()
  const settings = useDataFolder()
  const live = useLiveApp(test, {
    settings,
    document: {
      compliance: { record_calls: true },
      webhook: { url: 'https://hooks.example.com/parley', events: ['voice.recording.ready'] },
    },
    agent: { agent_name: 'Robin', greeting: GREETING },
  })

  /** On a machine that is busy with other tests there may be no room for the first calls. */
  async function talk(scenario: Scenario): Promise<ScenarioReport> {
    const report = await runScenario(live.simulator, scenario, live.urls)
    return report.facts.heard.startsWith('All our lines are busy') ? talk(scenario) : report
  }

  async function recorded(): Promise<{ row: { bytes: number | null }; path: string }> {
    const row = await until(
      () => test.db.selectFrom('recordings').selectAll().where('state', '=', 'ready').executeTakeFirst(),
      { what: 'the end of the recording' },
    )
    return { row, path: join(settings.DATA_DIR, 'recordings', row.path) }
  }

  it('lies in one file, as its row says', async () => {
    await talk(SCENARIO)
    const { row, path } = await recorded()
    expect(await readdir(join(path, '..'))).toEqual(['1.wav'])
    const file = await readFile(path)
    expect(file).toHaveLength(row.bytes ?? 0)
    expect(file.readUInt32LE(4)).toBe(file.length - 8)
    expect(file.readUInt32LE(54)).toBe(file.length - 58)
    expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt32LE(24)]).toEqual([7, 2, 8_000])
  })

  // In real time: on a machine that is busy the carrier's own clock stands still now and then, and there is nothing to compare.
  it.runIf(process.env['PARLEY_TEST_FULL'])('has both sides where its carrier had them', async () => {
    const { audio, facts } = await talk(INTERRUPTED)
    const file = await readFile((await recorded()).path)
    if (!audio) throw new Error('the call was not answered')
    const sides = { caller: side(file, 0), agent: side(file, 1) }
    const lags = { caller: lagBetween(audio.caller, sides.caller), agent: lagBetween(audio.agent, sides.agent) }
    const told = JSON.stringify({ lags, heard: facts.heard })
    // The recording begins when its stream did: the same moment for both sides.
    expect(Math.abs(lags.caller.ms - lags.agent.ms), told).toBeLessThanOrEqual(APART_MS)
    expect(Math.min(lags.caller.likeness, lags.agent.likeness), told).toBeGreaterThan(0.5)
    // What was cleared was not heard, and is not there.
    expect(facts.heard, told).not.toContain('on sale')
    const [heard, kept] = [talkSpans(audio.agent)[0], talkSpans(sides.agent)[0]]
    const apartMs = (kept?.endMs ?? 0) - (heard?.endMs ?? 0) - lags.caller.ms
    expect(Math.abs(apartMs), `the end of what was interrupted: ${told}`).toBeLessThanOrEqual(APART_MS)
  })
})
