import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { killPrograms } from './program.ts'
import { type Copy, copyTemplate } from './template.ts'
import { until } from './wait.ts'

const ADMIN_KEY = 'ak_key_of_the_simulation_tests'
const TOKEN = 'bearer-token-of-the-simulation-tests'

type Run = { id: string; status: string }
/** A simulation as the API tells of it. */
type Simulation = {
  id: string
  status: string
  passed: boolean | null
  runs: Run[]
  runs_by_status: Record<string, number>
}
type WholeRun = Run & { reasons: string[]; transcript: { role: string; text: string }[] }

/** Programs that simulate, one after the other, on one database: what is asked of the one that listens at `address`. */
export type SimulatingPrograms = {
  copy: Copy
  /** With which each of them is started; the same ones each time. */
  settings(more: Record<string, string>): Record<string, string>
  /** Has the scenarios simulated with an agent that greets, of a new tenant. */
  simulate(address: string, wanted: { mode?: 'voice'; scenarios: object[] }): Promise<Simulation>
  /** Waits for its end. */
  completed(address: string, id: string, timeoutMs: number): Promise<Simulation>
  /** Its first run, whole. */
  firstRun(address: string, simulation: Simulation): Promise<WholeRun>
}

/** To be called in a `describe`: the programs and the database are gone behind it. */
export function useSimulatingPrograms(): SimulatingPrograms {
  let copy: Copy | undefined
  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
  })
  afterEach(killPrograms)
  afterAll(() => copy?.remove())
  const encryptionKey = randomBytes(32).toString('base64')

  const programs: SimulatingPrograms = {
    get copy() {
      if (!copy) throw new Error('there is no database yet')
      return copy
    },
    settings: (more) => ({
      ...{ ENCRYPTION_KEY: encryptionKey, ADMIN_API_KEY: ADMIN_KEY, OPENAI_API_KEY: 'sk-key-of-the-tests' },
      ...programs.copy.settings,
      ...more,
    }),
    async simulate(address, wanted) {
      const admin = '/admin/tenants/acme'
      await asked(address, 'PUT', admin, { tenant_id: 'acme', auth_token: TOKEN })
      const desk = { agent_key: 'desk', name: 'Desk' }
      const { agent } = await asked<{ agent: { id: string } }>(address, 'POST', `${admin}/agents`, desk)
      const draft = { agent_id: agent.id, config: { greeting: 'Hello.', criteria: [] } }
      type Drafted = { version: { id: string } }
      const { version } = await asked<Drafted>(address, 'POST', `${admin}/agent-versions`, draft)
      const body = { agent_version_id: version.id, ...wanted }
      return (await asked<{ simulation: Simulation }>(address, 'POST', '/simulations', body)).simulation
    },
    completed(address, id, timeoutMs) {
      const over = async () => {
        const { simulation } = await asked<{ simulation: Simulation }>(address, 'GET', `/simulations/${id}`)
        return simulation.status === 'completed' ? simulation : null
      }
      return until(over, { what: 'its end', timeoutMs, everyMs: 100 })
    },
    async firstRun(address, { id, runs }) {
      return (await asked<{ run: WholeRun }>(address, 'GET', `/simulations/${id}/runs/${runs[0]?.id}`)).run
    },
  }
  return programs
}

async function asked<Body>(address: string, method: string, path: string, body?: object): Promise<Body> {
  const bare = { 'x-admin-key': ADMIN_KEY, authorization: `Bearer ${TOKEN}` }
  const sent = body && { headers: { ...bare, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${address}/api/v1${path}`, { method, headers: bare, ...sent })
  expect([path, response.status]).toEqual([path, 200])
  return (await response.json()) as Body
}
