import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { addTask } from '../../operators/add-callback-task.ts'
import { makeCallbackTasks } from '../../operators/callback-tasks.ts'
import type { Db } from '../../platform/db/schema.ts'
import { countAll, countedRows, qaOf } from '../../records/analytics/analytics.fixture.ts'
import { makeCallAnalytics } from '../../records/analytics/call-analytics.ts'
import type { SessionId } from '../../records/call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from '../../records/calls.fixture.ts'
import { toolEntry, turnEntry } from '../../records/journal-entry.ts'
import { writeEntries } from '../../records/journal-write.ts'
import { makeRecordingFiles, pathOfPart, type RecordingFiles } from '../../records/recording-files.ts'
import { makeRecordings } from '../../records/recordings.ts'
import { makeSessions } from '../../records/sessions.ts'
import { spentToday } from '../../records/spent-today.ts'
import { addOutcome, updateVoiceSession } from '../../records/voice-session-store.ts'
import { markDeleted } from '../../tenancy/tenant-store.ts'
import { insertCampaignDial } from '../campaigns/campaign-dial-store.ts'
import type { CampaignId } from '../campaigns/campaign-store.ts'
import { type ContactId, type ContactStatus, insertContacts } from '../campaigns/contact-store.ts'
import { eraseRoutes } from './erase-routes.ts'
import { makeEraseSession } from './erase-session.ts'
import { eraseSession } from './erase-store.ts'
import { makeErasingTenants } from './erasing-tenants.ts'
import { makeRetention } from './retention.ts'

const SECRET = 'the blue suitcase'
const ACME = 'acme' as TenantId
const DAY_MS = 86_400_000
const test = useDatabase()
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

const quiet = { warn: () => {}, info: () => {}, error: () => {} }
const eraser = () => makeEraseSession({ db: test.db, clock, log: quiet, files })
const retention = (of: Pick<RecordingFiles, 'remove'> = files) =>
  makeRetention({ db: test.db, clock, log: quiet, erase: eraser(), files: of, isStopping: () => false })

function callOf(tenant: string, callSid: string, sessionId: SessionId) {
  return { tenant: tenantTold(tenant), callSid, sessionId, epoch: 1 }
}

/** A call in which everything that can be noted was noted, with the same words. */
async function wholeCall(callSid: string, tenant = 'acme'): Promise<SessionId> {
  const { db } = test
  const runtime = tenantTold(tenant)
  const sessions = makeSessions({ db, clock, nodeId: NODE })
  const { sessionId } = await sessions.open(runtime, someCall(callSid, { metadata: { lost: SECRET } }))
  await sessions.started(runtime, { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null })
  const call = callOf(tenant, callSid, sessionId)
  const tool = { callId: 'c1', seq: 1, name: 'find', argumentsText: SECRET, result: SECRET, status: 'ok' as const }
  const entries = [
    turnEntry(call, someTurn(1, { text: SECRET })),
    toolEntry(call, { ...tool, startMs: 1, durationMs: 1 }),
  ]
  await db.transaction().execute((tx) => writeEntries(tx, entries, { now: new Date(clock.now()) }))
  await record(tenant, callSid, sessionId)
  await makeCallbackTasks({ db, clock }).schedule(
    runtime,
    {
      ...{ customerPhone: '+12025550101' as never, priority: 'normal', summary: SECRET, notes: SECRET, dueAt: null },
      ...{ createdBy: 'Robin', metadata: { lost: SECRET, consent: true, external_ticket: { id: '7' } } },
      call: { callSid, sessionId, streamSid: `MZ${callSid}`, agentName: 'Robin' },
    },
    new AbortController().signal,
  )
  await db
    .insertInto('supervisor_actions')
    .values({
      ...{
        tenant_id: tenant as TenantId,
        id: newId<string>(clock.now()),
        stream_sid: `MZ${callSid}`,
        call_sid: callSid,
      },
      ...{
        action: 'note',
        supervisor: 'Ada',
        target: null,
        reason: SECRET,
        note: SECRET,
        metadata: `{"a":"${SECRET}"}`,
      },
      created_at: new Date(clock.now()),
    })
    .execute()
  return sessionId
}

