import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

/** The program starts twice, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 120_000 }
const RUN_WITHIN_MS = 30_000
const ADMIN_KEY = 'ak_key_of_the_simulation_tests'
const TOKEN = 'bearer-token-of-the-simulation-tests'

describe('a simulation whose process was killed', () => {
  const { kind } = inject('databaseTemplate')
  let copy: Copy
  let provider: ChatServer

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    provider = await startChatServer()
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await provider.close()
    await copy.remove()
  })

  async function call<Body>(address: string, method: string, path: string, body?: unknown): Promise<Body> {
    const headers = { 'x-admin-key': ADMIN_KEY, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const { 'content-type': _type, ...bare } = headers
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: body === undefined ? bare : headers,
      ...sent,
    })
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as Body
  }

  /** On a server others may have its run, until the lease is over by the clock of the database. */
  async function endLease(): Promise<void> {
    if (kind === 'embedded') return
    const database = await copy.open()
    const ended = { leased_until: new Date(0) }
    await database.db.updateTable('simulation_runs').set(ended).where('status', '=', 'running').execute()
    await database.close()
  }

  it('is run to its end by the next one, and counts once', AT_LEISURE, async () => {
    const settings = {
      ...{ ENCRYPTION_KEY: randomBytes(32).toString('base64'), ADMIN_API_KEY: ADMIN_KEY, ...copy.settings },
      ...{ OPENAI_API_KEY: 'sk-key-of-the-tests', OPENAI_BASE_URL: provider.baseUrl },
    }
    const killed = startProgram(settings)
    const first = await killed.listening()
    await call(first, 'PUT', '/admin/tenants/acme', { tenant_id: 'acme', auth_token: TOKEN })
    const desk = { agent_key: 'desk', name: 'Desk' }
    const { agent } = await call<{ agent: { id: string } }>(first, 'POST', '/admin/tenants/acme/agents', desk)
    const versions = '/admin/tenants/acme/agent-versions'
    const draft = { agent_id: agent.id, config: { greeting: 'Hello.', criteria: [] } }
    const { version } = await call<{ version: { id: string } }>(first, 'POST', versions, draft)
    provider.answer({ says: 'Yes.' }, 'nothing')
    const scenarios = [{ name: 'Two questions', caller: { steps: [{ say: 'Are you open?' }, { say: 'And now?' }] } }]
    const wanted = { agent_version_id: version.id, scenarios }
    type Answer = { simulation: { id: string; status: string; runs: { id: string; status: string }[] } }
    const { simulation } = await call<Answer>(first, 'POST', '/simulations', wanted)
    await until(() => provider.asked.length === 2, { what: 'the model to be asked', timeoutMs: RUN_WITHIN_MS })
    await killed.end('SIGKILL')
    await endLease()

    provider.answer({ says: 'Still.' })
    const address = await startProgram(settings).listening()
    const path = `/simulations/${simulation.id}`
    const over = async () => {
      const { simulation: now } = await call<Answer>(address, 'GET', path)
      return now.status === 'completed' ? now : null
    }
    const done = await until(over, { what: 'its end', timeoutMs: RUN_WITHIN_MS, everyMs: 100 })
    expect(done).toMatchObject({ passed: true, runs_by_status: { total: 1, passed: 1 } })
    const { run } = await call<{ run: { transcript: { text: string }[] } }>(
      address,
      'GET',
      `${path}/runs/${done.runs[0]?.id}`,
    )
    expect(run.transcript.map(({ text }) => text)).toEqual(['Hello.', 'Are you open?', 'Still.', 'And now?', 'Still.'])
    expect(provider.asked).toHaveLength(4)
  })
})
