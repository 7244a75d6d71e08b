import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import { TENANT_KEY } from '../../kernel/actor.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { addTask } from '../../operators/add-callback-task.ts'
import { makeSettlingDispatches } from '../../operators/settle-dispatches.ts'
import { insertDispatch } from '../../operators/task-dispatch-store.ts'
import type { Db } from '../../platform/db/schema.ts'
import { countAll, countedRows, qaOf } from '../../records/analytics/analytics.fixture.ts'
import { makeCallAnalytics } from '../../records/analytics/call-analytics.ts'
import { someTurn, tenantTold } from '../../records/calls.fixture.ts'
import type { OneCall } from '../../records/ended-calls.ts'
import { turnEntry } from '../../records/journal-entry.ts'
import { writeEntries } from '../../records/journal-write.ts'
import { makeRecordingFiles, type RecordingFiles } from '../../records/recording-files.ts'
import { spentToday } from '../../records/spent-today.ts'
import { addOutcome, updateVoiceSession } from '../../records/voice-session-store.ts'
import { insertCampaignDial } from '../campaigns/campaign-dial-store.ts'
import { makeSettleCampaignDials } from '../campaigns/campaign-settle.ts'
import type { CampaignId } from '../campaigns/campaign-store.ts'
import { type ContactId, type ContactStatus, insertContacts } from '../campaigns/contact-store.ts'
import { callOf, DAY_MS, endCall, plantCall, quiet, SECRET } from './erase.fixture.ts'
import { eraseRoutes } from './erase-routes.ts'
import { makeEraseSession } from './erase-session.ts'
import { eraseSession } from './erase-store.ts'

const ACME = 'acme' as TenantId
const test = useDatabase({ isNew: true })
let clock: TestClock
let folder: string
let files: RecordingFiles
const server = useTenantServer(
  () => test.db,
  () => [eraseRoutes((...given) => eraser()(...given))],
)

