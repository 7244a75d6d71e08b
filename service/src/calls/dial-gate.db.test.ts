import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import { TENANT_KEY } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeDoNotCall } from '../operators/do-not-call.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { makeLog } from '../platform/log.ts'
import { type CallLogRow, insertCallLog } from '../records/call-log-store.ts'
import { isOver } from '../records/call-status.ts'
import { CALL_STATUSES } from '../records/call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from '../records/calls.fixture.ts'
import { turnEntry } from '../records/journal-entry.ts'
import { writeEntries } from '../records/journal-write.ts'
import { lockBeginnings } from '../records/live-call-store.ts'
import { makeSessions } from '../records/sessions.ts'
import type { TenantCompliance, TenantLimits, TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type Dial, type DialRefusalCode, makeDialGate } from './dial-gate.ts'

const BERLIN = '+491512345678'
const WASHINGTON = '+12025550101'
/** Of no country. */
const FREEPHONE = '+80012345678'
const HOUR_MS = 3_600_000

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
let clock: TestClock

beforeEach(async () => {
  // Noon in Berlin, six in the morning in Washington.
  clock = new TestClock(Date.parse('2030-01-15T11:00:00Z'))
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
})

function tenant({
  id = 'acme',
  ...rules
}: {
  id?: string
  compliance?: Partial<TenantCompliance>
  limits?: Partial<TenantLimits>
} = {}): TenantRuntime {
  const base = tenantTold(id, null)
  const { compliance, limits } = rules
  return { ...base, compliance: { ...base.compliance, ...compliance }, limits: { ...base.limits, ...limits } }
}

function dial(to: string, facts: Partial<Dial> = {}): Dial {
  return { to, from: null, metadata: {}, kind: 'make_call', ...facts }
}

function asked(by: TenantRuntime, wanted: Dial) {
  return test.db.transaction().execute((tx) => makeDialGate({ clock }).refusals(tx, by, wanted))
}

async function refused(by: TenantRuntime, wanted: Dial): Promise<DialRefusalCode[]> {
  return (await asked(by, wanted)).map(({ code }) => code)
}

/** A call of the tenant's that goes on, of two turns that cost this each. */
async function cost(callSid: string, costUsd: number): Promise<void> {
  const { sessions, acme } = { sessions: makeSessions({ db: test.db, clock, nodeId: NODE }), acme: tenant() }
  const { sessionId } = await sessions.open(acme, someCall(callSid))
  await sessions.started(acme, { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null })
  const call = { tenant: acme, callSid, sessionId, epoch: 1 }
  const entries = [turnEntry(call, someTurn(1, { costUsd })), turnEntry(call, someTurn(3, { costUsd }))]
  await test.db.transaction().execute((tx) => writeEntries(tx, entries, { now: new Date(clock.now()) }))
}

/** Writes down a call as whoever places it does. */
function logCall(tx: Tx | Db, to: string, facts: Partial<CallLogRow> = {}, by = 'acme'): Promise<void> {
  const now = new Date(clock.now())
  return insertCallLog(tx as Tx, by as TenantId, {
    ...{ id: newId<string>(now.getTime()), call_sid: null, org_id: null, direction: 'outbound', from: '+12025550199' },
    ...{ to, status: 'queued', status_at: now, agent_key: null, agent_name: null, agent_version_id: null },
    ...{ version_number: null, stream_sid: null, voice_session_id: null, callback_task_id: null, campaign_id: null },
    ...{ placed_by: null, canceled_by: null },
    ...{ created_at: now, started_at: null, answered_at: null, ended_at: null, duration_seconds: null },
    ...{
      answered_by: null,
      answered_by_source: null,
      escalated: false,
      escalation_target: null,
      summary: null,
      error_code: null,
    },
    ...{ error_message: null, cost_usd: null, metadata: {} },
    ...facts,
  })
}

