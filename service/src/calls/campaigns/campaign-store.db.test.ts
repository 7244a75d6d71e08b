import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { listRunningAcrossTenants } from './campaign-store.ts'

const test = useDatabase()

it('finds the campaigns that run, but for those of a tenant that is deleted and not gone yet', async () => {
  for (const id of ['acme', 'globex']) {
    await makeTenant(test.db, id)
    await sql`
      insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                             next_dial_at, created_at, updated_at)
      values (${id}, gen_random_uuid(), 'Spring', 'desk', 'running', 1, 1, 1, '{1}', now(), now(), now())`.execute(
      test.db,
    )
  }
  const running = async () => (await listRunningAcrossTenants(test.db, 10)).map(({ tenant_id }) => tenant_id).toSorted()
  expect(await running()).toEqual(['acme', 'globex'])
  await sql`update tenants set deleted_at = now() where tenant_id = 'globex'`.execute(test.db)
  expect(await running()).toEqual(['acme'])
})
