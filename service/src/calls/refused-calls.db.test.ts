import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { passing, passingWork } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import type { TenantId } from '../kernel/ids.ts'
import { listMissedCalls } from '../operators/missed-call-store.ts'
import { makeLog } from '../platform/log.ts'
import { countAll } from '../records/analytics/analytics.fixture.ts'
import { makeCallAnalytics } from '../records/analytics/call-analytics.ts'
import { statusReport } from '../records/call-record.ts'
import { NODE, OTHER_NODE, someCall, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { JournalFiles } from '../records/journal-file.ts'
import { makeSessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { MISSED_CALL_KINDS } from '../tenancy/tenant-values.ts'
import { type LateRefusals, makeLateRefusals } from './late-refusals.ts'
import { makeCallStatuses } from './record-status.ts'
import { makeRefusedCalls, type RefusedCalls } from './refused-calls.ts'
import type { RefusedCall } from './write-refusal.ts'

const ACME = 'acme' as TenantId
const CALLER = '+12025550101'
const HOUR_MS = 3_600_000
const acme = tenantTold('acme')
const agent = { agentKey: 'support', agentName: 'Robin', versionId: null, versionNumber: 3 }

const test = useDatabase()
const gate = new GatedDatabase()
let clock: TestClock
let lines: { msg: string; call_sid: string }[]
let refused: RefusedCalls
let files: JournalFiles
let late: LateRefusals
let folder: string

beforeEach(async () => {
  gate.isAway = false
  clock = new TestClock()
  lines = []
  const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number])
  const log = makeLog({ level: 'debug', secrets: [], destination: { write } })
  folder = await mkdtemp(join(tmpdir(), 'refusals-'))
  files = new JournalFiles({ folder, node: NODE, clock, log })
  await files.start()
  const { db } = gate.of(test.database)
  late = makeLateRefusals({ db, clock, log, files, tenants: { get: async () => acme } })
  refused = makeRefusedCalls({ db, clock, log, late, maxWaiting: 3 })
  await makeTenant(test.db, 'acme')
})

afterEach(async () => {
  await passingWork(clock, refused.close())
  await late.close()
  await passingWork(clock, files.close())
})

const note = (callSid: string, { tenant = acme, ...facts }: Partial<RefusedCall> & { tenant?: TenantRuntime } = {}) =>
  refused.note(tenant, {
    callSid,
    from: CALLER,
    to: '+12025550199',
    why: 'tenant_full',
    agentKey: 'support',
    agent,
    ...facts,
  })
const logs = () => test.db.selectFrom('call_logs').selectAll().orderBy('call_sid').execute()
const sids = async () => (await logs()).map(({ call_sid }) => call_sid)
const written = (count: number) => until(async () => (await logs()).length === count, { what: `${count} calls` })
const elsewhere = () => makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })

