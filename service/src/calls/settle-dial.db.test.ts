import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import { newId } from '../kernel/ids.ts'
import { type CallbackTaskId, findCallbackTask } from '../operators/callback-task-store.ts'
import { makeSettlingDispatches } from '../operators/settle-dispatches.ts'
import { insertDispatch } from '../operators/task-dispatch-store.ts'
import type { Tx } from '../platform/db/schema.ts'
import { CarrierError, type ListedCall, type TelephonyDriver } from '../platform/telephony/port.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { leaveCall } from '../records/call-directory-store.ts'
import { NODE, someCall, tenantTold } from '../records/calls.fixture.ts'
import { queueCall } from '../records/outbound-calls.ts'
import { makeSessions } from '../records/sessions.ts'
import { insertCampaignDial } from './campaigns/campaign-dial-store.ts'
import { makeSettleCampaignDials } from './campaigns/campaign-settle.ts'
import type { CampaignId } from './campaigns/campaign-store.ts'
import { type ContactId, countBusy, findContact } from './campaigns/contact-store.ts'
import { findGreeting, insertDial } from './dial-store.ts'
import { makeCallStatuses } from './record-status.ts'
import { type DialOutcome, settleDial } from './settle-dial.ts'
import { makeSettlingDials } from './settle-dials.ts'

const acme = tenantTold('acme')
const ACME = acme.tenant_id

const test = useDatabase()
const clock = new TestClock()
const now = () => new Date(clock.now())

beforeEach(async () => {
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  for (const dialRef of ['a', 'b']) await dialled(dialRef)
})

/** A dial of which it is not known what became of it; its greeting is its reference. */
async function dialled(dialRef: string): Promise<void> {
  await test.db.transaction().execute(async (tx) => {
    const { id } = await queueCall(tx, acme, { ...someCall(''), callbackTaskId: null }, now())
    const dial = { dial_ref: dialRef, call_log_id: id, call_sid: null, greeting: dialRef }
    await insertDial(tx, ACME, { ...dial, state: 'dialing', created_at: now(), due_at: now() })
  })
  await settle(dialRef, { type: 'unknown' })
}

const settle = (dialRef: string, outcome: DialOutcome) => settleDial(test.db, acme, dialRef, { outcome, now: now() })
const found = (callSid: string) => ({ type: 'found' as const, callSid })
const told = (callSid: string) => ({ type: 'adopted' as const, callSid })

/** What is known of the dial now, and by its call: the greeting of that. */
async function stateOf(dialRef: string) {
  const { state, call_sid, status, error_code } = await test.db
    .selectFrom('dials')
    .innerJoin('call_logs as log', 'log.id', 'dials.call_log_id')
    .select(['dials.state', 'log.call_sid', 'log.status', 'log.error_code'])
    .where('dial_ref', '=', dialRef)
    .executeTakeFirstOrThrow()
  return { state, call_sid, status, error_code, greeting: call_sid && (await findGreeting(test.db, ACME, call_sid)) }
}

const DOUBTED = { state: 'unknown', call_sid: null, status: 'queued', error_code: 'submission_unknown', greeting: null }
const has = (call_sid: string, greeting: string) => ({
  ...{ state: 'adopted', call_sid, status: 'queued', error_code: null, greeting },
})

async function sessionsOf(callSid: string): Promise<number> {
  const rows = await test.db.selectFrom('voice_sessions').select('id').where('call_sid', '=', callSid).execute()
  return rows.length
}

