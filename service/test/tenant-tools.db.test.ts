import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useLiveApp } from './harness/live-app.ts'
import { type McpServerDouble, mcpDocument, startMcpServer } from './harness/mcp-server.ts'
import { until } from './harness/wait.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const SECRET = 'Bearer s3cret-of-the-tenant'
const test = useDatabase()
let target: WebhookTarget
let mcp: McpServerDouble
beforeAll(async () => {
  target = await startWebhookTarget()
  mcp = await startMcpServer()
})
afterAll(async () => {
  await target.close()
  await mcp.close()
})

const live = useLiveApp(test, {
  settings: { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' },
  agent: { greeting: 'Hello.', tools: ['price_of', 'orders', 'end_call'] },
})

beforeEach(async () => {
  target.received.length = 0
  target.answer({ status: 200, body: '{"price": 12}' })
  mcp.asked.length = 0
  const account = await live.served.administer<{ config: Record<string, unknown> }>('GET', '/tenants/acme')
  await live.served.administer('PUT', '/tenants/acme', { ...account.config, tools: documents() })
  await live.served.furnish('other', { number: '+12025550141' })
})

function documents() {
  const parameters = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] }
  const priceOf = { type: 'http', name: 'price_of', description: 'Tells a price.', parameters, method: 'GET' }
  const url = target.url.replace('/hook', '/price/{{item}}')
  const hidden = { ...priceOf, name: 'not_for_desk', url: target.url }
  return [{ ...priceOf, url, headers: { authorization: SECRET } }, mcpDocument(mcp), hidden]
}

type Tried = { ok: boolean; error?: string; request: { headers: object }; response: object; output: object }
const tryOut = (name: string, body: unknown, tenant: string | null = 'acme') =>
  live.served.call<Tried>(tenant, 'POST', `/tools/${name}/test`, body)
const chair = { arguments: { item: 'a chair' } }

describe('POST /api/v1/tools/:name/test', () => {
  it('runs a tool, and shows all of it but what is secret', async () => {
    const { status, body } = await tryOut('price_of', { ...chair, agent_key: 'desk' })
    expect([status, body]).toMatchObject([
      200,
      {
        ...{ ok: true, status: 'ok', output: { status: 200, body: { price: 12 } }, duration_ms: expect.any(Number) },
        request: { method: 'GET', url: target.url.replace('/hook', '/price/a%20chair'), body: null },
        response: { status: 200, body: '{"price": 12}', truncated: false },
      },
    ])
    expect(body.request.headers).toMatchObject({ authorization: '***' })
    expect(target.received[0]?.headers.authorization).toBe(SECRET)
  })

  it("runs a tool of a server, by the server's name before its own", async () => {
    const { status, body } = await tryOut('orders__look_up', { arguments: { id: 'a' } })
    expect([status, body.output]).toEqual([200, { result: 'It is on its way.' }])
    expect(JSON.stringify(body)).not.toContain('key-of-the-mcp-tests')
  })

  it.each([
    ['arguments that do not fit', 'price_of', { arguments: {} }, 'arguments do not fit: item is required.'],
    ['no arguments', 'price_of', {}, 'arguments is required.'],
    [
      'an agent that may not use it',
      'not_for_desk',
      { ...chair, agent_key: 'desk' },
      'the tools of its published version do not name it',
    ],
    ['an agent that there is not', 'price_of', { ...chair, agent_key: 'none' }, 'agent_key is not the key of an agent'],
  ])('answers 400 to %s', async (_what, name, given, error) => {
    const { status, body } = await tryOut(name, given)
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)])
    expect(target.received).toEqual([])
  })

  it('answers 401 to nobody', async () => {
    expect((await tryOut('price_of', chair, null)).status).toBe(401)
  })

  it('answers 404 to a tool of another tenant, to a built-in one, and to none', async () => {
    const foreign = await tryOut('price_of', chair, 'other')
    const [builtIn, unknown] = [await tryOut('end_call', chair), await tryOut('orders__none', chair)]
    expect([foreign.status, builtIn.status, unknown.status]).toEqual([404, 404, 404])
    expect(builtIn.body).toMatchObject({ error: expect.stringMatching(/^This is a built-in tool/) })
    expect(target.received).toEqual([])
  })

  it.each(['reset', { status: 500, body: 'out of order' }] as const)(
    'answers 502 when the tool fails: %j',
    async (how) => {
      target.answer(how)
      const { status, body } = await tryOut('price_of', chair)
      expect([status, (body as unknown as { code: string }).code]).toEqual([502, 'upstream_failed'])
    },
  )

  it('shows an answer that is a refusal', async () => {
    target.answer({ status: 404, body: 'no chair' })
    const { status, body } = await tryOut('price_of', chair)
    expect([status, body]).toMatchObject([200, { status: 'error', response: { status: 404, body: 'no chair' } }])
  })
})

const SCENARIO: Scenario = {
  name: 'an agent asks the addresses of its tenant',
  call: { from: '+12025550123', to: NUMBER },
  caller: { steps: [{ say: 'What does a chair cost?' }, { say: 'And where is my order?' }], stays: true },
  agent: {
    rules: [
      { when: { greeting: true }, say: 'Hello.' },
      { when: { turn: 1 }, call: { name: 'price_of', arguments: { item: 'chair' } } },
      { when: { after_tool: 'price_of' }, say: 'It costs twelve dollars.' },
      { when: { turn: 2 }, call: { name: 'orders__look_up', arguments: { id: '7' } } },
      { when: { after_tool: 'orders__look_up' }, say: 'It is on its way. Goodbye.', end: true },
    ],
  },
  expect: { status: 'completed', tools: [{ name: 'price_of' }, { name: 'orders__look_up' }, { name: 'end_call' }] },
}

describe('a call whose agent has tools of its tenant', () => {
  it('uses them, and keeps what they said', async () => {
    const { served } = live
    const report = await runScenario(live.simulator, SCENARIO, live.urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])
    const calls = await until(
      async () => {
        const { body } = await served.call<{ voice_sessions: { id: string; ended_at: string | null }[] }>(
          ...(['acme', 'GET', '/voice-sessions'] as const),
        )
        const [session] = body.voice_sessions
        if (!session?.ended_at) return null
        const path = `/voice-sessions/${session.id}`
        const whole = await served.call<{ voice_session: { function_calls: object[] } }>('acme', 'GET', path)
        return whole.body.voice_session.function_calls
      },
      { what: 'the end of the session to be written down' },
    )
    expect(calls).toMatchObject([
      { name: 'price_of', status: 'ok', arguments: { item: 'chair' }, result: { status: 200, body: { price: 12 } } },
      { name: 'orders__look_up', status: 'ok', result: { result: 'It is on its way.' } },
      { name: 'end_call', status: 'ok' },
    ])
    const [asked] = target.received
    expect(asked).toMatchObject({ method: 'GET', path: '/price/chair' })
    expect(asked?.headers['parley-call-sid']).toBe(report.facts.sid)
    expect(JSON.stringify(served.logLines())).not.toContain('s3cret')
  })
})
