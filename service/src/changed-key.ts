import { renewNumbers } from './calls/erasing/erasing-number.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import type { ScheduledWork } from './schedule.ts'
import { expectSealingKey, isSealingKey, noteSealingKey, renewTenants } from './tenancy/sealing-key.ts'

type Sealing = Pick<Deps, 'database' | 'sealer' | 'formerSealer' | 'log'>

/**
 * Makes sure that the keys open what is sealed in the database, and has ENCRYPTION_KEY become the one of the database where ENCRYPTION_KEY_PREVIOUS
 * still is: behind all that is sealed, so that a start that is killed in the middle of it is gone on with by the next one.
 *
 * @throws AppError `unavailable` for keys of another database.
 */
export async function takeSealingKey({ database: { db }, sealer, formerSealer, log }: Sealing): Promise<void> {
  await expectSealingKey(db, sealer, formerSealer)
  if (!formerSealer) return
  await renewAll({ database: { db }, sealer, log })
  await noteSealingKey(db, sealer)
}

/** While keys are changed: nodes that have the former key first go on sealing with it until they are replaced. */
export function renewing({ database, sealer, formerSealer, log }: Sealing): ScheduledWork[] {
  if (!formerSealer) return []
  const run = async () => {
    if (await isSealingKey(database.db, sealer)) await renewAll({ database, sealer, log })
  }
  return [{ name: 'secrets of the former key', hasEndpoint: false, run }]
}

type Renewing = Pick<Sealing, 'sealer' | 'log'> & { database: Pick<Deps['database'], 'db'> }

async function renewAll({ database: { db }, sealer, log }: Renewing) {
  const unopened = (tenantId: TenantId, err: unknown) =>
    log.error({ tenant_id: tenantId, err }, 'what is sealed of a tenant opens with neither key: it stays as it is')
  const tenants = await renewTenants(db, sealer, unopened)
  const numbers = await renewNumbers(db, sealer, unopened)
  if (tenants + numbers > 0)
    log.info({ tenants, numbers }, 'what the former key had sealed is sealed with the present one')
}
