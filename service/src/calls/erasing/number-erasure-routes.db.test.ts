import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { filesWith, rowsWith } from '../../../test/harness/everything.ts'
import { someUuid } from '../../../test/harness/matchers.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeSealer } from '../../kernel/seal.ts'
import { NODE, someCall, storedEvents, tenantTold } from '../../records/calls.fixture.ts'
import { makeRecordingFiles, type RecordingFiles } from '../../records/recording-files.ts'
import { makeSessions } from '../../records/sessions.ts'
import { makeNumberErasures } from './erase-number.ts'
import { makeEraseSession } from './erase-session.ts'
import { makeErasingNumber } from './erasing-number.ts'
import { MENTION_TABLES } from './mention-store.ts'
import { OTHER, over, PHONE, plantNumber, TRACES, type World } from './number-erasure.fixture.ts'
import { numberErasureRoutes } from './number-erasure-routes.ts'
import { claimErasureAcrossTenants } from './number-erasure-store.ts'

const test = useDatabase()
const sealer = makeSealer(Buffer.alloc(32, 7))
const quiet = { warn: () => {}, info: () => {}, error: () => {} }
let clock: TestClock
let folder: string
let files: RecordingFiles

const worker = (isStopping = () => false) => {
  const given = { db: test.db, clock, log: quiet, tenants: { get: async (id: TenantId) => tenantTold(id) } }
  return makeErasingNumber({ ...given, sealer, erase: makeEraseSession({ ...given, files }), isStopping })
}
const erasures = (isStopping?: () => boolean) =>
  makeNumberErasures({ db: test.db, clock, sealer, erasing: worker(isStopping) })

const server = useTenantServer(
  () => test.db,
  () => [
    numberErasureRoutes({
      request: (...given) => erasures().request(...given),
      list: (...given) => erasures().list(...given),
      get: (...given) => erasures().get(...given),
    }),
  ],
)

type Erasure = { id: string; status: string; counts: Record<string, number> } & Record<string, unknown>
type Answer = { erasure: Erasure; erasures: Erasure[]; code: string }
const ask = (tenant: string | null = 'acme', phone: unknown = PHONE) =>
  server.call<Answer>(tenant, 'POST', '/erasures', { phone })
const world = (tenant = 'acme'): World => ({ db: test.db, clock, files, tenant })

const COUNTS = {
  ...{ voice_sessions: 1, transcript_turns: 1, function_calls: 1, recording_parts: 1, call_logs: 1, callback_tasks: 1 },
  ...{ campaign_contacts: 1, supervisor_actions: 1, idempotency_keys: 2 },
}

