import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runScenario, type ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { scratchFolder } from './harness/scratch.ts'
import { until } from './harness/wait.ts'

const SCENARIO: Scenario = {
  name: 'a caller who says goodbye',
  call: { from: '+12025550123', to: NUMBER },
  caller: { steps: [{ say: 'Goodbye.' }], stays: true },
  agent: {
    rules: [
      { when: { greeting: true }, say: 'Hello, this is Robin. How can I help you?' },
      { when: { says: 'goodbye' }, say: 'Thank you for calling. Goodbye.', end: true },
    ],
  },
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

  it('lies in one file, as its row says', { timeout: 90_000 }, async () => {
    await talk(SCENARIO)
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
