import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KyselyPlugin, sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { listLateQueuesAcrossTenants } from '../../operators/operator-queue-store.ts'
import { makeRecordingFiles } from '../../records/recording-files.ts'
import { isMarkedDeleted, markDeleted } from '../../tenancy/tenant-store.ts'
import { GROWING_TABLES } from './erase-tenant-store.ts'
import { makeErasingTenants } from './erasing-tenants.ts'
import { over, plantNumber } from './number-erasure.fixture.ts'

const test = useDatabase()
const acme = 'acme' as TenantId
const quiet = { info: () => {}, error: () => {} }
let clock: TestClock

const erasing = (isStopping = () => false, db = test.db) => makeErasingTenants({ db, clock, log: quiet, isStopping })
const markAcme = () => test.db.transaction().execute((tx) => markDeleted(tx, acme, new Date(clock.now())))

/** A tenant with all that tenants may keep. */
async function planted(tenant: string): Promise<void> {
  const world = { db: test.db, clock, files: makeRecordingFiles(await mkdtemp(join(tmpdir(), 'erased-'))), tenant }
  await plantNumber(world, { own: `CA${tenant}1`, other: `CA${tenant}2` })
  for (const callSid of [`CA${tenant}1`, `CA${tenant}2`]) await over(world, callSid)
}

/** Rows by table, of tables that have any of the tenant's. What outlives tenants is left out. */
async function rowsOf(tenant: string): Promise<Record<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'tenant_id' order by 1`.execute(test.db)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    if (['audit_log', 'erased_recordings', 'billing_outbox', 'notification_outbox'].includes(name)) continue
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from ${sql.table(name)} where tenant_id = ${tenant}`.execute(test.db)
    if (rows[0]?.count) counts[name] = rows[0].count
  }
  return counts
}

/** So many calls with three turns and ninety counts each. */
async function manyCalls(count: number): Promise<void> {
  await sql`
    insert into call_logs select (json_populate_record(log, json_build_object(
             'id', gen_random_uuid(), 'call_sid', 'CB' || n))).*
      from call_logs log, generate_series(1, ${count}) n where call_sid = 'CAacme1'`.execute(test.db)
  await sql`
    insert into voice_sessions select (json_populate_record(session, json_build_object('id', gen_random_uuid(), 'call_sid', 'CB' || n))).*
      from voice_sessions session, generate_series(1, ${count}) n where call_sid = 'CAacme1'`.execute(test.db)
  await sql`
    insert into call_directory (call_sid, tenant_id, session_id, owner, epoch)
    select call_sid, tenant_id, id, null, 1 from voice_sessions where call_sid like 'CB%'`.execute(test.db)
  await sql`
    insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted)
    select tenant_id, id, 'item' || n, n, 'caller', 'Yes', '', 0, 0, false
      from voice_sessions, generate_series(1, 3) n where call_sid like 'CB%'`.execute(test.db)
  await sql`
    insert into webhook_sequences (tenant_id, call_sid, sequence)
    select tenant_id, call_sid || '-' || n, 1 from call_logs, generate_series(1, 90) n where call_sid like 'CB%'`.execute(
    test.db,
  )
}

/** Looks at what statements came to, and may refuse. */
function lookingAt(look: (affectedRows: bigint) => void): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      look(result.numAffectedRows ?? 0n)
      return result
    },
  }
}

beforeEach(async () => {
  clock = new TestClock()
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
})

