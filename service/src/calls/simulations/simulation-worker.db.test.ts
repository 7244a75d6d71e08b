import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { passing } from '../../../test/harness/passing.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../../kernel/ids.ts'
import { makeLog } from '../../platform/log.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import { insertRuns, type SimulationRunId } from '../../records/simulations/run-store.ts'
import { insertSimulation, type SimulationId } from '../../records/simulations/simulation-store.ts'
import { withAllTexts } from '../../tenancy/agent-config.ts'
import { SimulationWorker } from './simulation-worker.ts'

const ACME = 'acme' as TenantId
const test = useDatabase()
let clock: TestClock
let worker: SimulationWorker
let isOverloaded: boolean
/** How often it was asked whether there is room. */
let asked: number

beforeEach(async () => {
  clock = new TestClock()
  asked = 0
  await makeTenant(test.db, ACME)
  worker = new SimulationWorker({
    ...{
      db: test.db,
      clock,
      log: makeLog({ level: 'silent', secrets: [] }),
      isAlone: false,
      builtIns: [],
      voice: null,
    },
    tenants: { get: async (id) => tenantTold(id) },
    prompts: { textFor: async () => null },
    tenantTools: { of: async () => [] },
    model: { complete: () => Promise.reject(new Error('nobody is asked here')) },
    isOverloaded() {
      asked += 1
      return isOverloaded
    },
  })
})
afterEach(() => worker.close())

/** One whose only run is over as soon as it is begun: its scenario is not there. */
async function simulation(): Promise<void> {
  const now = new Date(clock.now())
  const id = newId<SimulationId>(now.getTime())
  await test.db.transaction().execute(async (tx) => {
    await insertSimulation(tx, {
      ...{ tenant_id: ACME, id, name: null, mode: 'voice', agent_id: newId<AgentId>(now.getTime()), agent_key: 'desk' },
      ...{ agent_name: 'Desk', agent_version_id: newId<AgentVersionId>(now.getTime()), version_number: 1 },
      config: withAllTexts({}),
      ...{ scenarios: [], repetitions: 1, pass_threshold: 1, is_scored: false, min_score: null, runs_tools: false },
      ...{ caller_model: null, status: 'queued', pass_rate: null, passed: null },
      ...{ created_at: now, started_at: null, completed_at: null },
    })
    const run = { id: newId<SimulationRunId>(now.getTime()), position: 1, scenario_index: 0, scenario: 'x' }
    await insertRuns(tx, { tenantId: ACME, simulationId: id, now }, [{ ...run, repetition: 1 }])
  })
}

const run = () => test.db.selectFrom('simulation_runs').select(['status', 'attempts']).executeTakeFirstOrThrow()

describe('who runs simulations', () => {
  it('begins none while the process cannot keep up with its calls, and goes on behind it', async () => {
    isOverloaded = true
    await simulation()
    await worker.start()
    await passing(clock, () => asked >= 3, { what: 'it to look a third time' })
    expect(await run()).toEqual({ status: 'pending', attempts: 0 })
    isOverloaded = false
    await passing(clock, async () => (await run()).status === 'error', { what: 'the run' })
  })
})