describe('a call that was only found', () => {
  it('is taken to be the one that was asked for, with its greeting, until the carrier names the same', async () => {
    expect(await settle('a', found('CA1'))).toMatchObject({ state: 'adopted', log: { call_sid: 'CA1' } })
    expect(await settle('a', found('CA1'))).toMatchObject({ state: 'adopted' })
    expect(await stateOf('a')).toEqual(has('CA1', 'a'))
    expect(await settle('a', { type: 'accepted', callSid: 'CA1' })).toMatchObject({ state: 'accepted' })
    expect(await sessionsOf('CA1')).toBe(1)
  })

  it('goes to the dial that the carrier names, and the other one is in doubt again', async () => {
    await settle('a', found('CA1'))
    expect(await settle('b', told('CA1'))).toMatchObject({ state: 'adopted', log: { call_sid: 'CA1' } })
    expect([await stateOf('a'), await stateOf('b')]).toEqual([DOUBTED, has('CA1', 'b')])
    expect(await sessionsOf('CA1')).toBe(1)
    expect(await settle('a', told('CA2'))).toMatchObject({ log: { call_sid: 'CA2' } })
  })

  it('is given back when the carrier names its dial by another one, also both ways at once', async () => {
    await settle('a', found('CA1'))
    await settle('b', found('CA2'))
    const both = await Promise.all([settle('a', told('CA2')), settle('b', told('CA1'))])
    // Of two at once one may still see its call with the other: the carrier tells of it again.
    if (both.includes(null)) await Promise.all([settle('a', told('CA2')), settle('b', told('CA1'))])
    expect([await stateOf('a'), await stateOf('b')]).toEqual([has('CA2', 'a'), has('CA1', 'b')])
  })

  /** Nobody else changes the dial until the function is called. */
  async function holding(dialRef: string): Promise<() => Promise<void>> {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = test.db.transaction().execute(async (tx) => {
      await tx.selectFrom('dials').select('dial_ref').where('dial_ref', '=', dialRef).forUpdate().execute()
      held.resolve()
      await released.promise
    })
    await held.promise
    return () => {
      released.resolve()
      return done
    }
  }

  async function isSomebodyWaiting(): Promise<boolean> {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
    return rows.length > 0
  }

  // An embedded database has one connection: nothing can come in between.
  it.runIf(inject('databaseTemplate').kind === 'server')(
    'goes to the dial that the carrier names, also when it is found for another one in between',
    async () => {
      const release = await holding('b')
      const named = settle('b', told('CA1'))
      await until(isSomebodyWaiting, { what: 'the dial to be waited for' })
      await settle('a', found('CA1'))
      await release()
      expect(await named).toMatchObject({ state: 'adopted', log: { call_sid: 'CA1' } })
      expect([await stateOf('a'), await stateOf('b')]).toEqual([DOUBTED, has('CA1', 'b')])
      expect(await sessionsOf('CA1')).toBe(1)
    },
  )

  it('stays where somebody has talked in it, or when it is over', async () => {
    await settle('a', found('CA1'))
    const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
    await sessions.started(acme, { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: null, voice: null })
    expect(await settle('b', told('CA1'))).toBeNull()
    expect([await stateOf('a'), await stateOf('b')]).toMatchObject([{ call_sid: 'CA1' }, DOUBTED])
    await dialled('c')
    await settle('b', found('CA3'))
    const statuses = makeCallStatuses({
      db: test.db,
      clock,
      nodeId: NODE,
      tenants: { get: async () => acme },
      willEnd: () => false,
    })
    const silent = { durationSeconds: null, answeredBy: null, errorCode: null, errorMessage: null }
    await statuses.record(ACME, 'CA3', { ...silent, status: 'busy', at: now() })
    expect(await settle('c', told('CA3'))).toBeNull()
    expect(await stateOf('b')).toMatchObject({ call_sid: 'CA3', status: 'busy' })
  })

  it('does not stand against the word of the carrier, nor another guess against it', async () => {
    await settle('a', told('CA1'))
    expect(await settle('b', found('CA1'))).toBeNull()
    expect(await settle('b', told('CA1'))).toBeNull()
    expect(await settle('a', found('CA2'))).toBeNull()
    expect([await stateOf('a'), await stateOf('b')]).toEqual([has('CA1', 'a'), DOUBTED])
  })

  /** As the erasure of its session leaves a call: in its log, and no longer in the directory. */
  async function forgotten(callSid: string): Promise<void> {
    await test.db.transaction().execute((tx) => leaveCall(tx, ACME, callSid))
    await test.db.deleteFrom('voice_sessions').where('call_sid', '=', callSid).execute()
  }

  it.each(['found', 'adopted'] as const)(
    'stays with its dial once its session is erased, whoever %s it',
    async (type) => {
      await settle('a', type === 'found' ? told('CA1') : found('CA1'))
      await forgotten('CA1')
      expect(await settle('b', { type, callSid: 'CA1' })).toBeNull()
      expect([await stateOf('a'), await stateOf('b')]).toMatchObject([{ call_sid: 'CA1' }, DOUBTED])
    },
  )

  it('of another tenant is nobody else’s', async () => {
    const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
    await sessions.open(tenantTold('globex'), someCall('CA1'))
    expect(await settle('a', found('CA1'))).toBeNull()
    expect(await settle('a', told('CA1'))).toBeNull()
    expect(await settleDial(test.db, tenantTold('globex'), 'a', { outcome: told('CA2'), now: now() })).toBeNull()
    expect(await stateOf('a')).toEqual(DOUBTED)
  })
})

