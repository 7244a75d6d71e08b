import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../../simulator/src/speech/speech.ts'
import { killPrograms, type Program, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

/** The program starts three times, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 300_000 }
const RUN_WITHIN_MS = 90_000
const ADMIN_KEY = 'ak_key_of_the_simulation_tests'
const TOKEN = 'bearer-token-of-the-simulation-tests'

type Run = { id: string; status: string }
type Answer = { simulation: { id: string; status: string; passed: boolean | null; runs: Run[] } }
type Whole = { run: Run & { reasons: string[]; transcript: { role: string; text: string }[] } }

describe('a simulation by voice whose process stops, and then is killed', () => {
  const { kind } = inject('databaseTemplate')
  let copy: Copy
  let speech: Speech
  let model: Model

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    const phraseBook = makePhraseBook()
    speech = makeSpeech({ phraseBook })
    model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook })
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await model.close()
    await speech.close()
    await copy.remove()
  })

  async function call<Body>(address: string, method: string, path: string, body?: unknown): Promise<Body> {
    const bare = { 'x-admin-key': ADMIN_KEY, authorization: `Bearer ${TOKEN}` }
    const headers = body === undefined ? bare : { ...bare, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${address}/api/v1${path}`, { method, headers, ...sent })
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

  const settings = () => ({
    ...{ ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...copy.settings, ADMIN_API_KEY: ADMIN_KEY },
    ...{ OPENAI_API_KEY: 'sk-key-of-the-tests', OPENAI_BASE_URL: model.baseUrl, OPENAI_REALTIME_URL: model.url },
  })

  /** Ends the program once it has called the agent, and the agent has begun to speak. */
  async function endInCall(program: Program, signal: NodeJS.Signals, callsBefore: number): Promise<void> {
    await until(() => model.sessions.length > callsBefore, { what: 'the call', timeoutMs: RUN_WITHIN_MS, everyMs: 20 })
    await program.end(signal)
  }

  it('is begun anew both times, and counts once', AT_LEISURE, async () => {
    const given = settings()
    const stopped = startProgram(given)
    const first = await stopped.listening()
    await call(first, 'PUT', '/admin/tenants/acme', { tenant_id: 'acme', auth_token: TOKEN })
    const desk = { agent_key: 'desk', name: 'Desk' }
    const { agent } = await call<{ agent: { id: string } }>(first, 'POST', '/admin/tenants/acme/agents', desk)
    const draft = { agent_id: agent.id, config: { greeting: 'Hello.', criteria: [] } }
    const made = await call<{ version: { id: string } }>(first, 'POST', '/admin/tenants/acme/agent-versions', draft)
    const scenarios = [
      { name: 'A question', caller: { steps: [{ say: 'Are you open?' }] }, expect: { heard: ['You said'] } },
    ]
    const wanted = { agent_version_id: made.version.id, mode: 'voice', scenarios }
    const { simulation } = await call<Answer>(first, 'POST', '/simulations', wanted)
    await endInCall(stopped, 'SIGTERM', 0)

    const killed = startProgram(given)
    await killed.listening()
    await endInCall(killed, 'SIGKILL', model.sessions.length)
    await endLease()

    const address = await startProgram(given).listening()
    const path = `/simulations/${simulation.id}`
    const over = async () => {
      const { simulation: now } = await call<Answer>(address, 'GET', path)
      return now.status === 'completed' ? now : null
    }
    const done = await until(over, { what: 'its end', timeoutMs: RUN_WITHIN_MS, everyMs: 100 })
    const { run } = await call<Whole>(address, 'GET', `${path}/runs/${done.runs[0]?.id}`)
    expect([run.reasons, done.passed]).toEqual([[], true])
    expect(run.transcript.filter(({ role }) => role === 'caller').map(({ text }) => text)).toEqual(['Are you open?'])
    expect(model.sessions.length).toBeGreaterThanOrEqual(3)
  })
})
