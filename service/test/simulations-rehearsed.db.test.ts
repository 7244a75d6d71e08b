import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../../simulator/src/speech/speech.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
let speech: Speech
let model: Model
let served: ServedApp

beforeAll(async () => {
  const phraseBook = makePhraseBook()
  speech = makeSpeech({ phraseBook })
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook })
  const settings = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-tests' }
  served = await ServedApp.start(test, { settings })
})
afterAll(async () => {
  await served.app.close()
  await model.close()
  await speech.close()
})

type Answer = {
  simulation: { id: string; status: string; cost_usd: number; runs: { reasons: string[]; score: number }[] }
}

it('a simulation is had with the simulated model too, and scored by it', async () => {
  await served.furnish('acme', { number: '+12025550140', agent: { greeting: 'Hello.' } })
  const scenarios = [
    {
      name: 'Somebody says goodbye',
      caller: { steps: [{ say: 'Are you open?' }, { say: 'Goodbye' }] },
      expect: { ended_by: 'agent', heard: ['You said', 'Goodbye'], tools: [{ name: 'end_call' }] },
    },
    { name: 'Somebody who is played', caller: { persona: 'Ada, in a hurry.', max_turns: 3 } },
  ]
  const made = await served.call<Answer>('acme', 'POST', '/simulations', { agent_key: 'desk', scenarios })
  const path = `/simulations/${made.body.simulation.id}`
  const over = async () => {
    const { simulation } = (await served.call<Answer>('acme', 'GET', path)).body
    return simulation.status === 'completed' ? simulation : null
  }
  const simulation = await until(over, { what: 'its end' })
  expect(simulation.runs.map(({ reasons }) => reasons)).toEqual([[], []])
  expect(simulation).toMatchObject({ passed: true, cost_usd: expect.any(Number) })
  expect(simulation.runs[0]?.score).toBeGreaterThan(0)
})