describe('what is left of a deleted tenant', () => {
  it('goes, all of it, and nothing of others', async () => {
    for (const tenant of ['acme', 'globex']) await planted(tenant)
    const others = await rowsOf('globex')
    await markAcme()
    await erasing().goOn(acme)
    expect(await rowsOf('acme')).toEqual({})
    expect(await rowsOf('globex')).toEqual(others)
    expect(await test.db.selectFrom('erased_recordings').select('tenant_id').execute()).toEqual([
      { tenant_id: 'acme' },
      { tenant_id: 'acme' },
    ])
  })

  it('goes a page at a time, however much it is', async () => {
    await planted('acme')
    await manyCalls(1_050)
    await markAcme()
    let largest = 0n
    const look = lookingAt((rows) => {
      if (rows > largest) largest = rows
    })
    await erasing(() => false, test.db.withPlugin(look)).sweep()
    expect(await rowsOf('acme')).toEqual({})
    expect(largest).toBe(1_000n)
  })

  it('is left for the sweep by an answer that has waited for long, and by a stop', async () => {
    await planted('acme')
    await markAcme()
    const slow = () => {
      void clock.advance(1_500)
      return false
    }
    await erasing(slow).goOn(acme)
    expect(await isMarkedDeleted(test.db, acme)).toBe(true)
    let looks = 0
    const stopping = () => {
      looks += 1
      return looks > 20
    }
    expect(await erasing(stopping).sweep()).toBe(0)
    const left = await rowsOf('acme')
    expect(Object.keys(left)).toContain('call_logs')
    expect(Object.keys(left)).not.toContain('callback_tasks')
    expect(await erasing().sweep()).toBe(1)
    expect(await rowsOf('acme')).toEqual({})
    expect(await erasing().sweep()).toBe(0)
  })

  it('is gone on with wherever a page failed, by several at once too', async () => {
    await planted('acme')
    await markAcme()
    for (let statements = 5; statements < 200; statements += 20) {
      let left = statements
      const failing = lookingAt(() => {
        left -= 1
        if (left < 0) throw new Error('the database is away')
      })
      await erasing(() => false, test.db.withPlugin(failing)).goOn(acme)
    }
    const other = await test.anotherNode()
    await Promise.all([erasing().goOn(acme), erasing(() => false, other.db).sweep()])
    expect(await rowsOf('acme')).toEqual({})
  })

  it('is called for by nobody, shown to nobody, and written to by no release that does not know of it', async () => {
    await planted('acme')
    await test.db.updateTable('campaigns').set({ status: 'running' }).execute()
    const later = new Date(clock.now() + 365 * 86_400_000)
    const late = () =>
      listLateQueuesAcrossTenants(test.db, { now: later, clocks: [], after: null, limit: 50, offset: 0 })
    expect(await late()).not.toEqual([])
    await markAcme()
    expect(await test.db.selectFrom('campaigns').select('status').execute()).toEqual([{ status: 'cancelled' }])
    expect(await test.db.selectFrom('operator_queues').selectAll().execute()).toEqual([])
    expect(await late()).toEqual([])
    const written = test.db.updateTable('tenants').set({ etag: '"new"' }).where('tenant_id', '=', acme).execute()
    await expect(written).rejects.toThrow('the tenant is deleted')
  })

  it('is nothing of a tenant that has its id since', async () => {
    await planted('acme')
    const before = await rowsOf('acme')
    await erasing().goOn(acme)
    await erasing().sweep()
    expect(await rowsOf('acme')).toEqual(before)
  })
})

/** What tenants set up, and what is there while something goes on: a few rows, which go with the tenant's own. */
const FEW = [
  ...['tenants', 'agents', 'agent_versions', 'agent_version_rollouts', 'rollout_policies'],
  ...['phone_routes', 'phone_numbers', 'api_keys', 'api_key_prefixes', 'tenant_users', 'admin_sessions'],
  ...['call_directory', 'call_resumes'],
]

it('is looked for in every table that goes with its tenant', async () => {
  const { rows } = await sql<{ name: string }>`
    with recursive owned (id) as (
      select 'tenants'::regclass::oid
      union select conrelid from pg_constraint join owned on confrelid = owned.id where contype = 'f')
    select relname as name from owned join pg_class on pg_class.oid = owned.id`.execute(test.db)
  const known = [...GROWING_TABLES.map(({ table }) => table), ...FEW]
  expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted())
})
