import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { endLeases } from './harness/leases.ts'
import { startProgram } from './harness/program.ts'
import { useSimulatingPrograms } from './harness/simulating-program.ts'
import { until } from './harness/wait.ts'

/** The program starts twice, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 120_000 }
const RUN_WITHIN_MS = 45_000

describe('a simulation whose process was killed', () => {
  const programs = useSimulatingPrograms()
  let provider: ChatServer

  beforeAll(async () => {
    provider = await startChatServer()
  })
  afterAll(() => provider.close())

  it('is run to its end by the next one, and counts once', AT_LEISURE, async () => {
    const settings = programs.settings({ OPENAI_BASE_URL: provider.baseUrl })
    const killed = startProgram(settings)
    provider.answer({ says: 'Yes.' }, 'nothing')
    const scenarios = [{ name: 'Two questions', caller: { steps: [{ say: 'Are you open?' }, { say: 'And now?' }] } }]
    const { id } = await programs.simulate(await killed.listening(), { scenarios })
    await until(() => provider.asked.length === 2, { what: 'the model to be asked', timeoutMs: RUN_WITHIN_MS })
    await killed.end('SIGKILL')
    await endLeases(programs.copy, 'simulation_runs')

    provider.answer({ says: 'Still.' })
    const address = await startProgram(settings).listening()
    const done = await programs.completed(address, id, RUN_WITHIN_MS)
    expect(done).toMatchObject({ passed: true, runs_by_status: { total: 1, passed: 1 } })
    const { transcript } = await programs.firstRun(address, done)
    expect(transcript.map(({ text }) => text)).toEqual(['Hello.', 'Are you open?', 'Still.', 'And now?', 'Still.'])
    expect(provider.asked).toHaveLength(4)
  })
})