describe('a call that was not taken', () => {
  it('is written down in twenty seconds, over since it was refused, and told of as any call that nobody answered', async () => {
    const at = new Date(clock.now())
    note('CA1')
    // In steps: what is written too early is there by then.
    await passing(clock, () => clock.now() - at.getTime() >= 18_000, { what: 'most of it', stepMs: 2_000 })
    expect(await logs()).toEqual([])
    await clock.advance(2_000)
    await written(1)
    expect(await logs()).toMatchObject([
      {
        ...{ tenant_id: 'acme', call_sid: 'CA1', direction: 'inbound', from: CALLER, status: 'busy' },
        ...{ error_code: 'tenant_full', error_message: expect.stringContaining('max_concurrent_calls') },
        ...{ agent_key: 'support', agent_name: 'Robin', version_number: 3 },
        ...{ created_at: at, started_at: at, answered_at: null, ended_at: at },
      },
    ])
    const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
    expect(session).toMatchObject({ started_at: null, ended_at: at, end_reason: 'rejected', qa_status: 'not_scored' })
    const entry = await test.db.selectFrom('call_directory').selectAll().executeTakeFirstOrThrow()
    expect(entry.look_at).toBeNull()
    const names = (await storedEvents(test.db)).map(({ event }) => event)
    expect(names).toEqual(['voice.session.completed', 'voice.call.failed', 'voice.call.completed'])
  })

  it('is written down however many others its tenant rejects', async () => {
    for (const sid of ['CA1', 'CA2', 'CA3', 'CA4']) note(sid, { why: 'rejected' })
    note('CA5')
    await refused.close()
    expect(await sids()).toEqual(['CA1', 'CA5'])
  })

  it('has failed where nobody could have talked, by an agent of whom the key alone is known', async () => {
    note('CA1', { why: 'no_agent', agent: null, from: 'anonymous' })
    await refused.close()
    const by = { agent_key: 'support', agent_name: null }
    expect(await logs()).toMatchObject([{ ...by, status: 'failed', error_code: 'no_agent', from: 'anonymous' }])
  })

  it('stays what it is, whatever its carrier tells of what was said to it', async () => {
    note('CA1')
    await refused.close()
    const [before] = await logs()
    const tenants = { get: async () => acme }
    const statuses = makeCallStatuses({ db: test.db, clock, nodeId: NODE, tenants, willEnd: () => false })
    await clock.advance(9_000)
    for (const status of ['in-progress', 'completed', 'canceled'] as const) {
      const report = { ...statusReport(status, new Date(clock.now())), durationSeconds: 9, answeredBy: 'human' }
      expect(await statuses.record(ACME, 'CA1', report)).toEqual({ isOver: true })
    }
    expect(await logs()).toEqual([before])
    expect(await storedEvents(test.db)).toHaveLength(3)
  })

  it('is left alone where another process took it meanwhile, and is nothing new where it was noted twice', async () => {
    note('CA1')
    note('CA2')
    note('CA2', { why: 'too_slow' })
    await elsewhere().open(acme, someCall('CA1'))
    await clock.advance(20_000)
    await written(2)
    expect((await logs()).map(({ status, error_code }) => [status, error_code])).toEqual([
      ['ringing', null],
      ['busy', 'tenant_full'],
    ])
    expect(await elsewhere().open(acme, someCall('CA2'))).toMatchObject({ isOver: true })
  })

  it('is counted as what it was, and is one that its tenant has missed', async () => {
    note('CA1')
    note('CA2', { why: 'internal', from: '+12025550102' })
    await refused.close()
    await countAll(test.db)
    const asked = {
      interval: 'all',
      since: new Date(clock.now() - HOUR_MS),
      until: new Date(clock.now() + HOUR_MS),
    } as const
    const analytics = makeCallAnalytics({ db: test.db, clock, tenants: { get: async () => acme } })
    const { totals } = await analytics.ofTenant(ACME, { ...asked, timeZone: 'UTC', groupBy: null })
    const statuses = { completed: 0, busy: 1, failed: 1, 'no-answer': 0, canceled: 0 }
    expect(totals).toMatchObject({ calls: 2, answered: 0, minutes: 0, statuses })
    const since = new Date(clock.now() - HOUR_MS)
    const page = { since, begunAfter: since, refusedBefore: new Date(clock.now()), after: null, limit: 10 }
    const missed = await listMissedCalls(test.db, ACME, { kinds: [...MISSED_CALL_KINDS], ...page })
    expect(missed.map(({ call_sid, kind }) => [call_sid, kind]).toSorted()).toEqual([
      ['CA1', 'missed'],
      ['CA2', 'failed'],
    ])
  })

  it('of a deleted tenant is not written down', async () => {
    note('CA1')
    await test.db.deleteFrom('tenants').execute()
    await refused.close()
    expect(await logs()).toEqual([])
  })
})