describe('calls in doubt, however many', () => {
  const DIALS = 45
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const telephony = { ...acme.telephony, account_sid: 'AC1', auth_token: 'token' }

  beforeEach(async () => {
    for (let n = 0; n < DIALS; n += 1) await dialled(`more ${n}`)
  })

  function settlingAt(listCalls: TelephonyDriver['listCalls']) {
    const { twilio } = makeCarriers({ apiBaseUrl: 'http://carrier.invalid' })
    return makeSettlingDials({
      ...{ db: test.db, clock, log, carriers: { twilio: { ...twilio, listCalls } } },
      tenants: { get: async () => ({ ...acme, telephony }) },
      statuses: { record: async () => null },
    })
  }

  async function statesOfAll(): Promise<string[]> {
    const rows = await test.db.selectFrom('dials').select('state').distinct().execute()
    return rows.map(({ state }) => state)
  }

  it('are settled within two minutes, also those that were looked at a moment before that', async () => {
    const settling = settlingAt(async () => ({ calls: [], hasUnread: false }))
    clock.jump(109_000)
    await settling.look()
    expect(await statesOfAll()).toEqual(['unknown'])
    clock.jump(1_500)
    await settling.look()
    expect(await statesOfAll()).toEqual(['failed'])
    await settling.close()
  })

  it('have not become a call that was placed a moment before, though its session is erased', async () => {
    await settle('a', told('CA1'))
    await test.db.transaction().execute((tx) => leaveCall(tx, ACME, 'CA1'))
    const one: ListedCall = {
      callSid: 'CA1',
      status: 'completed',
      durationSeconds: 9,
      answeredBy: null,
      createdAt: now(),
    }
    await test.db.updateTable('dials').set({ state: 'failed' }).where('dial_ref', 'like', 'more %').execute()
    await test.db
      .updateTable('call_logs')
      .set({ campaign_id: newId<CampaignId>(clock.now()) })
      .execute()
    clock.jump(120_000)
    const settling = settlingAt(async () => ({ calls: [one], hasUnread: false }))
    await settling.look()
    await settling.close()
    expect(await stateOf('b')).toMatchObject({ state: 'failed', call_sid: null, error_code: 'not_confirmed' })
  })

  it('that would be placed again wait while the carrier lists what nobody can read', async () => {
    await test.db
      .updateTable('call_logs')
      .set({ campaign_id: newId<CampaignId>(clock.now()) })
      .execute()
    clock.jump(120_000)
    for (const [hasUnread, state] of [
      [true, 'unknown'],
      [false, 'failed'],
    ] as const) {
      const settling = settlingAt(async () => ({ calls: [], hasUnread }))
      await settling.look()
      await settling.close()
      expect(await statesOfAll()).toEqual([state])
      clock.jump(60_000)
    }
  })

  it('wait together for a carrier that does not answer, not one after the other', async () => {
    let waiting = 0
    const settling = settlingAt((_account, _wanted, signal) => {
      waiting += 1
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new CarrierError('unknown', 'no answer')))
      })
    })
    clock.jump(110_000)
    const looking = settling.look()
    await until(() => waiting === 20, { what: 'the requests' })
    await clock.advance(5_000)
    await looking
    expect([await statesOfAll(), waiting]).toEqual([['failed'], 20])
    await settling.close()
  })

  it('are each asked for where the carrier answers, though one of its answers takes too long', async () => {
    let asked = 0
    const settling = settlingAt(async (_account, _wanted, signal) => {
      asked += 1
      if (asked === 1) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      signal?.throwIfAborted()
      return { calls: [], hasUnread: false }
    })
    clock.jump(110_000)
    const looking = settling.look()
    await until(() => asked === 20, { what: 'the requests' })
    await clock.advance(5_000)
    await looking
    expect([await statesOfAll(), asked]).toEqual([['failed'], DIALS + 2])
    await settling.close()
  })
})

