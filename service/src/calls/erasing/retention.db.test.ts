import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { someCall, tenantTold } from '../../records/calls.fixture.ts'
import { doubtedCall, failedCall, queueCall } from '../../records/outbound-calls.ts'
import { insertRuns, type SimulationRunId } from '../../records/simulations/run-store.ts'
import { insertSimulation, type SimulationId } from '../../records/simulations/simulation-store.ts'
import { withAllTexts } from '../../tenancy/agent-config.ts'
import { insertCampaignDial } from '../campaigns/campaign-dial-store.ts'
import type { CampaignId } from '../campaigns/campaign-store.ts'
import { type ContactId, insertContacts } from '../campaigns/contact-store.ts'
import { insertDial } from '../dial-store.ts'
import { makeRetention } from './retention.ts'
import { eraseUnplaced } from './unplaced-store.ts'

const ACME = 'acme' as TenantId
const DAY_MS = 86_400_000
const test = useDatabase()
let clock: TestClock

beforeEach(async () => {
  clock = new TestClock()
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  const document = JSON.stringify({ tenant_id: 'acme', compliance: { retention_days: 30 } })
  await test.db.updateTable('tenants').set({ document }).where('tenant_id', '=', ACME).execute()
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

const SECRET = 'the blue suitcase'
const CAMPAIGN = '0190c000-0000-7000-8000-00000000000c' as CampaignId

/** A call that no carrier took, with a greeting of its own; one of a campaign. */
async function neverPlaced(tenant: string, name: string, { isKnown = true } = {}): Promise<void> {
  const now = new Date(clock.now())
  const runtime = tenantTold(tenant)
  const { tenant_id: tenantId } = runtime
  await test.db.transaction().execute(async (tx) => {
    const { callSid: _none, direction: _outbound, ...call } = someCall('', { to: name, metadata: { lost: SECRET } })
    const log = await queueCall(tx, runtime, { ...call, callbackTaskId: null }, now)
    const dial = {
      dial_ref: log.id,
      call_log_id: log.id,
      call_sid: null,
      greeting: SECRET,
      created_at: now,
      due_at: now,
    }
    await insertDial(tx, tenantId, { ...dial, state: isKnown ? 'failed' : 'unknown' })
    if (isKnown) await failedCall(tx, runtime, log, { code: 'carrier_rejected', reason: null, at: now })
    else await doubtedCall(tx, runtime, log)
    const contact = newId<ContactId>(now.getTime())
    const contacts = [{ id: contact, position: 1, phone: name as PhoneNumber, metadata: { lost: SECRET } }]
    await insertContacts(tx, tenantId, { campaignId: CAMPAIGN, contacts, now })
    const dialled = { call_log_id: log.id, campaign_id: CAMPAIGN, contact_id: contact }
    await insertCampaignDial(tx, tenantId, { ...dialled, leaves_message: false, attempted_at: now })
  })
}

/** Where what was given to a call is still to be found, by the names of the calls. */
async function found() {
  const { rows } = await sql<{ name: string; log: boolean; dial: boolean; event: boolean; contact: boolean }>`
    select log."to" as name, log.metadata <> '{}' as log, dials.greeting is not null as dial, event.id is not null as event,
           contact.metadata <> '{}' as contact
      from call_logs log
      join dials on dials.call_log_id = log.id
      join campaign_dials dial on dial.call_log_id = log.id
      join campaign_contacts contact on contact.id = dial.contact_id
      left join webhook_outbox event on event.body #>> '{payload,call_log,to}' = log."to"
     order by name`.execute(test.db)
  return Object.fromEntries(
    rows.map(({ name, ...where }) => [name, Object.keys(where).filter((key) => where[key as 'log'])]),
  )
}

describe('the age of a call that no carrier took', () => {
  beforeEach(async () => {
    const now = new Date(clock.now())
    await sql`
      insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                             next_dial_at, created_at, updated_at)
      select tenant_id, ${CAMPAIGN}, 'May', 'desk', 'running', 1, 1, 3, '{30}', ${now}, ${now}, ${now} from tenants`.execute(
      test.db,
    )
  })

  it('is bounded as that of sessions is: what it was given is nowhere any more', async () => {
    await neverPlaced('acme', 'old')
    await neverPlaced('acme', 'old, called again')
    await neverPlaced('acme', 'old, in doubt', { isKnown: false })
    await neverPlaced('globex', 'kept')
    await test.db
      .updateTable('campaign_contacts')
      .set({ status: 'completed' })
      .where('phone', '=', 'old' as PhoneNumber)
      .execute()
    await clock.advance(20 * DAY_MS)
    await neverPlaced('acme', 'young')
    const everywhere = ['log', 'dial', 'event', 'contact']
    expect(await retention().eraseUnplaced()).toBe(0)
    await clock.advance(10 * DAY_MS + 1)
    expect(await retention().eraseUnplaced()).toBe(2)
    expect(await retention().eraseUnplaced()).toBe(0)
    expect(await found()).toEqual({
      ...{ kept: everywhere, old: [], 'old, called again': ['contact'] },
      ...{ 'old, in doubt': ['log', 'dial', 'contact'], young: everywhere },
    })
    await test.db.updateTable('campaign_contacts').set({ status: 'failed' }).execute()
    expect(await found()).toMatchObject({ 'old, called again': [], young: everywhere })
  })

  // The embedded database has one transaction at a time.
  it.runIf(inject('databaseTemplate').kind === 'server')(
    'waits for no contact that somebody changes: its log goes later, with it',
    async () => {
      for (const name of ['free', 'changed']) await neverPlaced('acme', name)
      await clock.advance(31 * DAY_MS)
      const changing = sql`select from campaign_contacts where phone = 'changed' for update`
      await test.db.transaction().execute(async (tx) => {
        await changing.execute(tx)
        expect(await retention().eraseUnplaced()).toBe(1)
      })
      await test.db.updateTable('campaign_contacts').set({ status: 'cancelled' }).execute()
      expect(await found()).toEqual({ changed: ['log', 'contact'], free: [] })
      expect(await retention().eraseUnplaced()).toBe(1)
      expect(await found()).toEqual({ changed: [], free: [] })
    },
  )

  it('is found without reading those that were placed', async () => {
    await sql`
      insert into call_logs (tenant_id, id, call_sid, direction, "from", "to", status, status_at, created_at, escalated, metadata)
      select 'acme', gen_random_uuid(), 'CA' || n, 'outbound', 'one', 'two', 'completed', ${new Date(clock.now())},
             ${new Date(clock.now())}, false, '{"a": 1}' from generate_series(1, 3000) n`.execute(test.db)
    await sql`vacuum analyze call_logs`.execute(test.db)
    await clock.advance(31 * DAY_MS)
    const plans = await plansOf(test.db, (db) => eraseUnplaced(db, ACME, new Date(clock.now()), 10))
    expect(plans.reduce((sum, { blocks }) => sum + blocks, 0)).toBeLessThan(40)
  })
})
