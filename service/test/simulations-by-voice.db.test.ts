import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../../simulator/src/speech/speech.ts'
import { openaiSpeech } from '../src/platform/speech/openai.ts'
import { useDatabase } from './harness/database.ts'
import { onOneDatabase } from './harness/once.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

/** Calls take the time that they take. */
const AT_LEISURE = { timeout: 180_000 }
const WITHIN_MS = 90_000

const test = useDatabase()
let speech: Speech
let model: Model
let served: ServedApp
let agentId: string

beforeAll(async () => {
  const phraseBook = makePhraseBook()
  speech = makeSpeech({ phraseBook })
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook })
  const key = { OPENAI_API_KEY: 'sk-key-of-the-tests' }
  served = await ServedApp.start(test, {
    settings: { ...key, OPENAI_BASE_URL: model.baseUrl, OPENAI_REALTIME_URL: model.url },
    speech: openaiSpeech({ baseUrl: model.baseUrl, apiKey: key.OPENAI_API_KEY }),
  })
})
afterAll(async () => {
  await served.app.close()
  await model.close()
  await speech.close()
})
beforeEach(async () => {
  agentId = await served.furnish('acme', { number: '+12025550140', agent: { greeting: 'Hello, this is the shop.' } })
})

type Run = {
  id: string
  status: string
  reasons: string[]
  ended_by: string | null
  score: number | null
  cost_usd: number | null
  usage: { input_tokens: number; output_tokens: number } | null
  slowest_reply_ms: number | null
}
type Whole = Run & {
  transcript: { role: string; text: string; reply_ms: number | null }[]
  function_calls: { name: string; answered_by: string; status: string }[]
}
type Simulation = { id: string; mode: string; status: string; passed: boolean | null; runs: Run[] }
type Answer = { simulation: Simulation; code: string; run: Whole }

const simulate = (scenarios: object[], more: object = {}) =>
  served.call<Answer>('acme', 'POST', '/simulations', { agent_key: 'desk', mode: 'voice', scenarios, ...more })
const read = async (id: string) => (await served.call<Answer>('acme', 'GET', `/simulations/${id}`)).body.simulation

async function completed(scenarios: object[], more: object = {}): Promise<Simulation> {
  const made = await simulate(scenarios, more)
  expect(made).toMatchObject({ status: 200, body: { simulation: { mode: 'voice' } } })
  const over = async () => {
    const simulation = await read(made.body.simulation.id)
    return simulation.status === 'completed' ? simulation : null
  }
  return until(over, { what: 'the simulation to be over', timeoutMs: WITHIN_MS, everyMs: 100 })
}

async function wholeRun(simulation: Simulation, index = 0): Promise<Whole> {
  const path = `/simulations/${simulation.id}/runs/${simulation.runs[index]?.id}`
  return (await served.call<Answer>('acme', 'GET', path)).body.run
}

/** What would be kept of calls that are made. */
async function recorded(): Promise<number> {
  const counts = await Promise.all(
    [
      'call_logs',
      'voice_sessions',
      'transcript_turns',
      'function_calls',
      'webhook_outbox',
      'billing_outbox',
      'callback_tasks',
    ].map(
      async (table) =>
        (await sql<{ count: number }>`select count(*)::integer as count from ${sql.table(table)}`.execute(test.db))
          .rows[0]?.count ?? 0,
    ),
  )
  return counts.reduce((all, one) => all + one, 0)
}

