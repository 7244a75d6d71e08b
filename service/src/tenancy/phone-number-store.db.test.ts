import { describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { claimNumber, findHolder, type NumberClaim, releaseNumber } from './phone-number-store.ts'
import { holdTenant, lockTenant, removeTenant, writeTenant } from './tenant-store.ts'

const acme = 'acme' as TenantId
const globex = 'globex' as TenantId
const number = '+12025550101' as PhoneNumber

const test = useDatabase()

function transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  return test.db.transaction().execute(work)
}

async function addTenants(): Promise<void> {
  const now = new Date()
  for (const tenantId of [acme, globex]) {
    const write = { document: { tenant_id: tenantId }, etag: '"1"', authTokenHash: null, now }
    await transaction((tx) => writeTenant(tx, tenantId, write))
  }
}

const claim = (tenantId: TenantId, by: NumberClaim) => transaction((tx) => claimNumber(tx, tenantId, number, by))
const release = (tenantId: TenantId, by: NumberClaim) => transaction((tx) => releaseNumber(tx, tenantId, number, by))

describe('the holder of a number', () => {
  it('is nobody, then who claims it, and stays so when they claim it again', async () => {
    await addTenants()
    expect(await findHolder(test.db, number)).toBeNull()
    await claim(acme, 'document')
    await claim(acme, 'document')
    expect(await findHolder(test.db, number)).toBe(acme)
  })

  it('keeps others out, whichever way they claim', async () => {
    await addTenants()
    await claim(acme, 'route')
    await expect(claim(globex, 'route')).rejects.toMatchObject({ code: 'conflict' })
    await expect(claim(globex, 'document')).rejects.toMatchObject({ code: 'conflict' })
    expect(await findHolder(test.db, number)).toBe(acme)
  })

  it('holds it until neither the document nor a route names it', async () => {
    await addTenants()
    await claim(acme, 'document')
    await claim(acme, 'route')
    await release(acme, 'document')
    expect(await findHolder(test.db, number)).toBe(acme)
    await release(acme, 'document')
    expect(await findHolder(test.db, number)).toBe(acme)
    await release(acme, 'route')
    expect(await findHolder(test.db, number)).toBeNull()
    await claim(globex, 'document')
    expect(await findHolder(test.db, number)).toBe(globex)
  })

  it('is not moved by a release from another tenant', async () => {
    await addTenants()
    await claim(acme, 'document')
    await release(globex, 'document')
    expect(await findHolder(test.db, number)).toBe(acme)
  })

  it('gives it up when both claims are released at the same time', async () => {
    await addTenants()
    for (let round = 0; round < 20; round += 1) {
      await claim(acme, 'document')
      await claim(acme, 'route')
      await Promise.all([release(acme, 'document'), release(acme, 'route')])
      expect(await findHolder(test.db, number)).toBeNull()
    }
  })

  it('is one of those who claim it at the same time', async () => {
    await addTenants()
    for (let round = 0; round < 20; round += 1) {
      const claims = await Promise.allSettled([claim(acme, 'document'), claim(globex, 'route')])
      expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      await release(acme, 'document')
      await release(globex, 'route')
    }
  })

  it('takes it along when the tenant is deleted', async () => {
    await addTenants()
    await claim(acme, 'document')
    await transaction((tx) => removeTenant(tx, acme))
    expect(await findHolder(test.db, number)).toBeNull()
  })
})

describe('a tenant that is held', () => {
  it('cannot be deleted before the transaction ends', async () => {
    expect(await transaction((tx) => holdTenant(tx, acme))).toBe(false)
    for (let round = 0; round < 10; round += 1) {
      await addTenants()
      const claiming = Array.from({ length: 4 }, () =>
        transaction(async (tx) => {
          if (!(await holdTenant(tx, acme))) return
          await claimNumber(tx, acme, number, 'route')
          await releaseNumber(tx, acme, number, 'document')
        }),
      )
      // Without the hold a claim meets a tenant that is gone, and the foreign key refuses it.
      await Promise.all([...claiming, transaction((tx) => removeTenant(tx, acme))])
      expect(await findHolder(test.db, number)).toBeNull()
    }
  })

  it('can be locked by one writer at a time, also before it exists', async () => {
    let writing = 0
    await Promise.all(
      Array.from({ length: 5 }, () =>
        transaction(async (tx) => {
          await lockTenant(tx, acme)
          writing += 1
          await holdTenant(tx, acme)
          expect(writing).toBe(1)
          writing -= 1
        }),
      ),
    )
  })
})
