import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { newId } from '../kernel/ids.ts'
import { makeSettlingDispatches } from '../operators/settle-dispatches.ts'
import { insertDispatch } from '../operators/task-dispatch-store.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { someCall, tenantTold } from '../records/calls.fixture.ts'
import { queueCall } from '../records/outbound-calls.ts'
import { insertCampaignDial } from './campaigns/campaign-dial-store.ts'
import { makeSettleCampaignDials } from './campaigns/campaign-settle.ts'
import type { CampaignId } from './campaigns/campaign-store.ts'
import type { ContactId } from './campaigns/contact-store.ts'
import { insertDial } from './dial-store.ts'
import { settleDial } from './settle-dial.ts'
import { makeSettlingDials } from './settle-dials.ts'

const acme = tenantTold('acme')
const globex = tenantTold('globex')
const FIRST_AND_LAST = ['first', 'last']
/** A lock is waited for as long as 20 s by who asks for it alone. */
const IN_GOOD_TIME_MS = 10_000

/** On a server: the embedded database has one transaction at a time. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while somebody holds a row', () => {
  const test = useDatabase()
  const clock = new TestClock()
  const now = () => new Date(clock.now())
  const log = { info: () => {}, warn: () => {} }
  const tenants = { get: async () => acme }

  beforeEach(async () => {
    for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  })

  /** A call that is over, or in doubt. @returns the id of its log. */
  async function dialled(
    dialRef: string,
    { isOver, of = acme }: { isOver: boolean; of?: typeof acme },
  ): Promise<string> {
    await clock.advance(1)
    const callLogId = await test.db.transaction().execute(async (tx) => {
      const { id } = await queueCall(tx, of, { ...someCall(''), callbackTaskId: null }, now())
      const dial = { dial_ref: dialRef, call_log_id: id, call_sid: null, greeting: null, state: 'dialing' as const }
      await insertDial(tx, of.tenant_id, { ...dial, created_at: now(), due_at: now() })
      return id
    })
    const failed = { type: 'failed' as const, code: 'not_confirmed', reason: null }
    await settleDial(test.db, of, dialRef, { outcome: isOver ? failed : { type: 'unknown' }, now: now() })
    return callLogId
  }

  /** Keeps the rows from changing until the work is done. */
  async function holding<T>(rows: ReturnType<typeof sql>, work: () => Promise<T>): Promise<T> {
    return test.db.transaction().execute(async (tx) => {
      await rows.execute(tx)
      return work()
    })
  }

  it("the ends of a tenant's other dispatched tasks are taken note of, and in the end that one", async () => {
    for (const key of FIRST_AND_LAST) {
      const [id, callLogId] = [newId<never>(clock.now()), await dialled(key, { isOver: true })]
      await sql`
        insert into callback_tasks (tenant_id, id, customer_phone, status, priority, queue_key, metadata, sla_due_at, notes,
                                    dispatch_attempt_count, last_dispatch_attempted_at, created_at, updated_at)
        values ('acme', ${id}, '+12025550142', 'dispatching', 'normal', 'one', '{}', ${now()}, ${key}, 1, ${now()}, ${now()}, ${now()})`.execute(
        test.db,
      )
      const dispatch = { call_log_id: callLogId, task_id: id, attempted_at: now() }
      await test.db.transaction().execute((tx) => insertDispatch(tx, acme.tenant_id, dispatch))
    }
    const settling = makeSettlingDispatches({ db: test.db, clock, log, tenants })
    const settled = async () => {
      for (const _ of FIRST_AND_LAST) await settling.settle()
      const tasks = await test.db.selectFrom('callback_tasks').select('notes').where('status', '=', 'open').execute()
      return tasks.map(({ notes }) => notes).toSorted()
    }
    expect(await holding(sql`select from callback_tasks where notes = 'first' for update`, settled)).toEqual(['last'])
    expect(await settled()).toEqual(FIRST_AND_LAST)
    await settling.close()
  })

  it("the ends of a tenant's other calls of campaigns are taken note of, and in the end that one", async () => {
    for (const name of FIRST_AND_LAST) {
      const [campaignId, contactId] = [newId<CampaignId>(clock.now()), newId<ContactId>(clock.now())]
      const callLogId = await dialled(name, { isOver: true })
      await sql`
        insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                               next_dial_at, created_at, updated_at)
        values ('acme', ${campaignId}, ${name}, 'desk', 'running', 1, 1, 1, '{30}', ${now()}, ${now()}, ${now()})`.execute(
        test.db,
      )
      await sql`
        insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at,
                                       last_call_log_id, created_at, updated_at)
        values ('acme', ${contactId}, ${campaignId}, 1, '+12025550142', '{}', 'dialing', 1, ${now()}, ${callLogId}, ${now()},
                ${now()})`.execute(test.db)
      const dial = { call_log_id: callLogId, campaign_id: campaignId, contact_id: contactId, leaves_message: false }
      await test.db
        .transaction()
        .execute((tx) => insertCampaignDial(tx, acme.tenant_id, { ...dial, attempted_at: now() }))
    }
    const settle = makeSettleCampaignDials({ db: test.db, clock, log, tenants, isStopping: () => false })
    const settled = async () => {
      for (const _ of FIRST_AND_LAST) await settle()
      const over = await test.db.selectFrom('campaigns').select('name').where('status', '=', 'completed').execute()
      return over.map(({ name }) => name).toSorted()
    }
    expect(await holding(sql`select from campaigns where name = 'first' for update`, settled)).toEqual(['last'])
    expect(await settled()).toEqual(FIRST_AND_LAST)
  })

  it('calls in doubt of other tenants are looked for in good time', async () => {
    for (let nth = 0; nth < 20; nth += 1) await dialled(`acme ${nth}`, { isOver: false })
    await dialled('globex', { isOver: false, of: globex })
    clock.jump(120_000)
    const { twilio } = makeCarriers({ apiBaseUrl: 'http://carrier.invalid' })
    const listCalls = async () => ({ calls: [], hasUnread: false })
    const telephony = { ...acme.telephony, account_sid: 'AC1', auth_token: 'token' }
    const settling = makeSettlingDials({
      ...{ db: test.db, clock, log, carriers: { twilio: { ...twilio, listCalls } } },
      tenants: { get: async (id) => ({ ...(id === 'acme' ? acme : globex), telephony }) },
      statuses: { record: async () => null },
    })
    const looked = async () => {
      const beganMs = performance.now()
      await settling.look()
      return performance.now() - beganMs
    }
    const rows = sql`select from call_logs where tenant_id = 'acme' for update`
    expect(await holding(rows, looked)).toBeLessThan(IN_GOOD_TIME_MS)
    const dials = await test.db.selectFrom('dials').select('tenant_id').where('state', '=', 'failed').execute()
    expect(dials).toEqual([{ tenant_id: 'globex' }])
    await settling.close()
  })
})
