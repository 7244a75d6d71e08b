import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../../simulator/src/speech/speech.ts'
import { endLeases } from './harness/leases.ts'
import { type Program, startProgram } from './harness/program.ts'
import { useSimulatingPrograms } from './harness/simulating-program.ts'
import { until } from './harness/wait.ts'

/** The program starts three times, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 300_000 }
const RUN_WITHIN_MS = 90_000

describe('a simulation by voice whose process stops, and then is killed', () => {
  const programs = useSimulatingPrograms()
  let speech: Speech
  let model: Model

  beforeAll(async () => {
    const phraseBook = makePhraseBook()
    speech = makeSpeech({ phraseBook })
    model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook })
  })
  afterAll(async () => {
    await model.close()
    await speech.close()
  })

  /** Ends the program once it has called the agent, and the agent has begun to speak. */
  async function endInCall(program: Program, signal: NodeJS.Signals, callsBefore: number): Promise<void> {
    await until(() => model.sessions.length > callsBefore, { what: 'the call', timeoutMs: RUN_WITHIN_MS, everyMs: 20 })
    await program.end(signal)
  }

  it('is begun anew both times, and counts once', AT_LEISURE, async () => {
    const settings = programs.settings({ OPENAI_BASE_URL: model.baseUrl, OPENAI_REALTIME_URL: model.url })
    const stopped = startProgram(settings)
    const scenarios = [
      { name: 'A question', caller: { steps: [{ say: 'Are you open?' }] }, expect: { heard: ['You said'] } },
    ]
    const { id } = await programs.simulate(await stopped.listening(), { mode: 'voice', scenarios })
    await endInCall(stopped, 'SIGTERM', 0)

    const killed = startProgram(settings)
    await killed.listening()
    await endInCall(killed, 'SIGKILL', model.sessions.length)
    await endLeases(programs.copy, 'simulation_runs')

    const address = await startProgram(settings).listening()
    const done = await programs.completed(address, id, RUN_WITHIN_MS)
    const { reasons, transcript } = await programs.firstRun(address, done)
    expect([reasons, done.passed]).toEqual([[], true])
    expect(transcript.filter(({ role }) => role === 'caller').map(({ text }) => text)).toEqual(['Are you open?'])
    expect(model.sessions.length).toBeGreaterThanOrEqual(3)
  })
})
