import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeRecordingFiles, pathOfPart, type RecordingFiles } from '../../records/recording-files.ts'
import { markDeleted } from '../../tenancy/tenant-store.ts'
import { DAY_MS, endCall, plantCall, quiet } from './erase.fixture.ts'
import { eraseRoutes } from './erase-routes.ts'
import { makeEraseSession } from './erase-session.ts'
import { makeErasingTenants } from './erasing-tenants.ts'
import { makeRetention } from './retention.ts'

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

const eraser = () => makeEraseSession({ db: test.db, clock, log: quiet, files })
const retention = (of: Pick<RecordingFiles, 'remove'> = files, recordingsAtATime?: number) =>
  makeRetention({
    ...{ db: test.db, clock, log: quiet, erase: eraser(), files: of, isStopping: () => false },
    ...(recordingsAtATime !== undefined && { recordingsAtATime }),
  })
const kept = () => ({ db: test.db, clock, files })
const wholeCall = (callSid: string, tenant = 'acme') => plantCall(kept(), callSid, tenant)
const over = (callSid: string) => endCall(kept(), callSid)

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

  it('is kept to in one run, however many are older, and however many of those cannot be erased', async () => {
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

  it('ends for all files, however many sessions were erased at once', async () => {
    const atATime = 10
    const erased = 100 * atATime + 5
    await sql`
      insert into erased_recordings select 'acme', gen_random_uuid(), ${new Date(clock.now())}::timestamptz
        from generate_series(1, ${erased}::integer)`.execute(test.db)
    const removed: string[] = []
    const node = retention({ remove: async (_tenantId, id) => void removed.push(id) }, atATime)
    for (const files of [100 * atATime, erased]) {
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

  it('goes with one run, however much there is of it', async () => {
    await sql`
      insert into notification_outbox (tenant_id, id, event, body, status, attempts, due_at, created_at, delivered_at)
      select '', gen_random_uuid(), 'access_request.created', '{}', 'delivered', 1, at, at, at
        from (select ${new Date(clock.now())}::timestamptz as at) old, generate_series(1, 25)`.execute(test.db)
    await clock.advance(30 * DAY_MS + 1)
    const given = { db: test.db, clock, log: quiet, erase: eraser(), files, isStopping: () => false }
    await makeRetention({ ...given, rowsAtATime: 10 }).purgeDelivered()
    expect(await test.db.selectFrom('notification_outbox').selectAll().execute()).toEqual([])
  })
})
