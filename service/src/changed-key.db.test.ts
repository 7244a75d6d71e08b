import { expect, inject, it } from 'vitest'
import { useDatabase } from '../test/harness/database.ts'
import { makeNumberErasures } from './calls/erasing/erase-number.ts'
import { contextOf } from './calls/erasing/erasing-number.ts'
import { renewing, takeSealingKey } from './changed-key.ts'
import { THE_SYSTEM } from './kernel/actor.ts'
import { systemClock } from './kernel/clock.ts'
import type { TenantId } from './kernel/ids.ts'
import type { PhoneNumber } from './kernel/phone.ts'
import { makeSealer, type Sealer } from './kernel/seal.ts'
import { openSecrets } from './tenancy/tenant-secrets.ts'
import { findStoredTenant, lockTenant } from './tenancy/tenant-store.ts'
import { makeTenants } from './tenancy/tenants.ts'

const test = useDatabase()
const ACME = 'acme' as TenantId
const SECRET = 'a-token-of-the-carrier'
const NUMBER = '+12025550141' as PhoneNumber
const former = makeSealer(Buffer.alloc(32, 1))
const present = makeSealer(Buffer.alloc(32, 2))
const both = makeSealer(Buffer.alloc(32, 2), former)

function startedWith(sealer: Sealer, formerSealer: Sealer | null) {
  const lines: object[] = []
  const log = { info: (fields: object) => lines.push(fields), error: (fields: object) => lines.push(fields) }
  // Sound: nothing else of them is asked for.
  const given = { database: { db: test.db }, sealer, formerSealer, log } as never
  return { lines, start: () => takeSealingKey(given), again: renewing(given).map(({ run }) => run) }
}

function writtenWith(sealer: Sealer, tenantId: TenantId) {
  const deps = { db: test.db, clock: systemClock, sealer, defaultTelephonyToken: false, onChange() {} }
  const telephony = { account_sid: 'AC1', auth_token: SECRET }
  return makeTenants(deps).put(tenantId, { tenant_id: tenantId, telephony }, {}, THE_SYSTEM)
}

async function openedWith(sealer: Sealer, tenantId: TenantId) {
  const stored = await findStoredTenant(test.db, tenantId)
  return stored && { etag: stored.etag, token: openSecrets(stored.document, sealer).telephony?.auth_token }
}

it('has all that is sealed open with the new key alone, once it was started with both, and calls nothing of it changed', async () => {
  await startedWith(former, null).start()
  const { etag } = await writtenWith(former, ACME)
  const erasing = { goOn: async () => {} }
  const erasures = makeNumberErasures({ db: test.db, clock: systemClock, sealer: former, erasing })
  const { id } = await erasures.request(ACME, NUMBER, { kind: 'key', name: 'API key' })

  const { start, lines } = startedWith(both, former)
  await start()
  await start()
  expect(lines).toEqual([{ tenants: 1, numbers: 1 }])
  expect(await openedWith(present, ACME)).toEqual({ etag, token: SECRET })
  const [row] = await test.db.selectFrom('number_erasures').select('phone_sealed').execute()
  expect(present.open(row?.phone_sealed ?? '', contextOf(ACME, id))).toBe(NUMBER)
  await startedWith(present, null).start()
  expect((await writtenWith(present, ACME)).etag).toBe(etag)
  await expect(startedWith(former, null).start()).rejects.toMatchObject({ code: 'unavailable' })
})

it('starts all the same when something is sealed with a key that is neither, which it tells of', async () => {
  await startedWith(former, null).start()
  await writtenWith(makeSealer(Buffer.alloc(32, 9)), 'abandoned' as TenantId)
  await writtenWith(former, ACME)
  const { start, lines } = startedWith(both, former)
  await start()
  expect(lines).toEqual([
    { tenant_id: 'abandoned', err: expect.any(Error) },
    { tenants: 1, numbers: 0 },
  ])
  expect((await openedWith(present, ACME))?.token).toBe(SECRET)
})

it('changes nothing yet where the key of the database comes first', async () => {
  await startedWith(former, null).start()
  await writtenWith(former, ACME)
  await startedWith(makeSealer(Buffer.alloc(32, 1), present), present).start()
  expect((await openedWith(former, ACME))?.token).toBe(SECRET)
})

it('seals what a node with the former key first has written since, by itself', async () => {
  await startedWith(former, null).start()
  const { start, again } = startedWith(both, former)
  await start()
  await writtenWith(former, ACME)
  // Of a node that is to be replaced: the key of the database is another one by now.
  for (const run of startedWith(makeSealer(Buffer.alloc(32, 1), present), present).again) await run()
  for (const run of again) await run()
  expect((await openedWith(present, ACME))?.token).toBe(SECRET)
  expect(startedWith(present, null).again).toEqual([])
})

it.runIf(inject('databaseTemplate').kind === 'server')(
  'waits for nobody where there is nothing to seal anew',
  async () => {
    await startedWith(former, null).start()
    const { start, again } = startedWith(both, former)
    await writtenWith(former, ACME)
    await start()
    const other = await test.anotherNode()
    await other.db.transaction().execute(async (tx) => {
      await lockTenant(tx, ACME)
      for (const run of again) await run()
    })
  },
)