describe('a simulation by voice', AT_LEISURE, () => {
  it('calls the agent, says what is to be said, and is judged by what was heard', async () => {
    const scenario = {
      name: 'Somebody says goodbye',
      caller: { steps: [{ say: 'Are you open today?' }, { say: 'Goodbye' }] },
      expect: {
        ...{ ended_by: 'agent', heard: ['this is the shop', 'You said', 'Goodbye'], tools: [{ name: 'end_call' }] },
        reply_ms: { max: 20_000 },
      },
    }
    const simulation = await completed([scenario])
    const run = await wholeRun(simulation)
    expect([run.reasons, run.status, simulation.passed]).toEqual([[], 'passed', true])
    expect(run.transcript.filter(({ role }) => role === 'caller').map(({ text }) => text)).toEqual([
      'Are you open today?',
      'Goodbye',
    ])
    expect(run.function_calls).toMatchObject([{ name: 'end_call', answered_by: 'built_in', status: 'ok' }])
    expect(run.slowest_reply_ms).toBeGreaterThan(0)
    expect(run.usage?.output_tokens).toBeGreaterThan(0)
    expect(run.score).toBeGreaterThan(0)
    expect(await recorded()).toBe(0)
    const metrics = await fetch(`${served.address}/metrics`).then((answer) => answer.text())
    expect(metrics).toMatch(/voice_live_calls 0/)
    expect(metrics).not.toMatch(/voice_calls_ended_total\{/)
  })

  it('makes a version one that may be published, where its agent wants that', async () => {
    await served.administer('PATCH', `/tenants/acme/agents/${agentId}`, { require_simulation: true })
    const draft = { agent_id: agentId, config: { greeting: 'Good day.', criteria: [] } }
    const versions = '/tenants/acme/agent-versions'
    const { id } = (await served.administer<{ version: { id: string } }>('POST', versions, draft)).version
    const publish = () => served.administer('POST', `${versions}/${id}/publish`)
    await expect(publish()).rejects.toThrow(/409/)
    const scenario = {
      name: 'Hangs up',
      caller: { steps: [{ hang_up: true }] },
      expect: { heard: ['Good day'], ended_by: 'caller' },
    }
    const simulation = await completed([scenario], { agent_key: undefined, agent_version_id: id })
    expect((await wholeRun(simulation)).reasons).toEqual([])
    await publish()
  })

  it.runIf(onOneDatabase())('has callers played by a model, and keys pressed', async () => {
    const simulation = await completed([
      { name: 'Somebody who is played', caller: { persona: 'Ada, in a hurry.', max_turns: 1 } },
      { name: 'Keys', caller: { steps: [{ press: '42#' }] }, expect: { ended_by: 'caller' } },
    ])
    const [played, keys] = [await wholeRun(simulation, 0), await wholeRun(simulation, 1)]
    expect([played.reasons, keys.reasons]).toEqual([[], []])
    expect(played.transcript.filter(({ role }) => role === 'caller').length).toBeGreaterThan(0)
    expect(keys.transcript.map(({ role, text }) => `${role}: ${text}`)).toContainEqual(
      expect.stringMatching(/^system: .*42/),
    )
  })

  it.runIf(onOneDatabase())('ends where what a call may cost is spent, and says so', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const limits = { budget_per_call: 0.000_001 }
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony, limits, model: 'gpt-realtime' })
    const steps = Array.from({ length: 9 }, () => ({ say: 'And what else do you have?' }))
    const run = await wholeRun(await completed([{ name: 'Talks on', caller: { steps } }], { score: false }))
    expect(run).toMatchObject({
      ...{ status: 'failed', ended_by: 'limit', cost_usd: expect.any(Number) },
      reasons: ["It cost as much as a call may: the tenant's budget_per_call."],
    })
  })

  it.runIf(onOneDatabase())('ends where who plays the caller has spent it, with what was said so far', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const limits = { budget_per_call: 0.000_001 }
    // Of a realtime model without a price, so that the session itself has all of its budget left.
    await served.administer('PUT', '/tenants/acme', {
      tenant_id: 'acme',
      telephony,
      limits,
      model: 'of-no-known-price',
    })
    const played = { name: 'Somebody who is played', caller: { persona: 'Ada, in no hurry.', max_turns: 9 } }
    const run = await wholeRun(await completed([played], { score: false, caller_model: 'gpt-4o' }))
    expect(run).toMatchObject({
      ...{ status: 'failed', ended_by: 'limit' },
      reasons: ["It cost as much as a call may: the tenant's budget_per_call."],
    })
    expect(run.transcript.filter(({ role }) => role === 'caller').length).toBeGreaterThan(0)
  })

  it('is a 503 where there is no voice for callers', async () => {
    const silent = await ServedApp.start(test, {
      besides: served,
      settings: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'k' },
    })
    try {
      const scenarios = [{ name: 'Hangs up', caller: { steps: [{ hang_up: true }] } }]
      const asked = await silent.call<Answer>('acme', 'POST', '/simulations', {
        agent_key: 'desk',
        mode: 'voice',
        scenarios,
      })
      expect(asked).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    } finally {
      await silent.app.close()
    }
  })

  it('can be cancelled in the middle of a call', async () => {
    const scenario = { name: 'Stays', caller: { steps: [{ say: 'Please wait.' }], stays: true } }
    const { body } = await simulate([scenario])
    const isTalking = () => model.sessions.length > 0
    await until(async () => (await read(body.simulation.id)).runs[0]?.status === 'running' && isTalking(), {
      ...{ what: 'the call', timeoutMs: WITHIN_MS, everyMs: 50 },
    })
    const cancelled = await served.call<Answer>('acme', 'POST', `/simulations/${body.simulation.id}/cancel`)
    expect(cancelled.body.simulation).toMatchObject({ status: 'cancelled', runs: [{ status: 'cancelled' }] })
  })
})
