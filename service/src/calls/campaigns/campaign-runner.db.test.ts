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

it('waits once for a tenant whose rows are held, however many campaigns it runs, so that others are called for', async () => {
  const clock = new TestClock()
  const [acme, other] = ['acme', 'other'] as TenantId[] as [TenantId, TenantId]
  for (const tenantId of [acme, other]) await makeTenant(test.db, tenantId)
  for (const [nth, tenantId] of [acme, acme, acme, other].entries()) {
    const at = new Date(clock.now() - 10 + nth)
    await sql`
      insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                             next_dial_at, created_at, updated_at)
      values (${tenantId}, ${newId<CampaignId>(at.getTime())}, 'Spring', 'desk', 'running', 1, 1, 1, '{1}', ${at}, ${at}, ${at})`.execute(
      test.db,
    )
  }
  const asked: TenantId[] = []
  const runner = makeCampaignRunner({
    ...{ db: test.db, clock, log: makeLog({ level: 'silent', secrets: [] }), settle: async () => {} },
    tenants: { get: async (id) => tenantTold(id) },
    hasRoom: async () => true,
    claimNext: async ({ tenant_id }) => {
      asked.push(tenant_id)
      if (tenant_id === acme) throw toAppError(Object.assign(new pg.DatabaseError('', 0, 'error'), { code: '55P03' }))
      return null
    },
    dialContact: async () => {},
  })
  onTestFinished(() => runner.close())
  runner.start()
  await clock.advance(0)
  await until(() => asked.includes(other), { what: 'the campaign of the other tenant to be worked on' })
  expect(asked).toEqual([acme, other])
})
