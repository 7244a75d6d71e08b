import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { isLostToAnother } from '../../platform/db/errors.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import type { CampaignId } from './campaign-store.ts'
import { makeCampaigns } from './campaigns.ts'
import { type ContactId, insertContacts } from './contact-store.ts'

const ACME = 'acme' as TenantId
const test = useDatabase()
const clock = new TestClock()

/** A campaign that runs, with two contacts. */
async function running(): Promise<CampaignId> {
  const now = new Date(clock.now())
  const campaignId = newId<CampaignId>(now.getTime())
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    values (${ACME}, ${campaignId}, 'Spring', 'desk', 'running', 1, 1, 1, '{1}', ${now}, ${now}, ${now})`.execute(
    test.db,
  )
  const contacts = [1, 2].map((position) => ({
    ...{ id: newId<ContactId>(now.getTime()), position, metadata: {} },
    phone: `+1202555010${position}` as PhoneNumber,
  }))
  await test.db.transaction().execute((tx) => insertContacts(tx, ACME, { campaignId, contacts, now }))
  return campaignId
}

// The embedded database has one transaction at a time.
it.runIf(inject('databaseTemplate').kind === 'server')(
  'cancels a campaign at the second try when the first one got into somebody who changes its contacts in another order',
  async () => {
    await makeTenant(test.db, ACME)
    const tenants = { get: async (id: TenantId) => tenantTold(id) }
    const campaigns = makeCampaigns({ db: test.db, clock, tenants, resolveAgent: async () => null })
    const id = await running()
    const other = await test.anotherNode()
    const isWaiting = async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
      return rows.length > 0
    }
    const cancelled: Promise<string>[] = []
    const inOtherOrder = other.db.transaction().execute(async (tx) => {
      await sql`select from campaign_contacts where position = 2 for update`.execute(tx)
      cancelled.push(campaigns.move(ACME, id, 'cancel').then(({ campaign }) => campaign.status))
      await until(isWaiting, { what: 'the cancellation to wait for the second contact' })
      // Whoever has waited for a second is ended by the database: the cancellation, unless this machine is very slow.
      await sql`select from campaign_contacts where position = 1 for update`.execute(tx)
    })
    await inOtherOrder.catch((error: unknown) => expect(isLostToAnother(error)).toBe(true))
    expect(await Promise.all(cancelled)).toEqual(['cancelled'])
  },
)
