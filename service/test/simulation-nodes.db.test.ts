import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import { ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const WITHIN_MS = 45_000
const LOOK_MS = 5_000

/** The embedded database has one node. */
describe.runIf(inject('databaseTemplate').kind === 'server')('simulations on two nodes', () => {
  const test = useDatabase()
  let clock: TestClock
  let provider: ChatServer
  let nodes: ServedApp[]

  beforeEach(async () => {
    clock = new TestClock()
    provider = await startChatServer()
    const settings = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-tests' }
    const a = await ServedApp.start(test, { clock, settings })
    nodes = [a, await ServedApp.start(test, { clock, settings, besides: a, database: await test.anotherNode() })]
    await a.furnish('acme', { number: '+12025550140', agent: { greeting: 'Hello.', criteria: [] } })
  })
  afterEach(async () => {
    await Promise.all(nodes.map(({ app }) => app.close()))
    await provider.close()
  })

  type Answer = { simulation: { id: string; status: string; runs_by_status: Record<string, number> } }
  const SCENARIO = { name: 'Hours', caller: { steps: [{ say: 'Are you open?' }] } }
  const simulate = async (node: ServedApp | undefined) => {
    const wanted = { agent_key: 'desk', scenarios: [SCENARIO], repetitions: 10 }
    const made = await node?.call<Answer>('acme', 'POST', '/simulations', wanted)
    expect(made).toMatchObject({ status: 200 })
    return made?.body.simulation.id
  }

  it('are each run once, on whichever node', async () => {
    const ids = await Promise.all(nodes.map(simulate))
    for (const id of ids) {
      const over = async () => {
        await clock.advance(LOOK_MS)
        const { body } = (await nodes[0]?.call<Answer>('acme', 'GET', `/simulations/${id}`)) ?? {}
        return body?.simulation.status === 'completed' ? body.simulation : null
      }
      const { runs_by_status } = await until(over, { what: 'its end', timeoutMs: WITHIN_MS, everyMs: 50 })
      expect(runs_by_status).toMatchObject({ total: 10, passed: 10 })
    }
    expect(provider.asked).toHaveLength(20)
  })

  it('are two at a time of a tenant on both together', async () => {
    provider.answer('nothing')
    const id = await simulate(nodes[0])
    await until(() => provider.asked.length === 2, { what: 'two to be under way', timeoutMs: WITHIN_MS })
    const untilMs = clock.now() + 2 * LOOK_MS
    await passing(clock, () => clock.now() >= untilMs, { what: 'both to have looked', stepMs: LOOK_MS / 5 })
    const { body } = (await nodes[1]?.call<Answer>('acme', 'GET', `/simulations/${id}`)) ?? {}
    expect(body?.simulation.runs_by_status).toMatchObject({ running: 2, pending: 8 })
    expect(provider.asked).toHaveLength(2)
  })
})
