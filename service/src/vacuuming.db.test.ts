import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { NUMBER, useCallApp } from '../test/harness/call-app.ts'
import { useDatabase } from '../test/harness/database.ts'
import { passing } from '../test/harness/passing.ts'
import type { Database } from './platform/db/schema.ts'
import { makeVacuum, type VacuumLimits } from './vacuuming.ts'

const test = useDatabase()
const app = useCallApp(test)

/** Where each statement waits for the one before it, and nothing vacuums by itself. */
const isInside = inject('databaseTemplate').kind === 'embedded'

type Line = { table: string }

type Given = { database?: Database; limits?: VacuumLimits; warned?: Line[] }

function vacuum({ database = test.database, limits, warned = [] }: Given = {}): Promise<void> {
  const log = { warn: (fields: Line) => void warned.push(fields) } as never
  return makeVacuum({ database, log, isStopping: () => false }, limits)()
}

async function bytesOf(table: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_total_relation_size(${table}::regclass)::integer as bytes`.execute(test.db)
  return rows[0]?.bytes ?? Number.NaN
}

/** Notes come and go, and tenants are changed. */
async function churn(): Promise<void> {
  await sql`
    insert into erased_recordings select 'acme', gen_random_uuid(), timestamptz '2030-01-01' + n * interval '1 hour'
      from generate_series(1, 1000) n`.execute(test.db)
  await sql`delete from erased_recordings`.execute(test.db)
  for (let time = 0; time < 4; time += 1) await sql`update tenants set updated_at = updated_at`.execute(test.db)
}

describe.runIf(isInside)('the vacuum of a database inside this process', () => {
  it('keeps tables and indexes as big as they are, however often their rows change and go', async () => {
    await sql`
      insert into tenants select (json_populate_record(one, json_build_object('tenant_id', 'of' || n))).*
        from tenants one, generate_series(1, 100) n where tenant_id = 'acme'`.execute(test.db)
    const sizes: number[][] = []
    for (let round = 0; round < 6; round += 1) {
      await churn()
      sizes.push([await bytesOf('erased_recordings'), await bytesOf('tenants')])
      await vacuum()
    }
    const [settled, last] = [sizes[2] ?? [], sizes[5] ?? []]
    for (const [at, bytes] of last.entries()) expect(bytes / (settled[at] ?? 0)).toBeLessThan(1.2)
  })

  it('is done by the service, again and again', async () => {
    const pages = async () => {
      const { rows } = await sql<{ pages: number }>`
        select relpages as pages from pg_class where relname = 'erased_recordings'`.execute(test.db)
      return rows[0]?.pages
    }
    for (const _time of [1, 2]) {
      await churn()
      // Only who has looked at a table tells its pages.
      await sql`analyze erased_recordings`.execute(test.db)
      expect(await pages()).toBeGreaterThan(0)
      await passing(app.clock, async () => (await pages()) === 0, { what: 'the vacuum', stepMs: 30_000 })
    }
  })

  it('begins with no table while somebody else asks for something', async () => {
    await churn()
    const before = await bytesOf('erased_recordings')
    await vacuum({ database: { ...test.database, isIdle: () => false } })
    expect(await bytesOf('erased_recordings')).toBe(before)
    await vacuum()
    expect(await bytesOf('erased_recordings')).toBeLessThan(before)
  })

  it('leaves bigger tables until no call goes on, and those alone that would take too long', async () => {
    await churn()
    const before = await bytesOf('erased_recordings')
    await app.talk({ CallSid: 'CA1', To: NUMBER })
    const limits = { besideCallsBytes: before - 1, mostBytes: 2 * before }
    await vacuum({ limits })
    expect(await bytesOf('erased_recordings')).toBe(before)
    await test.db
      .updateTable('voice_sessions')
      .set({ ended_at: new Date(app.clock.now()) })
      .execute()
    const warned: Line[] = []
    await vacuum({ limits: { besideCallsBytes: 0, mostBytes: before - 1 }, warned })
    expect(await bytesOf('erased_recordings')).toBe(before)
    expect(warned.map(({ table }) => table)).toContain('erased_recordings')
    await vacuum({ limits })
    expect(await bytesOf('erased_recordings')).toBeLessThan(before)
  })
})