describe('the dial gate', () => {
  it('refuses when the minutes of the day are used up', async () => {
    const capped = tenant({ limits: { minutes_per_day: 10 } })
    const at = (time: string) => new Date(`2030-01-15T${time}:00Z`)
    const talked = (from: string, to: string | null, facts: Partial<CallLogRow> = {}) => {
      const answered_at = from.length > 5 ? new Date(from) : at(from)
      const ended_at = to === null ? null : at(to)
      const status = to === null ? ('in-progress' as const) : ('completed' as const)
      return logCall(test.db, BERLIN, { created_at: answered_at, answered_at, ended_at, status, ...facts })
    }
    // Of what began the day before only what is of today counts, and of pages and other tenants nothing.
    await talked('2030-01-14T23:00:00Z', '00:03', { direction: 'inbound' })
    await talked('09:00', '10:00', { direction: 'browser' })
    await logCall(test.db, BERLIN, { answered_at: at('09:00'), ended_at: at('10:00') }, 'globex')
    await logCall(test.db, BERLIN, { status: 'busy', ended_at: at('10:00') })
    await talked('10:00', '10:06')
    expect(await refused(capped, dial(BERLIN))).toEqual([])
    await talked('10:59', null)
    expect(await refused(capped, dial(BERLIN))).toEqual(['minutes_exhausted'])
    expect(await refused(tenant({ limits: { minutes_per_day: 11 } }), dial(BERLIN))).toEqual([])
    clock = new TestClock(Date.parse('2030-01-16T11:00:00Z'))
    await test.db
      .updateTable('call_logs')
      .set({ ended_at: at('11:01') })
      .where('ended_at', 'is', null)
      .execute()
    expect(await refused(capped, dial(BERLIN))).toEqual([])
    expect(await refused(tenant({ limits: { minutes_per_day: 0 } }), dial(BERLIN))).toEqual(['minutes_exhausted'])
  })

  it('refuses when the budget of the day is used up', async () => {
    const capped = tenant({ limits: { budget_per_day: 5 } })
    await cost('CA1', 2)
    expect(await refused(capped, dial(BERLIN))).toEqual([])
    // Of a call that goes on, what has been said costs already.
    await cost('CA2', 0.5)
    expect(await asked(capped, dial(BERLIN))).toEqual([
      {
        code: 'budget_exhausted',
        reason: 'The calls of today (UTC) have cost 5.00 USD, and limits.budget_per_day allows 5: call tomorrow.',
      },
    ])
    expect(await refused(tenant({ limits: { budget_per_day: 5.01 } }), dial(BERLIN))).toEqual([])
    expect(await refused(tenant({ id: 'globex', limits: { budget_per_day: 5 } }), dial(BERLIN))).toEqual([])
    const end = (facts: { ended_at: Date; cost_usd?: number }) =>
      test.db.updateTable('voice_sessions').set(facts).execute()
    // Of one that was lost with its process nobody has written more.
    await end({ ended_at: new Date(clock.now()) })
    expect(await refused(capped, dial(BERLIN))).toEqual(['budget_exhausted'])
    // Of one that is over, what it came to; the next day has a budget of its own.
    await end({ ended_at: new Date(clock.now()), cost_usd: 3 })
    expect(await refused(tenant({ limits: { budget_per_day: 6 } }), dial(BERLIN))).toEqual(['budget_exhausted'])
    expect(await refused(tenant({ limits: { budget_per_day: 6.01 } }), dial(BERLIN))).toEqual([])
    clock = new TestClock(Date.parse('2030-01-16T11:00:00Z'))
    expect(await refused(capped, dial(BERLIN))).toEqual([])
    expect(await refused(tenant({ limits: { budget_per_day: 0 } }), dial(BERLIN))).toEqual(['budget_exhausted'])
  })

  it('adds the costs of a day up to the millionth', async () => {
    // The sum of the two as they are kept is a trifle below it: a call would be placed only to say goodbye at once.
    await cost('CA1', 0.35)
    await cost('CA2', 0.05)
    expect(await refused(tenant({ limits: { budget_per_day: 0.8 } }), dial(BERLIN))).toEqual(['budget_exhausted'])
    expect(await refused(tenant({ limits: { budget_per_day: 0.800001 } }), dial(BERLIN))).toEqual([])
  })

  it('lets through what nothing speaks against', async () => {
    for (const to of [BERLIN, WASHINGTON, FREEPHONE]) expect(await refused(tenant(), dial(to))).toEqual([])
  })

  it('refuses what is on the list from the next call on, and of the list of no other tenant', async () => {
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants: { get: async (id) => tenantTold(id) } })
    await doNotCall.add('acme' as TenantId, { phone: BERLIN as PhoneNumber, reason: null, source: null })
    expect(await refused(tenant(), dial(BERLIN))).toEqual(['dnc_listed'])
    expect(await refused(tenant(), dial(WASHINGTON))).toEqual([])
    expect(await refused(tenant({ id: 'globex' }), dial(BERLIN))).toEqual([])
    await doNotCall.remove('acme' as TenantId, BERLIN, TENANT_KEY)
    expect(await refused(tenant(), dial(BERLIN))).toEqual([])
  })

  it('refuses what is on the list where the call was kept with a prefix of its country', async () => {
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants: { get: async () => tenant() } })
    await doNotCall.add(tenant().tenant_id, { phone: BERLIN as PhoneNumber, reason: null, source: null })
    expect(await refused(tenant(), dial(BERLIN.replace('+49', '+490')))).toEqual(['dnc_listed'])
  })

  it('refuses what an earlier version has listed with a prefix of its country', async () => {
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants: { get: async () => tenant() } })
    const phone = BERLIN.replace('+49', '+490') as PhoneNumber
    await doNotCall.add(tenant().tenant_id, { phone, reason: null, source: null })
    for (const to of [BERLIN, phone]) expect(await refused(tenant(), dial(to))).toEqual(['dnc_listed'])
  })

  it('refuses what costs more than a call', async () => {
    expect(await asked(tenant(), dial('+49900112345'))).toEqual([
      { code: 'premium_number', reason: 'The number is a premium-rate number, and those are never called.' },
    ])
  })

  it.each([
    [null, BERLIN, []],
    [['DE'], BERLIN, []],
    [['DE', 'US'], WASHINGTON, []],
    [['US'], BERLIN, ['country_not_allowed']],
    [[], BERLIN, ['country_not_allowed']],
    [['US'], '+18765550101', ['country_not_allowed']],
    [['US', 'JM'], '+18765550101', []],
    // May be in several: all of them have to be allowed.
    [['GB'], '+441632960123', ['country_not_allowed']],
    [['GB', 'GG', 'IM', 'JE'], '+441632960123', []],
    [['DE', 'US'], FREEPHONE, ['country_not_allowed']],
  ])('with the countries %j and %s: %j', async (countries, to, expected) => {
    expect(await refused(tenant({ compliance: { allowed_countries: countries } }), dial(to))).toEqual(expected)
  })

  it.each([
    [{}, ['consent_missing']],
    [{ consent: 'true' }, ['consent_missing']],
    [{ consent: false }, ['consent_missing']],
    [{ consent: true }, []],
  ])('with the metadata %j, where consent is required: %j', async (metadata, expected) => {
    const strict = tenant({ compliance: { require_consent: true } })
    expect(await refused(strict, dial(BERLIN, { metadata }))).toEqual(expected)
    expect(await refused(tenant(), dial(BERLIN, { metadata }))).toEqual([])
  })

  it('names the gravest first', async () => {
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants: { get: async (id) => tenantTold(id) } })
    await doNotCall.add('acme' as TenantId, { phone: '+19005551234' as PhoneNumber, reason: null, source: null })
    await logCall(test.db, '+19005551234')
    const strict = tenant({
      compliance: {
        ...{ allowed_countries: ['DE'], require_consent: true, calling_hours: { start: '03:00', end: '03:01' } },
        max_attempts_per_day: 1,
      },
      limits: { max_concurrent_calls: 1 },
    })
    expect(await refused(strict, dial('+19005551234'))).toEqual([
      ...['dnc_listed', 'premium_number', 'country_not_allowed', 'consent_missing', 'outside_calling_hours'],
      ...['attempt_cap', 'tenant_busy'],
    ])
  })
})