beforeEach(async () => {
  clock = new TestClock()
  folder = await mkdtemp(join(tmpdir(), 'erased-'))
  files = makeRecordingFiles(folder)
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

async function planted(tenant = 'acme'): Promise<void> {
  const callSids = { own: `CA-own-${tenant}`, other: `CA-other-${tenant}` }
  await plantNumber(world(tenant), callSids)
  for (const callSid of Object.values(callSids)) await over(world(tenant), callSid)
}

/** Rows of the tenant with the number in them, on the do-not-call list and elsewhere. */
async function traces(tenant = 'acme'): Promise<string[]> {
  return (await rowsWith(test.db, TRACES)).filter((row) => row.includes(tenant))
}

async function listed(): Promise<void> {
  await sql`insert into do_not_call (tenant_id, id, phone, created_at)
            values ('acme', gen_random_uuid(), ${PHONE}, now())`.execute(test.db)
}

describe('POST erasures', () => {
  it('leaves the number nowhere but on the do-not-call list, and says how much that was', async () => {
    await planted()
    await listed()
    expect((await traces()).length).toBeGreaterThan(20)
    const { status, body } = await ask()
    expect([status, body.erasure]).toEqual([
      200,
      {
        ...{
          id: someUuid,
          status: 'completed',
          phone: '+*******0142',
          phone_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        ...{ requested_by: 'API key', created_at: new Date(clock.now()).toISOString() },
        completed_at: new Date(clock.now()).toISOString(),
        counts: { ...COUNTS, deliveries: expect.any(Number), mentions: expect.any(Number) },
      },
    ])
    expect(body.erasure.counts['deliveries']).toBeGreaterThan(0)
    expect(body.erasure.counts['mentions']).toBeGreaterThan(MENTION_TABLES.length - 1)
    expect((await traces()).map((row) => row.split(':')[0])).toEqual(['do_not_call'])
    // The words of others' calls stay, without the number.
    expect(await rowsWith(test.db, ['Reach them at [erased], [erased]'])).not.toEqual([])
    expect((await filesWith(folder, TRACES)).filter((path) => path.includes('acme')).length).toBe(1)
  })

  it("leaves another tenant's rows with the same number as they are", async () => {
    await planted()
    await planted('globex')
    const before = (await traces('globex')).sort()
    await ask()
    expect((await traces('globex')).sort()).toEqual(before)
    expect(await traces('acme')).toEqual([])
  })

  it('keeps what the call came to, and what others have', async () => {
    await planted()
    await ask()
    const logs = await test.db.selectFrom('call_logs').select(['call_sid', 'from', 'to', 'status']).execute()
    expect(logs.sort((a, b) => String(a.call_sid).localeCompare(String(b.call_sid)))).toEqual([
      { call_sid: 'CA-other-acme', from: OTHER, to: '+12025550199', status: 'completed' },
      { call_sid: 'CA-own-acme', from: '[erased]', to: '+12025550199', status: 'completed' },
    ])
    const left = await Promise.all(
      (
        [
          ...(['voice_sessions', 'transcript_turns', 'callback_tasks', 'campaign_contacts'] as const),
          ...(['idempotency_keys', 'callback_task_keys'] as const),
        ] as const
      ).map(async (table) => (await test.db.selectFrom(table).selectAll().execute()).length),
    )
    expect(left).toEqual([1, 1, 1, 1, 1, 1])
  })

  it.each(['running', 'paused', 'paused_by_breaker'])(
    'is the end of a campaign that is %s with nobody else left, of which its tenant is told once',
    async (status) => {
      await planted()
      await sql`update campaigns set status = ${status} where tenant_id = 'acme'`.execute(test.db)
      await sql`update campaign_contacts set status = 'completed' where phone = ${OTHER}`.execute(test.db)
      await test.db.deleteFrom('webhook_outbox').execute()
      await ask()
      await ask()
      const campaigns = await test.db.selectFrom('campaigns').select(['status', 'completed_at']).execute()
      expect(campaigns).toEqual([{ status: 'completed', completed_at: new Date(clock.now()) }])
      const told = (await storedEvents(test.db)).filter(({ event }) => event === 'campaign.completed')
      expect(told).toHaveLength(1)
    },
  )

  it('is the end of no campaign that calls others yet, or was never begun', async () => {
    await planted()
    for (const [status, contact] of [
      ['paused', 'pending'],
      ['draft', 'completed'],
    ]) {
      await sql`update campaigns set status = ${status}`.execute(test.db)
      await sql`update campaign_contacts set status = ${contact} where phone = ${OTHER}`.execute(test.db)
      await ask()
      expect(await test.db.selectFrom('campaigns').select('status').execute()).toEqual([{ status }])
    }
  })

  it('is written down in the audit log, by whom and without the number', async () => {
    await planted()
    const { body } = await ask()
    const entries = await test.db.selectFrom('audit_log').selectAll().where('action', 'like', 'number_%').execute()
    expect(entries.map(({ action }) => action).sort()).toEqual(['number_erasure.completed', 'number_erasure.requested'])
    expect(entries).toContainEqual(
      expect.objectContaining({
        ...{ action: 'number_erasure.completed', target_id: body.erasure.id, actor: 'API key', tenant_id: 'acme' },
        before: { phone: '+*******0142', counts: expect.objectContaining({ voice_sessions: 1 }) },
      }),
    )
  })

  it('of a number of which nothing is kept has a receipt, too', async () => {
    const { status, body } = await ask()
    expect([status, body.erasure.status, Object.values(body.erasure.counts).every((count) => count === 0)]).toEqual([
      200,
      'completed',
      true,
    ])
  })

  it('answers 409 while a call of the number is live, and touches nothing', async () => {
    await plantNumber(world(), { own: 'CA1', other: 'CA2' })
    const before = await traces()
    expect(await ask()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await traces()).toEqual(before)
  })

  it('refuses what is no number, a number of the tenant, and whoever shows no credential', async () => {
    await sql`insert into phone_numbers (phone_number, tenant_id, by_document, by_route)
              values ('+12025550199', 'acme', false, true)`.execute(test.db)
    const answers = [
      await ask('acme', '555'),
      await server.call('acme', 'POST', '/erasures', {}),
      await ask('acme', '+12025550199'),
      await ask(null),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 401])
  })
})

describe('a number that is written otherwise', () => {
  it.each([
    '12025550142',
    '0012025550142',
    '(202) 555-0142',
    ' 1 202 555 0142',
    'tel:+1-202-555-0142',
    'sip:+12025550142@pbx.test',
  ])('by the carrier of its call is found: %s', async (spelling) => {
    await planted()
    for (const table of ['call_logs', 'voice_sessions'])
      await sql`update ${sql.table(table)} set "from" = ${spelling} where "from" = ${PHONE}`.execute(test.db)
    const { body } = await ask()
    expect(body.erasure.counts).toMatchObject(COUNTS)
    expect(await traces()).toEqual([])
  })

  it.each([
    ['+442079460000', '+4402079460000'],
    ['+12025550142', '+112025550142'],
    ['+79123456789', '+789123456789'],
    ['+3649154751', '+360649154751'],
  ])('by a prefix of its country is found, in calls, tasks and contacts: %s as %s', async (phone, kept) => {
    await planted()
    for (const table of ['call_logs', 'voice_sessions'])
      await sql`update ${sql.table(table)} set "from" = ${kept} where "from" = ${PHONE}`.execute(test.db)
    await sql`update callback_tasks set customer_phone = ${kept} where customer_phone = ${PHONE}`.execute(test.db)
    await sql`update campaign_contacts set phone = ${kept} where phone = ${PHONE}`.execute(test.db)
    const { body } = await ask('acme', phone)
    expect(body.erasure.counts).toMatchObject(COUNTS)
    expect(await rowsWith(test.db, [kept])).toEqual([])
  })

  it('is not that of another country whose number begins as it is written at home', async () => {
    await planted()
    const [own, other] = ['+13232345678', '+3232345678']
    for (const table of ['call_logs', 'voice_sessions']) {
      await sql`update ${sql.table(table)} set "from" = ${own} where "from" = ${PHONE}`.execute(test.db)
      await sql`update ${sql.table(table)} set "from" = ${other} where "from" = ${OTHER}`.execute(test.db)
    }
    expect((await ask('acme', own)).body.erasure.counts).toMatchObject({ voice_sessions: 1, call_logs: 1 })
    const { rows } = await sql<{ from: string }>`
      select "from" from call_logs where tenant_id = 'acme' order by "from"`.execute(test.db)
    expect(rows.map(({ from }) => from).sort()).toEqual([other, '[erased]'])
  })

  it('keeps the request waiting while its call is live', async () => {
    await plantNumber(world(), { own: 'CA1', other: 'CA2' })
    await sql`update call_logs set "from" = 'sip:+12025550142@pbx.test' where "from" = ${PHONE}`.execute(test.db)
    await sql`update voice_sessions set "from" = 'sip:+12025550142@pbx.test' where "from" = ${PHONE}`.execute(test.db)
    expect(await ask()).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })

  it('over two lines of a text that is kept as JSON is found', async () => {
    await planted()
    await ask()
    const json = JSON.stringify({ note: '(202)\n555-\r\n0142' })
    await sql`update function_calls set arguments = ${json}`.execute(test.db)
    await sql`update evaluations set criteria = ${JSON.stringify([json])}::jsonb`.execute(test.db)
    expect((await ask()).body.erasure.counts['mentions']).toBe(2)
    // What is left are the last four digits in receipts.
    const left = await rowsWith(test.db, ['0142'])
    expect(left.filter((row) => !row.includes('*0142'))).toEqual([])
  })
})

/** So many turns that have digits like those of the number, and are behind another country's code. */
async function lookAlikes(count: number): Promise<void> {
  await sql`
    insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted)
    select tenant_id, session_id, 'a' || lpad(n::text, 6, '0'), 1000 + n, role, '+44 2025550142 is another one', '', 0, 0, false
      from transcript_turns, generate_series(1, ${count}) n where tenant_id = 'acme'`.execute(test.db)
}

describe('a tenant with much that only looks like the number', () => {
  it('is gone through to its end', async () => {
    await planted()
    await lookAlikes(450)
    await sql`update transcript_turns set text = 'Call 202 555 0142' where item_id = 'a000450'`.execute(test.db)
    await ask()
    const { text } = await test.db
      .selectFrom('transcript_turns')
      .select('text')
      .where('item_id', '=', 'a000450')
      .executeTakeFirstOrThrow()
    expect(text).toBe('Call [erased]')
  })
})

describe('a request that takes long', () => {
  it('is answered within seconds, and gone on with by the sweep from where it was', async () => {
    await planted()
    const by = { kind: 'key', name: 'API key' } as const
    // Each look at whether the service stops takes a second and a half.
    const slow = () => {
      void clock.advance(1_500)
      return false
    }
    const row = await erasures(slow).request('acme' as TenantId, PHONE, by)
    expect([row.completed_at, row.claim_token]).toEqual([null, null])
    expect(row.progress).toEqual({ step: expect.any(String), after: expect.any(Array) })
    expect(await worker().sweep()).toBe(1)
    expect(await traces()).toEqual([])
    expect((await erasures().get('acme' as TenantId, row.id)).counts).toMatchObject(COUNTS)
  })

  it('has its turn with others: each goes on from where it was', async () => {
    await planted()
    const by = { kind: 'key', name: 'API key' } as const
    const ids: string[] = []
    for (const phone of [PHONE, OTHER]) ids.push((await erasures(() => true).request('acme' as TenantId, phone, by)).id)
    const slow = () => {
      void clock.advance(11_000)
      return false
    }
    expect(await worker(slow).sweep()).toBe(2)
    expect(await traces()).toEqual([])
    const rows = await Promise.all(ids.map((id) => erasures().get('acme' as TenantId, id)))
    expect(rows.map(({ progress, phone_sealed }) => [progress, phone_sealed])).toEqual([
      [null, null],
      [null, null],
    ])
  })
})

describe('a number in calls of a node whose clock is ahead', () => {
  it('is erased with them, though they seem to be later than the request', async () => {
    const ahead = new TestClock()
    await ahead.advance(10 * 60_000)
    const there: World = { ...world(), clock: ahead }
    await plantNumber(there, { own: 'CA-own', other: 'CA-other' })
    for (const callSid of ['CA-own', 'CA-other']) await over(there, callSid)
    const { body } = await ask()
    expect([body.erasure.status, body.erasure.counts]).toEqual(['completed', expect.objectContaining(COUNTS)])
    expect(await traces()).toEqual([])
  })

  it('stays in a call that is later indeed, and is waited for in none that may be', async () => {
    const by = { kind: 'key', name: 'API key' } as const
    await erasures(() => true).request('acme' as TenantId, PHONE, by)
    await clock.advance(60_000)
    await plantNumber(world(), { own: 'CA-live', other: 'CA-1' })
    await clock.advance(15 * 60_000)
    const calls = makeSessions({ db: test.db, clock, nodeId: NODE })
    await calls.open(tenantTold('acme'), someCall('CA-late', { from: PHONE }))
    await over(world(), 'CA-late')
    expect(await worker().sweep()).toBe(1)
    const kept = await test.db.selectFrom('voice_sessions').select('call_sid').where('from', '=', PHONE).execute()
    expect(kept.map(({ call_sid }) => call_sid).toSorted()).toEqual(['CA-late', 'CA-live'])
  })

  it('stays in all that belongs to a call that is later and goes on, and in nothing else of that time', async () => {
    const by = { kind: 'key', name: 'API key' } as const
    await erasures(() => true).request('acme' as TenantId, PHONE, by)
    await clock.advance(60_000)
    await plantNumber(world(), { own: 'CA-live', other: 'CA-1' })
    await sql`update campaign_contacts set status = 'dialing', last_call_log_id =
                (select id from call_logs where call_sid = 'CA-live')`.execute(test.db)
    const ofCalls = MENTION_TABLES.flatMap(({ table, call }) => (call ? [table] : []))
    const mentions = async () => (await traces()).filter((row) => ofCalls.includes(row.split(':')[0] ?? '')).sort()
    const untold = (rows: string[]) => rows.filter((row) => !/^(?:billing|notification)_outbox:/.test(row))
    const before = untold(await mentions())
    expect(before.length).toBeGreaterThan(15)
    expect(await worker().sweep()).toBe(1)
    expect(await mentions()).toEqual(before)
    const others = (await traces()).map((row) => row.split(':')[0] ?? '').filter((table) => !ofCalls.includes(table))
    expect(others).toEqual([])
    // Once they are over another request takes them.
    for (const callSid of ['CA-live', 'CA-1']) await over(world(), callSid)
    await ask()
    expect(await traces()).toEqual([])
  })
})

describe('a request beside another one of the same number that comes to its end', () => {
  it('is a new one', async () => {
    const by = { kind: 'key', name: 'the one before' } as const
    const { id } = await erasures(() => true).request('acme' as TenantId, PHONE, by)
    // It is completed when the new one has just found it open.
    await sql`
      create function end_the_one_before() returns trigger language plpgsql as $$
      begin
        update number_erasures set completed_at = now(), phone_sealed = null where actor = 'the one before';
        return null;
      end $$`.execute(test.db)
    await sql`create trigger end_the_one_before after insert on number_erasures
              for each statement execute function end_the_one_before()`.execute(test.db)
    try {
      const { status, body } = await ask()
      expect([status, body.erasure?.status]).toEqual([200, 'completed'])
      expect(body.erasure.id).not.toBe(id)
    } finally {
      await sql`drop function end_the_one_before cascade`.execute(test.db)
    }
  })
})

describe('GET erasures', () => {
  it('shows the receipts of the tenant, newest first, and nobody else’s', async () => {
    const first = (await ask()).body.erasure
    await clock.advance(1_000)
    const second = (await ask('acme', OTHER)).body.erasure
    const { body } = await server.call<Answer>('acme', 'GET', '/erasures')
    expect(body.erasures.map(({ id }) => id)).toEqual([second.id, first.id])
    const page = await server.call<Answer & { next_cursor: string }>('acme', 'GET', '/erasures?limit=1')
    const rest = await server.call<Answer>('acme', 'GET', `/erasures?limit=1&cursor=${page.body.next_cursor}`)
    expect(rest.body.erasures.map(({ id }) => id)).toEqual([first.id])
    expect((await server.call<Answer>('acme', 'GET', `/erasures/${first.id}`)).body.erasure).toEqual(first)
    const others = [
      await server.call('globex', 'GET', `/erasures/${first.id}`),
      await server.call('acme', 'GET', '/erasures/none'),
      await server.call('acme', 'GET', `/erasures/${'x'.repeat(201)}`),
      await server.call('acme', 'GET', '/erasures?limit=501'),
      await server.call(null, 'GET', '/erasures'),
      await server.call(null, 'GET', `/erasures/${first.id}`),
    ]
    expect(others.map(({ status }) => status)).toEqual([404, 404, 400, 400, 401, 401])
    expect((await server.call<Answer>('globex', 'GET', '/erasures')).body.erasures).toEqual([])
  })
})

describe('an erasure that is cut off', () => {
  it('is gone on with by whoever looks next, wherever it was cut, and counts nothing twice', async () => {
    await planted()
    const by = { kind: 'key', name: 'API key' } as const
    const { id } = await erasures(() => true).request('acme' as TenantId, PHONE, by)
    // A repeat of the request meanwhile is the same one.
    expect((await erasures(() => true).request('acme' as TenantId, PHONE, by)).id).toBe(id)
    // Each goes on behind the one before: a few pieces at a time are enough.
    let done = 0
    for (let sweeps = 0; done === 0; sweeps += 1) {
      let left = 1 + (sweeps % 4)
      done = await worker(() => {
        left -= 1
        return left < 0
      }).sweep()
      expect(sweeps).toBeLessThan(100)
    }
    expect(await traces()).toEqual([])
    const { counts, completedAt } = await erasures()
      .get('acme' as TenantId, id)
      .then((row) => ({ counts: row.counts, completedAt: row.completed_at }))
    expect(completedAt).not.toBeNull()
    expect(counts).toMatchObject(COUNTS)
  })

  it('is left to whoever is at it until their lease is over: of several at once one does it', async () => {
    await planted()
    const { id } = await erasures(() => true).request('acme' as TenantId, PHONE, { kind: 'key', name: 'API key' })
    const dead = await claimErasureAcrossTenants(test.db, { id, leaseMs: 60_000, except: [] })
    expect(dead?.id).toBe(id)
    expect(await worker().sweep()).toBe(0)
    expect(await traces()).not.toEqual([])
    await sql`update number_erasures set leased_until = now() - interval '1 second'`.execute(test.db)
    const done = await Promise.all([worker().sweep(), worker().sweep()])
    expect(done.sort()).toEqual([0, 1])
    expect(await traces()).toEqual([])
    expect((await erasures().get('acme' as TenantId, id)).counts).toMatchObject(COUNTS)
  })
})

/** What the tenant has set up or made up, what is erased as a whole, what is ours, and what must stay. */
const NOT_SEARCHED = new Set(
  (
    'tenants api_keys api_key_prefixes phone_numbers phone_routes agents agent_versions agent_version_rollouts rollout_policies ' +
    'operator_queues tenant_users admin_sessions clips do_not_call number_erasures erased_recordings call_directory call_resumes ' +
    'webhook_sequences call_rollups call_outcome_rollups call_changes recordings idempotency_keys session_scorings ' +
    'callback_task_dispatches callback_task_keys callback_task_follow_ups callback_task_tickets campaign_dials campaign_keys simulations simulation_runs'
  ).split(' '),
)
/** Ids, keys and words of ours: nobody writes a number into them. */
const OURS = new Set(
  (
    'tenant_id call_sid stream_sid org_id direction status agent_key agent_name answered_by answered_by_source error_code action actor actor_kind event ' +
    'model voice audio_output_provider call_status end_reason qa_status extraction_status item_id role call_id name source state ' +
    'dial_ref on_machine customer_phone disposition priority queue_key created_by assigned_to acknowledged_by last_dispatch_call_sid ' +
    'last_dispatch_status operator supervisor placed_by canceled_by outcome hours_start hours_end phone url latency usage search timeline day_spent'
  ).split(' '),
)

/** Calls of a campaign come from there; who called whom goes with the whole of a call, and not before. */
const NUMBERS = new Set([
  'campaigns.from',
  ...['call_logs', 'voice_sessions'].flatMap((table) => [`${table}.from`, `${table}.to`]),
])

it('looks into every column of words that there is', async () => {
  const { rows } = await sql<{ table: string; column: string }>`
    select c.table_name as "table", c.column_name as "column"
      from information_schema.columns c
      join information_schema.columns t on t.table_schema = 'public' and t.table_name = c.table_name and t.column_name = 'tenant_id'
     where c.table_schema = 'public' and (c.data_type in ('text', 'json', 'jsonb') or c.udt_name = '_text')`.execute(
    test.db,
  )
  const known = new Map(MENTION_TABLES.map(({ table, columns }) => [table, columns]))
  const missing = rows
    .filter(
      ({ table, column }) =>
        !NOT_SEARCHED.has(table) &&
        !NUMBERS.has(`${table}.${column}`) &&
        !OURS.has(column) &&
        !(column in (known.get(table) ?? {})),
    )
    .map(({ table, column }) => `${table}.${column}`)
  expect(missing).toEqual([])
})
