import { type RawBuilder, sql } from 'kysely'
import { expect, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { CampaignId } from './campaign-store.ts'
import { countBusy, hasOpenContacts } from './contact-store.ts'

const ACME = 'acme' as TenantId
const test = useDatabase()

/** A campaign with three thousand contacts; `status` is that of each, by its place `n`. */
async function listed(status: RawBuilder<unknown>): Promise<CampaignId> {
  await makeTenant(test.db, ACME)
  const id = newId<CampaignId>(0)
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    values ('acme', ${id}, 'Spring', 'desk', 'running', 1, 1, 1, '{1}', now(), now(), now())`.execute(test.db)
  await sql`
    insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at, created_at, updated_at)
    select 'acme', gen_random_uuid(), ${id}, n, '+1202' || lpad(n::text, 7, '0'), '{}', ${status}, 1, now(), now(), now()
      from generate_series(1, 3000) n`.execute(test.db)
  return id
}

it.each(['pending', 'dialing', 'failed'])(
  'finds out whether anybody of a campaign is left without going through the others, the last one being %s',
  async (last) => {
    const id = await listed(sql`case when n = 3000 then ${last} when n % 3 = 0 then 'failed' else 'completed' end`)
    await sql`vacuum analyze campaign_contacts`.execute(test.db)
    const ask = (db: typeof test.db) => db.transaction().execute((tx) => hasOpenContacts(tx, ACME, id))
    expect(await ask(test.db)).toBe(last !== 'failed')
    const plans = await plansOf(test.db, ask)
    for (const { blocks } of plans) expect(blocks).toBeLessThan(20)
  },
)

it('counts who is called, or about to be, without going through who waits', async () => {
  const id = await listed(sql`case when n <= 4 then 'dialing' else 'pending' end`)
  const now = new Date()
  for (const [from, until] of [
    [5, now.getTime() + 60_000],
    [10, now.getTime() - 1],
  ])
    await sql`
      update campaign_contacts set claim_token = gen_random_uuid(), claimed_until = ${new Date(until ?? 0)}
       where position >= ${from} and position < ${from}::integer + 3`.execute(test.db)
  const ask = (db: typeof test.db) => db.transaction().execute((tx) => countBusy(tx, ACME, id, now))
  expect(await ask(test.db)).toBe(7)
  // However little the database has counted.
  for (const statement of [sql`select 1`, sql`vacuum analyze campaign_contacts`]) {
    await statement.execute(test.db)
    for (const { blocks } of await plansOf(test.db, ask)) expect(blocks).toBeLessThan(30)
  }
})