describe('calling hours', () => {
  const usual: DialRefusalCode[] = ['outside_calling_hours']
  const NIGHT = { start: '22:00', end: '07:00' }

  it.each([
    // It is noon in Berlin and six in Washington.
    ['make_call', null, WASHINGTON, []],
    ['dispatch', null, WASHINGTON, usual],
    ['campaign', null, WASHINGTON, usual],
    ['dispatch', null, BERLIN, []],
    ['campaign', null, BERLIN, []],
    ['make_call', NIGHT, WASHINGTON, []],
    ['make_call', NIGHT, BERLIN, usual],
    ['dispatch', NIGHT, WASHINGTON, []],
    ['campaign', NIGHT, BERLIN, usual],
    ['make_call', { start: '00:00', end: '24:00' }, WASHINGTON, []],
    ['make_call', { start: '06:00', end: '12:00' }, WASHINGTON, []],
    ['make_call', { start: '06:00', end: '12:00' }, BERLIN, usual],
  ] as const)('%s with %j to %s: %j', async (kind, hours, to, expected) => {
    expect(await refused(tenant({ compliance: { calling_hours: hours } }), dial(to, { kind }))).toEqual(expected)
  })

  it("are the tenant's own where the number tells no place, else those of UTC", async () => {
    const at = (timezone: string | null) => tenant({ compliance: { timezone } })
    const wanted = dial(FREEPHONE, { kind: 'dispatch' })
    expect(await refused(at(null), wanted)).toEqual([])
    expect(await refused(at('Europe/Berlin'), wanted)).toEqual([])
    expect(await refused(at('America/Los_Angeles'), wanted)).toEqual(usual)
    // A number that tells its place has nothing to do with the tenant's.
    expect(await refused(at('America/Los_Angeles'), dial(BERLIN, { kind: 'dispatch' }))).toEqual([])
  })

  it('tell what time it is, and where', async () => {
    expect(await asked(tenant(), dial(WASHINGTON, { kind: 'campaign' }))).toEqual([
      {
        code: 'outside_calling_hours',
        reason: 'It is 06:00 where the number may be (America/New_York): call from 08:00 until before 21:00.',
      },
    ])
  })

  it('hold in every zone that the number may be in', async () => {
    clock = new TestClock(Date.parse('2030-01-15T13:30:00Z'))
    // Half past eight in Florida's east, half past seven in its west.
    expect(await refused(tenant(), dial('+13055550101', { kind: 'dispatch' }))).toEqual([])
    expect(await refused(tenant(), dial('+18505550101', { kind: 'dispatch' }))).toEqual(usual)
  })
})

