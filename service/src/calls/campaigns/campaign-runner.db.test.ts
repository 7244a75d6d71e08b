import { sql } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { toAppError } from '../../platform/db/errors.ts'
import { makeLog } from '../../platform/log.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import { makeCampaignRunner } from './campaign-runner.ts'
import type { CampaignId } from './campaign-store.ts'

const test = useDatabase()

type Asked = { tenant: TenantId; campaign: string }

/** Runs a campaign of each of these tenants, of which the first is the longest due, and says which were asked for. */
async function running(clock: TestClock, tenants: string[], isHeld: (of: Asked) => boolean): Promise<Asked[]> {
  for (const tenantId of new Set(tenants)) await makeTenant(test.db, tenantId)
  const names = new Map<CampaignId, string>()
  for (const [nth, tenantId] of tenants.entries()) {
    const at = new Date(clock.now() - 10 + nth)
    const id = newId<CampaignId>(at.getTime())
    names.set(id, `${nth}`)
    await sql`
      insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                             next_dial_at, created_at, updated_at)
      values (${tenantId}, ${id}, 'Spring', 'desk', 'running', 1, 1, 1, '{1}', ${at}, ${at}, ${at})`.execute(test.db)
  }
  const asked: Asked[] = []
  const runner = makeCampaignRunner({
    ...{ db: test.db, clock, log: makeLog({ level: 'silent', secrets: [] }), settle: async () => {} },
    tenants: { get: async (id) => tenantTold(id) },
    hasRoom: async () => true,
    claimNext: async ({ tenant_id }, { id }) => {
      const of = { tenant: tenant_id, campaign: names.get(id) ?? '' }
      asked.push(of)
      if (isHeld(of)) throw toAppError(Object.assign(new pg.DatabaseError('', 0, 'error'), { code: '55P03' }))
      return null
    },
    dialContact: async () => {},
  })
  onTestFinished(() => runner.close())
  runner.start()
  await clock.advance(0)
  return asked
}

it('waits once for a tenant whose rows are held, however many campaigns it runs, so that others are called for', async () => {
  const asked = await running(new TestClock(), ['acme', 'acme', 'acme', 'other'], ({ tenant }) => tenant === 'acme')
  await until(() => asked.some(({ tenant }) => tenant === 'other'), { what: 'the campaign of the other tenant' })
  expect(asked.map(({ tenant }) => tenant)).toEqual(['acme', 'other'])
})

it("works on a tenant's other campaigns while one of which the rows are held stays so, and on that again", async () => {
  const clock = new TestClock()
  const asked = await running(clock, ['acme', 'acme'], ({ campaign }) => campaign === '0')
  const askedFor = (wanted: string) => asked.filter(({ campaign }) => campaign === wanted).length
  const pass = async (what: string, isSo: () => boolean) => {
    await until(
      async () => {
        if (isSo()) return true
        await clock.advance(500)
        return false
      },
      { what },
    )
  }
  await pass('the other campaign', () => askedFor('1') > 0)
  await pass('the held one again', () => askedFor('0') > 1)
})