async function record(tenant: string, callSid: string, sessionId: SessionId): Promise<void> {
  const parts = { db: test.db, clock, log: quiet, files, tenants: { get: async () => null } }
  const recordings = makeRecordings({ ...parts, nodeId: NODE })
  const part = { tenant: tenantTold(tenant), callSid, sessionId, part: 1, startedAt: new Date(clock.now()) }
  await recordings.begin(part)
  const file = await files.create(pathOfPart(tenant as TenantId, sessionId, 1))
  await file.appendFile(SECRET)
  await file.close()
  await recordings.end(part, 1)
}

async function over(callSid: string): Promise<void> {
  const ended_at = new Date(clock.now())
  const summary = SECRET
  await test.db
    .updateTable('call_logs')
    .set({ status: 'completed', ended_at, summary })
    .where('call_sid', '=', callSid)
    .execute()
  const session = { call_status: 'completed' as const, ended_at, end_reason: 'caller_hangup' as const }
  await test.db.updateTable('voice_sessions').set(session).where('call_sid', '=', callSid).execute()
}

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

  it('reads nothing of other calls, however many there are', { timeout: 60_000 }, async () => {
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

async function keepFor(tenant: string, days: number): Promise<void> {
  const document = JSON.stringify({ tenant_id: tenant, compliance: { retention_days: days } })
  await test.db
    .updateTable('tenants')
    .set({ document })
    .where('tenant_id', '=', tenant as TenantId)
    .execute()
}

describe('the age of a session', () => {
  it('is bounded where the tenant says so, and only what is over goes', async () => {
    await keepFor('acme', 30)
    await wholeCall('CA1')
    await over('CA1')
    await wholeCall('CA2')
    await wholeCall('CA9', 'globex')
    await over('CA9')
    await clock.advance(20 * DAY_MS)
    await wholeCall('CA3')
    await over('CA3')
    expect(await retention().eraseOld()).toBe(0)
    await clock.advance(10 * DAY_MS + 1)
    expect(await retention().eraseOld()).toBe(1)
    expect(await retention().eraseOld()).toBe(0)
    const left = await test.db.selectFrom('voice_sessions').select('call_sid').orderBy('call_sid').execute()
    expect(left.map(({ call_sid }) => call_sid)).toEqual(['CA2', 'CA3', 'CA9'])
    expect(await test.db.selectFrom('audit_log').selectAll().execute()).toEqual([])
  })

  it('counts for every session, whatever is wrong with an older one', async () => {
    await keepFor('acme', 30)
    for (const callSid of ['CA1', 'CA2']) {
      await wholeCall(callSid)
      await over(callSid)
    }
    await test.db.deleteFrom('call_logs').where('call_sid', '=', 'CA1').execute()
    await clock.advance(31 * DAY_MS)
    expect(await retention().eraseOld()).toBe(1)
    const left = await test.db.selectFrom('voice_sessions').select('call_sid').execute()
    expect(left).toEqual([{ call_sid: 'CA1' }])
  })

  it('is kept to in one run, however many are older, and however many of those cannot be erased', {
    timeout: 60_000,
  }, async () => {
    await keepFor('acme', 30)
    await wholeCall('CA1')
    await over('CA1')
    for (const table of ['call_logs', 'voice_sessions'])
      await sql`
        insert into ${sql.table(table)}
        select (json_populate_record(one, json_build_object('id', gen_random_uuid(), 'call_sid', 'CB' || n))).*
          from ${sql.table(table)} one, generate_series(1, 120) n`.execute(test.db)
    await clock.advance(31 * DAY_MS)
    const erase = eraser()
    const stuck = new Set<string>()
    const erasing = makeRetention({
      ...{ db: test.db, clock, log: quiet, files, isStopping: () => false },
      erase: async (tenantId, id, why) => {
        if (stuck.size === 60 || stuck.has(id)) return erase(tenantId, id, why)
        stuck.add(id)
        throw new Error('something is wrong with it')
      },
    })
    expect(await erasing.eraseOld()).toBe(61)
    expect(await erasing.eraseOld()).toBe(60)
    expect(await test.db.selectFrom('voice_sessions').selectAll().execute()).toEqual([])
  })

  it('ends on all nodes: what another one has on its disk goes when it looks', async () => {
    const id = await wholeCall('CA1')
    await over('CA1')
    const elsewhere = makeRecordingFiles(await mkdtemp(join(tmpdir(), 'erased-')))
    const path = pathOfPart('acme' as TenantId, id, 2)
    await (await elsewhere.create(path)).close()
    await server.call('acme', 'DELETE', `/voice-sessions/${id}`)
    const other = retention(elsewhere)
    await other.removeAudio()
    expect(await elsewhere.stateOf(path)).toBeNull()
    await clock.advance(91 * DAY_MS)
    await other.removeAudio()
    expect(await test.db.selectFrom('erased_recordings').selectAll().execute()).toEqual([])
  })

  it('ends for all files, however many sessions were erased at once', { timeout: 60_000 }, async () => {
    const erased = 100_500
    await sql`
      insert into erased_recordings select 'acme', gen_random_uuid(), ${new Date(clock.now())}::timestamptz
        from generate_series(1, ${erased}::integer)`.execute(test.db)
    const removed: string[] = []
    const node = retention({ remove: async (_tenantId, id) => void removed.push(id) })
    for (const files of [100_000, erased]) {
      await node.removeAudio()
      expect(new Set(removed).size).toBe(files)
    }
    // Whatever was still being written then is looked for once more, an hour later, and then no more.
    for (const times of [2, 2]) {
      await clock.advance(3_600_001)
      for (const _run of [1, 2]) await node.removeAudio()
      expect(removed.length).toBe(times * erased)
    }
  })

  it('goes on past what cannot be removed, and on all nodes for a tenant that is deleted', async () => {
    const [first, second] = [await wholeCall('CA1'), await wholeCall('CA2')]
    for (const callSid of ['CA1', 'CA2']) await over(callSid)
    await test.db.transaction().execute((tx) => markDeleted(tx, 'acme' as TenantId, new Date(clock.now())))
    await makeErasingTenants({ db: test.db, clock, log: quiet, isStopping: () => false }).goOn('acme' as TenantId)
    const tried: string[] = []
    const remove = async (_tenantId: TenantId, id: string) => {
      tried.push(id)
      if (tried.length === 1) throw new Error('busy')
    }
    await retention({ remove }).removeAudio()
    expect(tried.toSorted()).toEqual([first, second].toSorted())
  })
})

describe('what was delivered', () => {
  it('is deleted thirty days later, and what was not stays', async () => {
    await wholeCall('CA1')
    const rows = await test.db.selectFrom('webhook_outbox').select('id').orderBy('id').execute()
    const [delivered, failed] = [rows[0]?.id ?? '', rows[1]?.id ?? '']
    const at = new Date(clock.now())
    await test.db
      .updateTable('webhook_outbox')
      .set({ status: 'delivered', delivered_at: at })
      .where('id', '=', delivered)
      .execute()
    await test.db.updateTable('webhook_outbox').set({ status: 'failed' }).where('id', '=', failed).execute()
    await clock.advance(30 * DAY_MS)
    await retention().purgeDelivered()
    expect(await test.db.selectFrom('webhook_outbox').selectAll().execute()).toHaveLength(rows.length)
    await clock.advance(1)
    await retention().purgeDelivered()
    const left = await test.db.selectFrom('webhook_outbox').select('id').execute()
    expect(left.map(({ id }) => id)).not.toContain(delivered)
    expect(left).toHaveLength(rows.length - 1)
  })
})