describe('a call that was given up, and that the carrier has after all', () => {
  const log = { warn: () => {} }
  const tenants = { get: async () => acme }
  const giveUp = (code = 'not_confirmed') => settle('a', { type: 'failed', code, reason: null })
  const logOf = async (dialRef: string) =>
    (await test.db.selectFrom('dials').select('call_log_id').where('dial_ref', '=', dialRef).executeTakeFirstOrThrow())
      .call_log_id

  async function ended(callSid: string, report: { status: 'completed' | 'busy'; answeredBy: 'human' | null }) {
    const statuses = makeCallStatuses({ db: test.db, clock, nodeId: NODE, tenants, willEnd: () => false })
    const nothing = { durationSeconds: 9, errorCode: null, errorMessage: null }
    await statuses.record(ACME, callSid, { ...nothing, ...report, at: now() })
  }

  const answered = (callSid: string) => ended(callSid, { status: 'completed', answeredBy: 'human' })

  async function settleDispatches(known: typeof tenants = tenants): Promise<void> {
    const settling = makeSettlingDispatches({ db: test.db, clock, log, tenants: known })
    await settling.settle()
    await settling.close()
  }

  /** A task that the call of dial `a` dispatches, with so many attempts. */
  async function dispatched(attempts: number): Promise<CallbackTaskId> {
    const id = newId<CallbackTaskId>(clock.now())
    await sql`
      insert into callback_tasks (tenant_id, id, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                  dispatch_attempt_count, last_dispatch_attempted_at, created_at, updated_at)
      values ('acme', ${id}, '+12025550142', 'dispatching', 'normal', 'one', '{}', ${now()}, ${attempts}, ${now()}, ${now()},
              ${now()})`.execute(test.db)
    const dispatch = { call_log_id: await logOf('a'), task_id: id, attempted_at: now() }
    await test.db.transaction().execute((tx) => insertDispatch(tx, ACME, dispatch))
    return id
  }

  const taskOf = (id: CallbackTaskId) => findCallbackTask(test.db, ACME, id)

  it.each([
    [1, 'open'],
    [3, 'cancelled'],
  ])(
    'dispatches its task again, after %i attempts: nobody is called for it a second time',
    async (attempts, status) => {
      const id = await dispatched(attempts)
      await giveUp()
      await settleDispatches()
      expect(await taskOf(id)).toMatchObject({ status, disposition: 'failed' })
      await settle('a', told('CA1'))
      await settleDispatches()
      const again = { status: 'dispatching', disposition: null, last_dispatch_call_sid: 'CA1' }
      expect(await taskOf(id)).toMatchObject({ ...again, dispatch_attempt_count: attempts })
      await answered('CA1')
      await settleDispatches()
      expect(await taskOf(id)).toMatchObject({ status: 'completed', disposition: 'reached' })
    },
  )

  it('is an attempt again, where it was none while its carrier seemed not to have taken it', async () => {
    const id = await dispatched(3)
    await giveUp('carrier_busy')
    await settleDispatches()
    expect(await taskOf(id)).toMatchObject({ status: 'open', dispatch_attempt_count: 2 })
    await settle('a', told('CA1'))
    expect(await taskOf(id)).toMatchObject({ status: 'dispatching', dispatch_attempt_count: 3 })
  })

  it('is not over for whoever has seen it given up a moment before', async () => {
    const id = await dispatched(1)
    await giveUp()
    const meanwhile = async () => {
      await settle('a', told('CA1'))
      return acme
    }
    await settleDispatches({ get: meanwhile })
    expect(await taskOf(id)).toMatchObject({ status: 'dispatching' })
    await answered('CA1')
    await settleDispatches()
    expect(await taskOf(id)).toMatchObject({ status: 'completed', disposition: 'reached' })
  })

  it('leaves its task to who has done something with it since', async () => {
    const id = await dispatched(3)
    await giveUp()
    await settleDispatches()
    await clock.advance(1)
    const noted = { notes: 'Wrote a letter.', updated_at: now() }
    await test.db.updateTable('callback_tasks').set(noted).where('id', '=', id).execute()
    await settle('a', told('CA1'))
    await answered('CA1')
    await settleDispatches()
    expect(await taskOf(id)).toMatchObject({ status: 'cancelled', last_dispatch_status: 'completed' })
  })

  it.each([
    ['is', 1, 'open'],
    ['is', 3, 'cancelled'],
    ['is not', 1, 'dispatching'],
  ])(
    'completes its task by whom it has reached, which was dispatched again: that call %s over, after %i attempts',
    async (_is, attempts, status) => {
      const id = await dispatched(attempts)
      await giveUp()
      await settleDispatches()
      await clock.advance(1)
      const again = { status: 'dispatching' as const, last_dispatch_attempted_at: now(), updated_at: now() }
      await test.db.updateTable('callback_tasks').set(again).where('id', '=', id).execute()
      const dispatch = { call_log_id: await logOf('b'), task_id: id, attempted_at: now() }
      await test.db.transaction().execute((tx) => insertDispatch(tx, ACME, dispatch))
      const inVain = () => settle('b', { type: 'failed', code: 'not_confirmed', reason: null })
      if (status !== 'dispatching') await inVain()
      await settle('a', told('CA1'))
      await settleDispatches()
      expect(await taskOf(id)).toMatchObject({ status })
      await answered('CA1')
      await settleDispatches()
      if (status === 'dispatching') {
        expect(await taskOf(id)).toMatchObject({ status })
        await inVain()
        for (const _ of [1, 2]) await settleDispatches()
      }
      expect(await taskOf(id)).toMatchObject({ status: 'completed', disposition: 'reached' })
    },
  )

  /** A contact that the call of dial `a` calls. */
  async function contacted(attempts: number): Promise<{ campaignId: CampaignId; contactId: ContactId }> {
    const [campaignId, contactId] = [newId<CampaignId>(clock.now()), newId<ContactId>(clock.now())]
    const callLogId = await logOf('a')
    await sql`
      insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                             next_dial_at, created_at, updated_at)
      values ('acme', ${campaignId}, 'Autumn', 'desk', 'running', 1, 1, 2, '{30}', ${now()}, ${now()}, ${now()})`.execute(
      test.db,
    )
    await sql`
      insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at,
                                     last_call_log_id, created_at, updated_at)
      values ('acme', ${contactId}, ${campaignId}, 1, '+12025550142', '{}', 'dialing', ${attempts}, ${now()}, ${callLogId}, ${now()},
              ${now()})`.execute(test.db)
    const dial = { call_log_id: callLogId, campaign_id: campaignId, contact_id: contactId, leaves_message: false }
    await test.db.transaction().execute((tx) => insertCampaignDial(tx, ACME, { ...dial, attempted_at: now() }))
    return { campaignId, contactId }
  }

  const settlingCampaigns = () =>
    makeSettleCampaignDials({
      ...{ db: test.db, clock, log, isStopping: () => false },
      tenants: { get: async () => acme },
    })

  it.each([
    [1, 'pending'],
    [2, 'failed'],
  ])('is that of its contact again, after %i attempts, and counts among those that go on', async (attempts, status) => {
    const { campaignId, contactId } = await contacted(attempts)
    const settleAll = settlingCampaigns()
    const within = <T>(work: (tx: Tx) => Promise<T>) => test.db.transaction().execute(work)
    const contact = () => within((tx) => findContact(tx, ACME, contactId))
    const busy = () => within((tx) => countBusy(tx, ACME, campaignId, now()))
    await giveUp()
    await settleAll()
    expect([(await contact())?.status, Number(await busy())]).toEqual([status, 0])
    await settle('a', told('CA1'))
    await settleAll()
    expect([(await contact())?.status, Number(await busy())]).toEqual(['dialing', 1])
    await answered('CA1')
    await settleAll()
    expect(await contact()).toMatchObject({ status: 'completed', outcome: 'reached', attempts })
  })

  it.each([
    ['is', 'failed'],
    ['is not', 'dialing'],
  ])('tells its contact whom it has reached, who was called again: that call %s over', async (_is, status) => {
    const { campaignId, contactId } = await contacted(1)
    const settleAll = settlingCampaigns()
    const contact = () => test.db.transaction().execute((tx) => findContact(tx, ACME, contactId))
    await giveUp()
    await settleAll()
    const again = { status: 'dialing' as const, attempts: 2, last_call_log_id: await logOf('b') }
    await test.db.updateTable('campaign_contacts').set(again).where('id', '=', contactId).execute()
    const dial = { campaign_id: campaignId, contact_id: contactId, leaves_message: false, attempted_at: now() }
    const call_log_id = await logOf('b')
    await test.db.transaction().execute((tx) => insertCampaignDial(tx, ACME, { ...dial, call_log_id }))
    const inVain = () => settle('b', { type: 'failed', code: 'not_confirmed', reason: null })
    if (status === 'failed') await inVain()
    await settle('a', told('CA1'))
    await settleAll()
    expect((await contact())?.status).toBe(status)
    await answered('CA1')
    await settleAll()
    if (status === 'dialing') {
      expect((await contact())?.status).toBe(status)
      await inVain()
      for (const _ of [1, 2]) await settleAll()
    }
    expect(await contact()).toMatchObject({ status: 'completed', outcome: 'reached', attempts: 2 })
  })

  it('in vain, too, leaves nobody to be called for a campaign that is over since', async () => {
    const { contactId } = await contacted(1)
    const settleAll = settlingCampaigns()
    const contact = () => test.db.transaction().execute((tx) => findContact(tx, ACME, contactId))
    await giveUp('carrier_rejected')
    await settleAll()
    await settle('a', told('CA1'))
    expect(await contact()).toMatchObject({ status: 'dialing', attempts: 1 })
    await ended('CA1', { status: 'busy', answeredBy: null })
    await settleAll()
    expect(await contact()).toMatchObject({ status: 'failed', outcome: 'busy', attempts: 1 })
    const campaigns = test.db.selectFrom('campaigns').select('status')
    expect(await campaigns.execute()).toEqual([{ status: 'completed' }])
  })

  it('is an attempt of its contact again, where it was none', async () => {
    const { contactId } = await contacted(2)
    const contact = () => test.db.transaction().execute((tx) => findContact(tx, ACME, contactId))
    await giveUp('carrier_credentials')
    await settlingCampaigns()()
    expect(await contact()).toMatchObject({ status: 'pending', attempts: 1 })
    await settle('a', told('CA1'))
    expect(await contact()).toMatchObject({ status: 'dialing', attempts: 2 })
  })
})