beforeEach(async () => {
  clock = new TestClock()
  folder = await mkdtemp(join(tmpdir(), 'erased-'))
  files = makeRecordingFiles(folder)
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

const eraser = () => makeEraseSession({ db: test.db, clock, log: quiet, files })
const kept = () => ({ db: test.db, clock, files })
const wholeCall = (callSid: string, tenant = 'acme') => plantCall(kept(), callSid, tenant)
const over = (callSid: string) => endCall(kept(), callSid)

/** The call is one of a campaign. */
async function contactOf(callSid: string, status: ContactStatus): Promise<void> {
  const now = new Date(clock.now())
  const [campaign, contact] = [newId<CampaignId>(clock.now()), newId<ContactId>(clock.now())]
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    values ('acme', ${campaign}, 'May', 'desk', 'running', 1, 1, 3, '{30}', ${now}, ${now}, ${now})`.execute(test.db)
  const contacts = [{ id: contact, position: 1, phone: '+12025550101' as PhoneNumber, metadata: { lost: SECRET } }]
  await test.db.transaction().execute(async (tx) => {
    await insertContacts(tx, ACME, { campaignId: campaign, contacts, now })
    await tx.updateTable('campaign_contacts').set({ status }).execute()
    const { id } = await tx
      .selectFrom('call_logs')
      .select('id')
      .where('call_sid', '=', callSid)
      .executeTakeFirstOrThrow()
    const dial = { call_log_id: id, campaign_id: campaign, contact_id: contact }
    await insertCampaignDial(tx, ACME, { ...dial, leaves_message: false, attempted_at: now })
  })
}

/** The call is the one by which the task of it is dispatched. */
async function dispatchedBy(callSid: string): Promise<void> {
  const now = new Date(clock.now())
  const begun = { status: 'dispatching' as const, dispatch_attempt_count: 1, last_dispatch_attempted_at: now }
  await test.db.transaction().execute(async (tx) => {
    const task = await tx.updateTable('callback_tasks').set(begun).returning('id').executeTakeFirstOrThrow()
    const { id } = await tx
      .selectFrom('call_logs')
      .select('id')
      .where('call_sid', '=', callSid)
      .executeTakeFirstOrThrow()
    await insertDispatch(tx, ACME, { call_log_id: id, task_id: task.id, attempted_at: now })
  })
}

/** All that the database holds, as text, of the tables of a tenant. */
async function everything(): Promise<string> {
  const tables = [
    ...(['voice_sessions', 'transcript_turns', 'function_calls', 'recordings', 'call_logs', 'callback_tasks'] as const),
    ...(['callback_task_changes', 'supervisor_actions', 'webhook_outbox', 'audit_log', 'billing_outbox'] as const),
  ]
  const rows = await Promise.all(tables.map((table) => test.db.selectFrom(table).selectAll().execute()))
  return JSON.stringify(rows)
}

const filesLeft = async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.wav'))

describe('DELETE voice-sessions/:id', () => {
  it('erases all that was said, and says how much that was', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    expect(await everything()).toContain(SECRET)
    const { status, body } = await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        receipt: {
          ...{ voice_session_id: id, call_sid: 'CA1', erased_at: new Date(clock.now()).toISOString() },
          ...{ transcript_turns: 1, function_calls: 1, recording_parts: 1, callback_tasks: 1, supervisor_actions: 1 },
          deliveries: expect.any(Number),
        },
      },
    ])
    expect(await everything()).not.toContain(SECRET)
    expect(await filesLeft()).toEqual([])
    const [task] = await test.db.selectFrom('callback_tasks').selectAll().execute()
    expect(task).toMatchObject({
      status: 'open',
      summary: null,
      metadata: { consent: true, external_ticket: { id: '7' } },
    })
    const [log] = await test.db.selectFrom('call_logs').selectAll().execute()
    expect(log).toMatchObject({ call_sid: 'CA1', from: '+12025550101', status: 'completed', voice_session_id: null })
    expect(await test.db.selectFrom('webhook_outbox').selectAll().execute()).toEqual([])
  })

  it('erases tasks that name a stream of the call alone, and what was to be told of them', async () => {
    const id = await wholeCall('CA1')
    for (const stream_sid of ['MZCA1', 'MZ9']) {
      const fields = {
        ...{ stream_sid, call_sid: null, agent_name: null, customer_phone: '+12025550101' as PhoneNumber },
        ...{ queue_key: 'default', priority: 'normal' as const, summary: SECRET, notes: SECRET, metadata: {} },
        ...{ created_by: 'api', due_at: null, sla_due_at: null },
      }
      const now = new Date(clock.now())
      await test.db.transaction().execute((tx) => addTask(tx, tenantTold('acme'), { fields, subject: null }, now))
    }
    await over('CA1')
    const { body } = await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect(body).toMatchObject({ receipt: { callback_tasks: 2 } })
    const tasks = await test.db.selectFrom('callback_tasks').select(['stream_sid', 'summary']).execute()
    expect(tasks.filter(({ summary }) => summary !== null)).toEqual([{ stream_sid: 'MZ9', summary: SECRET }])
    const events = await test.db.selectFrom('webhook_outbox').select('body').execute()
    expect(events).toMatchObject([{ body: { payload: { task: { stream_sid: 'MZ9' } } } }])
  })

  it('is taken for no reason to think that somebody was reached, whom no agent could talk to', async () => {
    const tenants = { get: async () => tenantTold('acme') }
    const campaigns = makeSettleCampaignDials({
      ...{ db: test.db, clock, log: quiet, tenants },
      isStopping: () => false,
    })
    const dispatches = makeSettlingDispatches({ db: test.db, clock, log: quiet, tenants })
    const noteEndOf = async (call: OneCall) => {
      await campaigns.ofCall(call)
      await dispatches.settleCall(call)
    }
    const id = await wholeCall('CA1')
    await contactOf('CA1', 'dialing')
    await sql`update campaign_contacts set last_call_log_id = (select id from call_logs)`.execute(test.db)
    await dispatchedBy('CA1')
    await over('CA1')
    await test.db.deleteFrom('transcript_turns').execute()
    await test.db.updateTable('voice_sessions').set({ end_reason: 'model_lost' }).execute()
    await makeEraseSession({ db: test.db, clock, log: quiet, files, noteEndOf })(ACME, id, { by: TENANT_KEY })
    for (const settle of [campaigns, dispatches.settle]) await settle()
    await dispatches.close()
    const [contact] = await test.db.selectFrom('campaign_contacts').select(['status', 'outcome']).execute()
    expect(contact).toEqual({ status: 'pending', outcome: 'failed' })
    const task = await test.db.selectFrom('callback_tasks').selectAll().where('summary', 'is', null).executeTakeFirst()
    expect(task).toMatchObject({ status: 'open', disposition: 'failed', last_dispatch_call_sid: 'CA1' })
  })

  it('erases the greeting of a call that was only found', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    await sql`
      insert into dials (dial_ref, tenant_id, call_log_id, call_sid, state, greeting, created_at, due_at)
      select 'ref', tenant_id, id, null, 'adopted', ${SECRET}, created_at, created_at from call_logs`.execute(test.db)
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect(await test.db.selectFrom('dials').select(['call_sid', 'greeting']).execute()).toEqual([
      { call_sid: null, greeting: null },
    ])
  })

  it.each([
    ['as it was at the end', { cost_usd: 4 }],
    ['as its turns have it, where it was lost with its process', { end_reason: 'process_lost' as const }],
  ])('gives nothing of its cost back to the budget of the day: %s', async (_what, facts) => {
    const id = await wholeCall('CA1')
    const turn = turnEntry(callOf('acme', 'CA1', id), someTurn(3, { costUsd: 4 }))
    await test.db.transaction().execute((tx) => writeEntries(tx, [turn], { now: new Date(clock.now()) }))
    await over('CA1')
    await test.db.updateTable('voice_sessions').set(facts).execute()
    const acme = tenantTold('acme')
    const bounded = { ...acme, limits: { ...acme.limits, budget_per_day: 10 } }
    const spent = async () => (await spentToday(test.db, bounded, { now: new Date(clock.now()) }))?.usd
    expect(await spent()).toBe(4)
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect(await spent()).toBe(4)
    await clock.advance(DAY_MS)
    expect(await spent()).toBe(0)
  })

  it('reads nothing of other calls, however many there are', async () => {
    const id = await wholeCall('CA1')
    await sql`
      insert into supervisor_actions (tenant_id, id, stream_sid, call_sid, action, reason, metadata, created_at)
      select 'acme', gen_random_uuid(), 'MZB' || n, 'CB' || n, 'note', repeat('x', 100), '{}', timestamptz '2030-01-01'
        from generate_series(1, 3000) n`.execute(test.db)
    await sql`
      insert into callback_tasks (tenant_id, id, stream_sid, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                  dispatch_attempt_count, created_at, updated_at)
      select 'acme', gen_random_uuid(), stream_sid, '+12025550101', 'open', 'normal', 'one', '{}', created_at, 0, created_at, created_at
        from supervisor_actions`.execute(test.db)
    await sql`
      insert into webhook_outbox
      select (json_populate_record(told, json_build_object('id', gen_random_uuid(), 'call_sid', 'CB' || n, 'body',
               jsonb_set(jsonb_set(body::jsonb, '{payload,task,id}', to_jsonb(gen_random_uuid()::text)), '{payload,task,call_sid}',
                         to_jsonb('CB' || n))))).*
        from webhook_outbox told, generate_series(1, 1000) n where event = 'callback.task.created'`.execute(test.db)
    await sql`vacuum analyze`.execute(test.db)
    const session = { id, callSid: 'CA1' }
    const erase = (db: Db) => db.transaction().execute((tx) => eraseSession(tx, ACME, session))
    for (const { blocks } of await plansOf(test.db, erase)) expect(blocks).toBeLessThan(60)
  })

  it('takes what was said out of what was counted: the outcome at once, its score when it is counted again', async () => {
    const id = await wholeCall('CA1')
    await addOutcome(test.db, ACME, id, { tags: [], outcome: SECRET, notes: null })
    await over('CA1')
    await test.db.transaction().execute((tx) => updateVoiceSession(tx, ACME, id, { qa: qaOf(0.9) }))
    await countAll(test.db)
    expect(String(await countedRows(test.db))).toContain(SECRET)
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect(String(await countedRows(test.db))).not.toContain(SECRET)
    await countAll(test.db)
    await clock.advance(1)
    const ask = { interval: 'day', since: null, until: null, timeZone: null, groupBy: null } as const
    const tenants = { get: async () => tenantTold('acme') }
    const { totals } = await makeCallAnalytics({ db: test.db, clock, tenants }).ofTenant(ACME, ask)
    expect(totals).toMatchObject({ calls: 1, answered: 1, scored: 0, outcomes: [] })
  })

  it.each([
    ['at once where it is called no more', 'completed', {}],
    ['once it is called no more', 'pending', { lost: SECRET }],
    ['once that is known of the call itself', 'dialing', { lost: SECRET }],
  ] as const)('takes what a campaign knows of its contact %s', async (_when, status, kept) => {
    const id = await wholeCall('CA1')
    await over('CA1')
    await contactOf('CA1', status)
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    const metadata = async () => {
      const [contact] = await test.db.selectFrom('campaign_contacts').select('metadata').execute()
      return contact?.metadata
    }
    expect(await metadata()).toEqual(kept)
    await test.db.updateTable('campaign_contacts').set({ status: 'failed' }).execute()
    expect(await metadata()).toEqual({})
  })

  it('is written down without what was said', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    const [entry] = await test.db.selectFrom('audit_log').selectAll().execute()
    expect(entry).toMatchObject({
      ...{ action: 'voice_session.erased', tenant_id: 'acme', target_id: id, actor_kind: 'key' },
      before: { call_sid: 'CA1', transcriptTurns: 1 },
    })
  })

  it('leaves what is late nowhere to go', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    const late = turnEntry(callOf('acme', 'CA1', id), someTurn(2, { text: SECRET }))
    const writing = { now: new Date(clock.now()), isLate: () => true }
    await test.db.transaction().execute((tx) => writeEntries(tx, [late], writing))
    expect(await everything()).not.toContain(SECRET)
  })

  it('answers 409 while the call is live, and touches nothing', async () => {
    const id = await wholeCall('CA1')
    const { status, body } = await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    expect([status, body]).toMatchObject([409, { code: 'conflict' }])
    expect(await filesLeft()).toHaveLength(1)
  })

  it('answers 404 the second time, and to what there is not', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    const answers = [
      await server.call('acme', 'DELETE', `/voice-sessions/${id}`),
      await server.call('acme', 'DELETE', `/voice-sessions/${id}`),
      await server.call('acme', 'DELETE', '/voice-sessions/none'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404])
  })

  it("answers 404 to another tenant's session, and leaves it as it is", async () => {
    const id = await wholeCall('CA1', 'globex')
    await over('CA1')
    expect((await server.call('acme', 'DELETE', `/voice-sessions/${id}`)).status).toBe(404)
    expect(await test.db.selectFrom('transcript_turns').selectAll().execute()).toHaveLength(1)
  })

  it('answers 401 to nobody, and 400 to what is no id by any measure', async () => {
    const id = await wholeCall('CA1')
    expect((await server.call(null, 'DELETE', `/voice-sessions/${id}`)).status).toBe(401)
    expect((await server.call('acme', 'DELETE', `/voice-sessions/${'x'.repeat(201)}`)).status).toBe(400)
  })

  it('of several at once is done once', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    const answers = await Promise.all([1, 2, 3].map(() => server.call('acme', 'DELETE', `/voice-sessions/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  })
})