describe('attempts', () => {
  const twice = tenant({ compliance: { max_attempts_per_day: 2 } })

  it('are the calls that the carrier took and those that it has not refused', async () => {
    await logCall(test.db, BERLIN, { call_sid: 'CA1', status: 'no-answer' })
    // Refused by the carrier, to somebody else, from somebody else, of another tenant.
    await logCall(test.db, BERLIN, { status: 'failed' })
    await logCall(test.db, WASHINGTON, { call_sid: 'CA2', status: 'completed' })
    await logCall(test.db, BERLIN, { call_sid: 'CA3', status: 'completed', direction: 'inbound' })
    await logCall(test.db, BERLIN, { call_sid: 'CA4', status: 'completed' }, 'globex')
    expect(await refused(twice, dial(BERLIN))).toEqual([])
    await logCall(test.db, BERLIN)
    expect(await refused(twice, dial(BERLIN))).toEqual(['attempt_cap'])
    expect(await refused(tenant(), dial(BERLIN))).toEqual([])
    expect(await refused(tenant({ id: 'globex', compliance: twice.compliance }), dial(BERLIN))).toEqual([])
  })

  it("begin anew with the callee's day", async () => {
    for (const sid of ['CA1', 'CA2']) await logCall(test.db, BERLIN, { call_sid: sid, status: 'completed' })
    // It is noon in Berlin: the day there ends at 23:00 UTC.
    await clock.advance(12 * HOUR_MS - 1)
    expect(await refused(twice, dial(BERLIN))).toEqual(['attempt_cap'])
    await clock.advance(1)
    expect(await refused(twice, dial(BERLIN))).toEqual([])
  })

  it('begin anew once the day has begun wherever the callee may be', async () => {
    const florida = '+18505550101'
    for (const sid of ['CA1', 'CA2']) await logCall(test.db, florida, { call_sid: sid, status: 'completed' })
    // Midnight in the east is at 05:00 UTC, in the west at 06:00.
    await clock.advance(18 * HOUR_MS)
    expect(await refused(twice, dial(florida))).toEqual(['attempt_cap'])
    await clock.advance(HOUR_MS)
    expect(await refused(twice, dial(florida))).toEqual([])
  })
})

