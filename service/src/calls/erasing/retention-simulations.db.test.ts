import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../../kernel/ids.ts'
import { insertRuns, type SimulationRunId } from '../../records/simulations/run-store.ts'
import { insertSimulation, type SimulationId } from '../../records/simulations/simulation-store.ts'
import { withAllTexts } from '../../tenancy/agent-config.ts'
import { makeRetention } from './retention.ts'

const DAY_MS = 86_400_000
const test = useDatabase()
let clock: TestClock

beforeEach(async () => {
  clock = new TestClock()
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  const document = JSON.stringify({ tenant_id: 'acme', compliance: { retention_days: 30 } })
  await test.db
    .updateTable('tenants')
    .set({ document })
    .where('tenant_id', '=', 'acme' as TenantId)
    .execute()
})

const retention = () =>
  makeRetention({
    ...{ db: test.db, clock, log: { info: () => {}, error: () => {} }, isStopping: () => false },
    erase: () => Promise.reject(new Error('no session is erased here')),
    files: { remove: async () => {} },
  })

/** One with a run. */
async function simulation(tenant: string, name: string, { isOver }: { isOver: boolean }): Promise<void> {
  const now = new Date(clock.now())
  const tenantId = tenant as TenantId
  const simulationId = newId<SimulationId>(now.getTime())
  await test.db.transaction().execute(async (tx) => {
    await insertSimulation(tx, {
      ...{
        tenant_id: tenantId,
        id: simulationId,
        name,
        mode: 'text',
        agent_id: newId<AgentId>(now.getTime()),
        agent_key: 'desk',
      },
      ...{ agent_name: 'Desk', agent_version_id: newId<AgentVersionId>(now.getTime()), version_number: 1 },
      config: withAllTexts({}),
      ...{ scenarios: [], repetitions: 1, pass_threshold: 1, is_scored: false, min_score: null, runs_tools: false },
      ...{ caller_model: null, status: isOver ? 'completed' : 'running', pass_rate: null, passed: null },
      ...{ created_at: now, started_at: now, completed_at: isOver ? now : null },
    })
    const run = { id: newId<SimulationRunId>(now.getTime()), position: 1, scenario_index: 0, scenario: 'x' }
    await insertRuns(tx, { tenantId, simulationId, now }, [{ ...run, repetition: 1 }])
  })
}

describe('the age of a simulation', () => {
  it('is bounded as that of sessions is, and only what is over goes, with its runs', async () => {
    await simulation('acme', 'old', { isOver: true })
    await simulation('acme', 'old, not over', { isOver: false })
    await simulation('globex', 'kept', { isOver: true })
    await clock.advance(20 * DAY_MS)
    await simulation('acme', 'young', { isOver: true })
    expect(await retention().deleteOldSimulations()).toBe(0)
    await clock.advance(10 * DAY_MS + 1)
    expect(await retention().deleteOldSimulations()).toBe(1)
    expect(await retention().deleteOldSimulations()).toBe(0)
    const left = await test.db.selectFrom('simulations').select('name').orderBy('name').execute()
    expect(left.map(({ name }) => name)).toEqual(['kept', 'old, not over', 'young'])
    expect(await test.db.selectFrom('simulation_runs').select('id').execute()).toHaveLength(3)
  })
})
