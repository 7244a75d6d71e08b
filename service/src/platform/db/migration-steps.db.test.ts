import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { MIGRATIONS } from '../../../test/harness/template.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { migrate } from './migrate.ts'
import { MIGRATION_STEPS } from './migration-steps.ts'
import type { Tx } from './schema.ts'
import { respellTasksAcrossTenants } from './steps/0108-number-spellings.ts'

const test = useDatabase()

/** Lists a number as an earlier version has. */
async function listed(tenant: string, phone: string, reason: string): Promise<void> {
  await sql`insert into do_not_call (tenant_id, id, phone, reason, source, created_at)
            values (${tenant}, gen_random_uuid(), ${phone}, ${reason}, 'import', '2029-01-01')`.execute(test.db)
}

it('an update lists the numbers that were listed with a prefix of their country without it, too', async () => {
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  await listed('acme', '+4402079460000', 'asked')
  await listed('acme', '+330612345678', 'moved')
  await listed('acme', '+33612345678', 'as it is')
  // The 0 of Italy is a part of the number.
  await listed('acme', '+390612345678', 'Rome')
  await listed('globex', '+442079460001', 'theirs')
  const before = test.db.selectFrom('do_not_call').select(['id', 'phone'])
  const ids = (await before.execute()).map(({ id }) => id)
  await test.db.deleteFrom('schema_migrations').where('name', '=', '0108_number_spellings').execute()
  expect(await migrate(test.db, MIGRATIONS, undefined, { steps: MIGRATION_STEPS })).toEqual(['0108_number_spellings'])
  const all = await test.db.selectFrom('do_not_call').selectAll().orderBy('tenant_id').orderBy('phone').execute()
  expect(all.map(({ tenant_id, phone, reason, source }) => [tenant_id, phone, reason, source])).toEqual([
    ['acme', '+330612345678', 'moved', 'import'],
    ['acme', '+33612345678', 'as it is', 'import'],
    ['acme', '+390612345678', 'Rome', 'import'],
    ['acme', '+4402079460000', 'asked', 'import'],
    ['acme', '+442079460000', 'asked', 'import'],
    ['globex', '+442079460001', 'theirs', 'import'],
  ])
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
  expect(all.every(({ created_at }) => created_at.getTime() === Date.parse('2029-01-01T00:00:00Z'))).toBe(true)
})

/** Keeps a task as an earlier version has. */
async function asked(phone: string, status: 'open' | 'completed'): Promise<void> {
  await sql`
    insert into callback_tasks (tenant_id, id, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                dispatch_attempt_count, created_at, updated_at)
    values ('acme', gen_random_uuid(), ${phone}, ${status}, 'normal', 'default', '{}', now(), 0, now(), now())`.execute(
    test.db,
  )
}

it('an update keeps the tasks that are not over with the one spelling of their number', async () => {
  await makeTenant(test.db, 'acme')
  await asked('+4402079460000', 'open')
  await asked('+4402079460001', 'completed')
  await asked('+390612345678', 'open')
  await test.db.deleteFrom('schema_migrations').where('name', '=', '0108_number_spellings').execute()
  await migrate(test.db, MIGRATIONS, undefined, { steps: MIGRATION_STEPS })
  const tasks = await test.db.selectFrom('callback_tasks').select('customer_phone').execute()
  const numbers = tasks.map(({ customer_phone }) => customer_phone)
  expect(numbers.toSorted()).toEqual(['+390612345678', '+4402079460001', '+442079460000'])
})

it('an update goes through all tasks twice at most, however many numbers of them it spells anew', async () => {
  await makeTenant(test.db, 'acme')
  for (let n = 0; n < 20; n += 1) await asked(`+44020794600${10 + n}`, 'open')
  expect(await plansOf(test.db, (db) => respellTasksAcrossTenants(db as Tx))).toHaveLength(2)
  const tasks = await test.db.selectFrom('callback_tasks').select('customer_phone').execute()
  expect(tasks.every(({ customer_phone }) => customer_phone.startsWith('+4420794600'))).toBe(true)
})

it('an update keeps who may be called yet by a campaign with the one spelling of their number, and once', async () => {
  await makeTenant(test.db, 'acme')
  const { rows: campaigns } = await sql<{ id: string }>`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    select 'acme', gen_random_uuid(), 'Autumn', 'desk', 'running', 1, 1, 2, '{30}', now(), now(), now()
      from generate_series(1, 2)
    returning id`.execute(test.db)
  const [first, second] = campaigns.map(({ id }) => id)
  for (const [campaign, phone, status] of [
    [first, '+4402079460000', 'pending'],
    [first, '+4402079460001', 'dialing'],
    [first, '+4402079460002', 'failed'],
    [first, '+390612345678', 'pending'],
    [first, '+4402079460003', 'pending'],
    [first, '+442079460003', 'completed'],
    [second, '+4402079460003', 'pending'],
  ])
    await sql`
      insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at, created_at,
                                     updated_at)
      values ('acme', gen_random_uuid(), ${campaign}, 1, ${phone}, '{}', ${status}, 0, now(), now(), now())`.execute(
      test.db,
    )
  await test.db.deleteFrom('schema_migrations').where('name', '=', '0110_contact_spellings').execute()
  expect(await migrate(test.db, MIGRATIONS, undefined, { steps: MIGRATION_STEPS })).toEqual(['0110_contact_spellings'])
  const contacts = await test.db.selectFrom('campaign_contacts').select(['campaign_id', 'phone', 'status']).execute()
  const of = (id: string | undefined) =>
    contacts.flatMap(({ campaign_id, phone, status }) => (campaign_id === id ? [`${phone} ${status}`] : [])).toSorted()
  expect(of(first)).toEqual([
    ...['+390612345678 pending', '+4402079460002 failed', '+4402079460003 cancelled'],
    ...['+442079460000 pending', '+442079460001 dialing', '+442079460003 completed'],
  ])
  expect(of(second)).toEqual(['+442079460003 pending'])
})