describe('calls at once', () => {
  const three = tenant({ limits: { max_concurrent_calls: 3 } })

  it('are all calls of the tenant that are not over, of every direction', async () => {
    await logCall(test.db, BERLIN, { call_sid: 'CA1', status: 'completed' })
    await logCall(test.db, BERLIN, { status: 'failed' })
    await logCall(test.db, BERLIN, { call_sid: 'CA2', status: 'ringing' }, 'globex')
    await logCall(test.db, BERLIN, { call_sid: 'CA3', status: 'in-progress', direction: 'inbound' })
    await logCall(test.db, 'support', { call_sid: 'browser-1', status: 'ringing', direction: 'browser' })
    expect(await refused(three, dial(BERLIN))).toEqual([])
    await logCall(test.db, WASHINGTON)
    expect(await refused(three, dial(BERLIN))).toEqual(['tenant_busy'])
    expect(await refused(tenant(), dial(BERLIN))).toEqual([])
  })

  it.each(CALL_STATUSES)('have a call that is %s among them as long as it is not over', async (status) => {
    await logCall(test.db, BERLIN, { call_sid: 'CA1', status })
    const codes = await refused(tenant({ limits: { max_concurrent_calls: 1 } }), dial(WASHINGTON))
    expect(codes).toEqual(isOver(status) ? [] : ['tenant_busy'])
  })

  it('are not those that no call can last for', async () => {
    for (const sid of ['CA1', 'CA2', 'CA3']) await logCall(test.db, BERLIN, { call_sid: sid, status: 'in-progress' })
    await clock.advance(4 * HOUR_MS)
    expect(await refused(three, dial(BERLIN))).toEqual(['tenant_busy'])
    await clock.advance(HOUR_MS)
    expect(await refused(three, dial(BERLIN))).toEqual([])
  })
})

describe('two hundred calls that are placed at the same moment', () => {
  const AT_ONCE = 200

  const gate = () => makeDialGate({ clock })

  /** As make-call does: the gate and the log entry in one transaction. */
  function placeOne(by: TenantRuntime, { db }: { db: Db }): Promise<DialRefusalCode | null> {
    return db.transaction().execute(async (tx) => {
      const [gravest] = await gate().refusals(tx, by, dial(BERLIN))
      if (!gravest) await logCall(tx, BERLIN)
      return gravest?.code ?? null
    })
  }

  /** Whoever waited too long for a connection tries again: on a busy machine this many may. */
  async function placed(by: TenantRuntime, node: { db: Db }): Promise<DialRefusalCode | null> {
    for (;;) {
      try {
        return await placeOne(by, node)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'unavailable')) throw error
      }
    }
  }

  /** The refusals of as many calls, on two nodes. */
  async function place(by: TenantRuntime): Promise<DialRefusalCode[]> {
    const other = await test.anotherNode()
    const all = Array.from({ length: AT_ONCE }, (_, index) => placed(by, index % 2 === 0 ? test : other))
    return (await Promise.all(all)).filter((code) => code !== null)
  }

  async function count(): Promise<number> {
    return (await test.db.selectFrom('call_logs').select('id').execute()).length
  }

  it('are exactly as many as there may be at once', async () => {
    const codes = await place(tenant({ limits: { max_concurrent_calls: 7 } }))
    expect(codes).toEqual(Array(AT_ONCE - 7).fill('tenant_busy'))
    expect(await count()).toBe(7)
  })

  it('are exactly as many as may go to a number in a day', async () => {
    const codes = await place(tenant({ compliance: { max_attempts_per_day: 5 } }))
    expect(codes).toEqual(Array(AT_ONCE - 5).fill('attempt_cap'))
    expect(await count()).toBe(5)
  })
})

describe.runIf(inject('databaseTemplate').kind === 'server')('calls of one tenant that wait for each other', () => {
  const gate = () => makeDialGate({ clock })
  const by = tenant({ limits: { max_concurrent_calls: 1 } })

  async function waiting(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_locks
       where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`.execute(test.db)
    return rows[0]?.count ?? 0
  }

  it('leave the connections to everybody else', async () => {
    const [placing, node] = [gate(), await test.anotherNode()]
    const elsewhere = await test.db.startTransaction().execute()
    await lockBeginnings(elsewhere, by.tenant_id)
    const placed = Promise.allSettled(
      Array.from({ length: 30 }, () =>
        placing.transaction(node.db, by, (tx) => placing.refusals(tx, by, dial(BERLIN))),
      ),
    )
    try {
      await until(async () => (await waiting()) > 0, { what: 'one that waits in the database' })
      await sql`select 1`.execute(node.db)
      expect(await placing.check(node.db, by, dial(BERLIN))).toEqual([])
      expect(await waiting()).toBe(1)
    } finally {
      await elsewhere.rollback().execute()
    }
    expect(await placed).toEqual(Array(30).fill({ status: 'fulfilled', value: [] }))
  })
})