describe('calls that are not taken', () => {
  it('are not written down beyond what waits, until there is room again', async () => {
    for (const callSid of ['CA1', 'CA2', 'CA3', 'CA4']) note(callSid)
    await clock.advance(20_000)
    await written(3)
    note('CA5')
    await clock.advance(20_000)
    await written(4)
    expect(await sids()).toEqual(['CA1', 'CA2', 'CA3', 'CA5'])
  })

  it.each(['tenant_full', 'rejected'] as const)(
    'are written down however many others there are of another tenant (%s)',
    async (why) => {
      refused = makeRefusedCalls({
        db: test.db,
        clock,
        log: makeLog({ level: 'silent', secrets: [] }),
        late,
        maxWaiting: 15,
      })
      await makeTenant(test.db, 'globex')
      for (let n = 1; n <= 30; n += 1) note(`CA${n}`, { why })
      note('CB1', { why, tenant: tenantTold('globex') })
      await refused.close()
      const stored = await sids()
      const countOf = (prefix: string) => stored.filter((sid) => sid?.startsWith(prefix)).length
      expect([countOf('CA'), countOf('CB')]).toEqual([why === 'rejected' ? 2 : 14, 1])
    },
  )

  it('give no place to those of a tenant that has nearly as many itself', async () => {
    for (const callSid of ['CA1', 'CA2', 'CA3', 'CA4']) note(callSid)
    await makeTenant(test.db, 'globex')
    for (const callSid of ['CB1', 'CB2']) note(callSid, { tenant: tenantTold('globex') })
    await refused.close()
    expect(await sids()).toEqual(['CA1', 'CA2', 'CB1'])
  })

  const isKept = async () => (await readdir(folder)).some((name) => name.endsWith('.log'))
  const logged = () => lines.filter(({ msg }) => msg === 'a call that was not taken was not written down')

  it('are kept while the database is away, and written once it is back, each once', async () => {
    const at = new Date(clock.now())
    for (const callSid of ['CA1', 'CA2']) note(callSid)
    gate.isAway = true
    await clock.advance(20_000)
    await passing(clock, isKept, { what: 'the calls to be kept' })
    await clock.advance(5_000)
    gate.isAway = false
    await passing(clock, async () => !(await isKept()), { what: 'the calls to be written' })
    expect(await logs()).toMatchObject([
      { call_sid: 'CA1', status: 'busy', ended_at: at },
      { call_sid: 'CA2', status: 'busy', ended_at: at },
    ])
    expect([await storedEvents(test.db), logged()]).toMatchObject([{ length: 6 }, []])
  })

  it('are logged alone while the disk takes nothing either', async () => {
    await passingWork(clock, files.close())
    note('CA1')
    gate.isAway = true
    await clock.advance(20_000)
    await until(() => logged().length > 0, { what: 'the line' })
    expect(logged()).toMatchObject([{ call_sid: 'CA1' }])
    gate.isAway = false
    note('CA2')
    await clock.advance(20_000)
    await written(1)
    expect(await sids()).toEqual(['CA2'])
  })

  it('are written down before the process ends, or kept where the database is away', async () => {
    note('CA1')
    await refused.close()
    note('CA2')
    expect([await sids(), clock.pendingTimers]).toEqual([['CA1'], 0])
    const others = makeRefusedCalls({ db: gate.of(test.database).db, clock, log: { warn: () => {} }, late })
    for (const callSid of ['CA3', 'CA4'])
      others.note(acme, { callSid, from: CALLER, to: CALLER, why: 'stopping', agentKey: null, agent: null })
    gate.isAway = true
    await passingWork(clock, others.close())
    expect([await sids(), await isKept()]).toEqual([['CA1'], true])
  })
})

describe('a call that was not taken and that somebody else has answered', () => {
  const endOf = async (callSid: string) => {
    const session = test.db.selectFrom('voice_sessions').select('end_reason').where('call_sid', '=', callSid)
    return (await session.executeTakeFirst())?.end_reason
  }

  it('was put through, as far as that is known by the time it is written down', async () => {
    for (const callSid of ['CA1', 'CA2']) note(callSid)
    expect([refused.tenantsOf('CA1'), refused.tenantsOf('CA9')]).toEqual([[ACME], []])
    refused.served(ACME, 'CA1')
    await refused.close()
    expect([await endOf('CA1'), await endOf('CA2')]).toEqual(['transferred', 'rejected'])
    expect((await logs())[0]).toMatchObject({ status: 'busy', error_code: 'tenant_full' })
  })

  it('of whichever tenant that was, where several have signed for one of the same id', async () => {
    await makeTenant(test.db, 'globex')
    const globex = tenantTold('globex')
    note('CA1', { tenant: globex })
    note('CA1')
    expect(refused.tenantsOf('CA1')).toEqual([globex.tenant_id, ACME])
    refused.served(globex.tenant_id, 'CA1')
    refused.served(globex.tenant_id, 'CA9')
    await refused.close()
    expect((await logs()).map(({ tenant_id }) => tenant_id)).toEqual(['globex'])
    expect(await endOf('CA1')).toBe('transferred')
  })

  it('also while the database is away', async () => {
    note('CA1')
    gate.isAway = true
    await clock.advance(20_000)
    await passing(clock, async () => (await readdir(folder)).length > 1, { what: 'the call to be kept' })
    refused.served(ACME, 'CA1')
    gate.isAway = false
    await passing(clock, () => endOf('CA1'), { what: 'the call to be written' })
    expect(await endOf('CA1')).toBe('transferred')
    await until(() => refused.tenantsOf('CA1').length === 0, { what: 'whoever has written it to hear that' })
  })
})
