import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const clock = new TestClock()
const WITHIN_MS = 60_000
/** An answer of this model with a million tokens each way, of which half were known before. */
const PRICED = 'gpt-4o-mini-2024-07-18'
const PRICE_USD = 0.7125
let provider: ChatServer
let served: ServedApp
let agentId: string

const AGENT = { greeting: 'Hello.', chat_model: PRICED, criteria: [] as object[], tools: ['end_call'] }

beforeAll(async () => {
  provider = await startChatServer()
  const settings = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-tests' }
  served = await ServedApp.start(test, { clock, settings })
})
afterAll(async () => {
  await served.app.close()
  await provider.close()
})
beforeEach(async () => {
  provider.asked.length = 0
  agentId = await served.furnish('acme', { number: '+12025550140', agent: AGENT })
  await clock.advance(1_001)
})

type Simulation = {
  id: string
  status: string
  passed: boolean | null
  cost_usd: number | null
  runs: { id: string; status: string; reasons: string[]; cost_usd: number | null; usage: object | null }[]
}
type Answer = { simulation: Simulation; code: string }

const answering = (message: object, tokens = 1_000_000) => ({
  status: 200,
  body: JSON.stringify({
    choices: [{ message }],
    usage: {
      ...{ prompt_tokens: tokens, completion_tokens: 1_000_000 },
      prompt_tokens_details: { cached_tokens: 500_000 },
    },
  }),
})
const PAID = answering({ content: 'Yes.' })
const caller = { steps: [{ say: 'Are you open?' }, { say: 'And now?' }] }
const simulate = (more: object = {}, scenario: object = {}) =>
  served.call<Answer>('acme', 'POST', '/simulations', {
    ...{ agent_key: 'desk', scenarios: [{ name: 'Opening hours', caller, ...scenario }] },
    ...more,
  })
const read = async (id: string) => (await served.call<Answer>('acme', 'GET', `/simulations/${id}`)).body.simulation

async function completed(more: object = {}, scenario: object = {}): Promise<Simulation> {
  const { body } = await simulate(more, scenario)
  const over = async () => {
    const simulation = await read(body.simulation.id)
    return simulation.status === 'completed' ? simulation : null
  }
  return until(over, { what: 'the simulation to be over', timeoutMs: WITHIN_MS })
}

