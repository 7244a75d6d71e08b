import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const test = useDatabase()
const clock = new TestClock()
/** Services start here, on a machine that may be busy with other tests. */
const WITHIN_MS = 60_000
let provider: ChatServer
let target: WebhookTarget

beforeAll(async () => {
  provider = await startChatServer()
  target = await startWebhookTarget()
})
afterAll(async () => {
  await provider.close()
  await target.close()
})

function start(besides?: ServedApp): Promise<ServedApp> {
  const settings = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-tests' }
  const more = { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' }
  return ServedApp.start(test, { clock, settings: { ...settings, ...more }, ...(besides && { besides }) })
}

describe('a service that is drained', { timeout: 2 * WITHIN_MS }, () => {
  it('begins no simulation any more, and takes those that are asked for', async () => {
    const drained = await start()
    await drained.furnish('acme', { number: '+12025550140', agent: { greeting: 'Hello.', criteria: [] } })
    await drained.app.drain()
    const scenarios = [{ name: 'Hours', caller: { steps: [{ say: 'Are you open?' }] } }]
    expect(await drained.call('acme', 'POST', '/simulations', { agent_key: 'desk', scenarios })).toMatchObject({
      status: 200,
    })
    // Whoever was at it is waited for.
    await drained.app.close()
    const runs = await test.db.selectFrom('simulation_runs').select(['status', 'started_at']).execute()
    expect(runs).toEqual([{ status: 'pending', started_at: null }])
  })
})

describe('a simulation whose service stops', { timeout: 2 * WITHIN_MS }, () => {
  it('is run by the next one, whose calls of tools are others', async () => {
    const parameters = { type: 'object', properties: {} }
    const tool = { type: 'http', name: 'book', description: 'Books.', parameters, method: 'POST', url: target.url }
    const calling = { calls: [{ name: 'book', arguments: '{}' }] }
    provider.answer(calling, 'nothing')
    const stopped = await start()
    const agent = { greeting: 'Hello.', criteria: [], tools: ['book'] }
    await stopped.furnish('acme', { number: '+12025550140', document: { tools: [tool] }, agent })
    await clock.advance(1_001)
    const scenarios = [{ name: 'Hours', caller: { steps: [{ say: 'Are you open?' }] } }]
    const wanted = { agent_key: 'desk', scenarios, run_tools: true }
    type Answer = { simulation: { id: string; status: string } }
    const { body } = await stopped.call<Answer>('acme', 'POST', '/simulations', wanted)
    await until(() => provider.asked.length === 2, { what: 'the second question', timeoutMs: WITHIN_MS })
    await stopped.app.close()

    provider.answer(calling, { says: 'Done.' })
    const next = await start(stopped)
    const over = async () => {
      const answer = await next.call<Answer>('acme', 'GET', `/simulations/${body.simulation.id}`)
      return answer.body.simulation.status === 'completed' ? answer.body.simulation : null
    }
    expect(await until(over, { what: 'its end', timeoutMs: WITHIN_MS })).toMatchObject({ passed: true })
    await next.app.close()
    const keys = target.received.map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([2, 2])
  })
})
