import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type ChatServer, startChatServer } from './chat-server.ts'
import { TestClock } from './clock.ts'
import type { TestDatabase } from './database.ts'
import { ServedApp } from './served-app.ts'
import { there } from './there.ts'
import { until } from './wait.ts'
import { startWebhookTarget, type WebhookTarget } from './webhook-target.ts'

/** The agent that is tried. It scores nothing, so that the only questions are those of the call. */
export const AGENT = {
  ...{ agent_name: 'Robin', instructions: 'Be brief.', greeting: 'Hello.', chat_model: 'small', criteria: [] },
  tools: ['end_call', 'schedule_callback', 'add_to_dnc', 'transfer_call', 'record_outcome', 'price_of'],
}

function priceOf(url: string) {
  const parameters = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] }
  return { type: 'http', name: 'price_of', description: 'Tells a price.', parameters, method: 'GET', url }
}

/** Somebody who asks one question. */
export const caller = { steps: [{ say: 'Are you open?' }] }

/** A scenario in which somebody asks the agent one question. */
export const one = (more: object = {}) => ({ name: 'Opening hours', caller, ...more })

/** The simulation of that one by the agent `desk`. */
export const wanted = (scenario: object = {}, more: object = {}) => ({
  ...{ agent_key: 'desk', scenarios: [one(scenario)] },
  ...more,
})

type Run = {
  id: string
  status: string
  scenario: string
  reasons: string[]
  ended_by: string | null
  score: number | null
  cost_usd: number | null
  usage: object | null
}
/** A simulation as it is answered. */
export type Simulation = {
  scenarios: object[]
  id: string
  status: string
  passed: boolean | null
  pass_rate: number | null
  runs: Run[]
  runs_by_status: Record<string, number>
  cost_usd: number | null
}
/** A run with all that was said in it. */
export type Whole = Run & {
  transcript: { role: string; text: string; reply_ms: number | null }[]
  function_calls: { name: string; arguments: string; result: string; status: string; answered_by: string }[]
}
type Refusal = { code: string; error: string; details: { path: string; message: string }[] }
/** What is answered, a refusal too. */
export type Answer = { simulation: Simulation } & Refusal

/** The service with a chat model of the test's, a tenant `acme` whose agent `desk` is to be tried, and a tenant `other` that has one too. */
export type Simulations = {
  readonly clock: TestClock
  readonly served: ServedApp
  readonly provider: ChatServer
  /** Of the agent's tool `price_of`. */
  readonly target: WebhookTarget
  /** Of `desk`. */
  readonly agentId: string
  simulate(body: unknown, tenant?: string | null): Promise<{ status: number; body: Answer }>
  read(id: string): Promise<Simulation>
  /** Runs it to its end. */
  completed(body: unknown): Promise<Simulation>
  /** The first run of it, whole. */
  firstRun(simulation: Simulation): Promise<Whole>
}

/** Starts all of it once for the file, on the database of the file (call `useDatabase` first), and furnishes it for each test. */
export function useSimulations(test: TestDatabase, settings: Record<string, string> = {}): Simulations {
  const clock = new TestClock()
  const parts: { provider?: ChatServer; target?: WebhookTarget; served?: ServedApp; agentId?: string } = {}
  beforeAll(async () => {
    const [provider, target] = [await startChatServer(), await startWebhookTarget()]
    Object.assign(parts, { provider, target })
    const model = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-tests' }
    const all = { ...model, OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true', ...settings }
    parts.served = await ServedApp.start(test, { clock, settings: all })
  })
  afterAll(async () => {
    await parts.served?.app.close()
    await parts.provider?.close()
    await parts.target?.close()
  })
  beforeEach(async () => {
    const { provider, target, served } = app
    provider.asked.length = 0
    provider.answer({ says: 'Yes.' })
    target.received.length = 0
    target.answer({ status: 200, body: '{"price": 12}' })
    const document = { tools: [priceOf(target.url)] }
    parts.agentId = await served.furnish('acme', { number: '+12025550140', document, agent: AGENT })
    await served.furnish('other', { number: '+12025550141' })
    // What was remembered of the test before is forgotten.
    await clock.advance(1_001)
  })
  const app: Simulations = {
    clock,
    get served() {
      return there(parts.served)
    },
    get provider() {
      return there(parts.provider)
    },
    get target() {
      return there(parts.target)
    },
    get agentId() {
      return there(parts.agentId)
    },
    simulate: (body, tenant = 'acme') => app.served.call<Answer>(tenant, 'POST', '/simulations', body),
    read: async (id) => (await app.served.call<Answer>('acme', 'GET', `/simulations/${id}`)).body.simulation,
    async completed(body) {
      const made = await app.simulate(body)
      expect(made).toMatchObject({ status: 200 })
      const over = async () => {
        const simulation = await app.read(made.body.simulation.id)
        return simulation.status === 'completed' ? simulation : null
      }
      return until(over, { what: 'the simulation to be over' })
    },
    async firstRun(simulation) {
      const path = `/simulations/${simulation.id}/runs/${simulation.runs[0]?.id}`
      return (await app.served.call<{ run: Whole }>('acme', 'GET', path)).body.run
    },
  }
  return app
}