describe('what a simulation took', { timeout: 2 * WITHIN_MS }, () => {
  it('is told of what was cancelled, and counts for the day', async () => {
    provider.answer(PAID, 'nothing')
    const { body } = await simulate()
    await until(() => provider.asked.length === 2, { what: 'the second question', timeoutMs: WITHIN_MS })
    const { simulation } = (await served.call<Answer>('acme', 'POST', `/simulations/${body.simulation.id}/cancel`)).body
    expect(simulation).toMatchObject({
      ...{ status: 'cancelled', cost_usd: PRICE_USD },
      runs: [
        { cost_usd: PRICE_USD, usage: { input_tokens: 1_000_000, cached_tokens: 500_000, output_tokens: 1_000_000 } },
      ],
    })
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { budget_per_day: 0.5 } })
    await clock.advance(60_000)
    expect(await simulate()).toMatchObject({ status: 409, body: { code: 'budget_exhausted' } })
  })

  it('counts for the day up to the millionth', async () => {
    provider.answer(PAID)
    const { runs } = await completed({ repetitions: 2 })
    // The sum of the two as they are kept is a trifle below 0.8.
    for (const [at, usd] of [0.7, 0.1].entries())
      await sql`update simulation_runs set cost_usd = ${usd} where id = ${runs[at]?.id}`.execute(test.db)
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { budget_per_day: 0.8 } })
    await clock.advance(1_001)
    expect(await simulate()).toMatchObject({ status: 409, body: { code: 'budget_exhausted' } })
  })

  it('is told of what could not be run to its end', async () => {
    provider.answer(PAID, { status: 400, body: '{"error":{"message":"no"}}' })
    expect(await completed()).toMatchObject({ cost_usd: PRICE_USD, runs: [{ status: 'error', cost_usd: PRICE_USD }] })
  })

  it('is all of it, when a run was begun anew', async () => {
    provider.answer(PAID, { status: 500, body: 'oh' }, PAID)
    const { body } = await simulate()
    const over = async () => {
      const simulation = await read(body.simulation.id)
      if (simulation.runs[0]?.status === 'pending') await clock.advance(5_000)
      return simulation.status === 'completed' ? simulation : null
    }
    const simulation = await until(over, { what: 'its end', timeoutMs: WITHIN_MS, everyMs: 5 })
    expect(simulation).toMatchObject({ passed: true, cost_usd: 2.1375 })
  })

  it('is as much as a call may cost over all beginnings of a run', async () => {
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { budget_per_call: 1 } })
    await clock.advance(1_001)
    provider.answer(PAID, { status: 500, body: 'oh' }, PAID)
    const { body } = await simulate()
    const over = async () => {
      const simulation = await read(body.simulation.id)
      if (simulation.runs[0]?.status === 'pending') await clock.advance(5_000)
      return simulation.status === 'completed' ? simulation : null
    }
    const simulation = await until(over, { what: 'its end', timeoutMs: WITHIN_MS, everyMs: 5 })
    expect(simulation).toMatchObject({
      ...{ passed: false, cost_usd: 1.425 },
      runs: [{ reasons: ["It cost as much as a call may: the tenant's budget_per_call."] }],
    })
    expect(provider.asked).toHaveLength(3)
  })

  it('is not known where an answer has no price', async () => {
    provider.answer(PAID, { says: 'Yes.' })
    expect(await completed()).toMatchObject({ cost_usd: null, runs: [{ status: 'passed', cost_usd: null }] })
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { budget_per_day: 0.5 } })
    await clock.advance(1_001)
    expect(await simulate()).toMatchObject({ status: 409, body: { code: 'budget_exhausted' } })
  })

  it.each([
    [500, 'the chat model did not answer.'],
    [404, "the chat model refused to read it: check the agent version's chat_model."],
  ])('is not spent anew because a run could not be scored for a %i', async (status, why) => {
    await served.publish('acme', agentId, { ...AGENT, criteria: [{ name: 'tone' }] })
    await clock.advance(1_001)
    provider.answer(PAID, PAID, { status, body: 'oh' })
    expect(await completed({ min_score: 0.5 })).toMatchObject({
      ...{ passed: false, cost_usd: 1.425 },
      runs: [{ status: 'failed', reasons: [`It was not scored: ${why}`] }],
    })
    expect(provider.asked).toHaveLength(3)
  })

  it('ends the scoring too, when it is as much as a call may cost', async () => {
    await served.publish('acme', agentId, { ...AGENT, criteria: [{ name: 'tone' }] })
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { budget_per_call: 1 } })
    await clock.advance(1_001)
    provider.answer(PAID)
    expect((await completed({ min_score: 0.5 })).runs).toMatchObject([
      { status: 'failed', reasons: ["It was not scored: the tenant's budget_per_call was spent."] },
    ])
    expect(provider.asked).toHaveLength(2)
  })
})

describe('what a model writes that no column can hold', { timeout: 2 * WITHIN_MS }, () => {
  it('is written without, and the run is not run again', async () => {
    // Cut at 200 characters, where the sentence ends, it would be half a character.
    const bent = `{"x":"${'a'.repeat(193)}\u{1F600}"}`
    const call = (name: string, text: string) => ({ type: 'function', function: { name, arguments: text } })
    const tool_calls = [call('no\0_tool\ud83d', bent), call('record_outcome', '{"outcome":"\\u0000"}')]
    provider.answer(answering({ content: 'A \ud83d', tool_calls }), PAID)
    const simulation = await completed({}, { expect: { tools: [{ name: 'end_call' }], outcome: { outcome: 'sold' } } })
    expect(simulation.runs).toMatchObject([{ status: 'failed' }])
    expect(simulation.runs[0]?.reasons.join(' ')).toContain('called was no_tool')
    expect(provider.asked).toHaveLength(3)
  })

  it('ends a run that cannot be written down, at once', async () => {
    provider.answer(answering({ content: 'Yes.' }, 3_000_000_000))
    expect((await completed()).runs).toMatchObject([{ status: 'error', reasons: [expect.stringMatching(/the log/)] }])
    expect(provider.asked).toHaveLength(1)
  })
})
