import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { sha256 } from '../kernel/seal.ts'
import { type MintedKey, mintApiKey } from './api-key-token.ts'
import { makeApiKeys } from './api-keys.ts'

const test = useDatabase()
const clock = new TestClock()
const revoked: TenantId[] = []

function apiKeys(mint: () => MintedKey = mintApiKey) {
  return makeApiKeys({ db: test.db, clock, onRevoked: (tenantId) => revoked.push(tenantId), mint })
}

describe('API keys', () => {
  it('are stored as a hash and never as the token', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { record, token } = await apiKeys().create(acme, 'shop', THE_SYSTEM)
    const row = await test.db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
    expect(row.secret_hash).toEqual(sha256(token))
    expect(record).toEqual({
      id: row.id,
      key_prefix: token.slice(0, 11),
      label: 'shop',
      created_at: new Date(clock.now()),
      last_used_at: null,
      revoked_at: null,
    })
  })

  it('get another prefix when theirs is taken, by whichever tenant', async () => {
    const [acme, globex] = [await makeTenant(test.db, 'acme'), await makeTenant(test.db, 'globex')]
    const taken = mintApiKey()
    const other = mintApiKey()
    await apiKeys(() => taken).create(acme, 'first', THE_SYSTEM)
    const minted = [taken, taken, other]
    const { token } = await apiKeys(() => minted.shift() ?? other).create(globex, 'second', THE_SYSTEM)
    expect(token).toBe(other.token)
  })

  it('are not half made when no prefix can be had', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const taken = mintApiKey()
    const keys = apiKeys(() => taken)
    await keys.create(acme, 'first', THE_SYSTEM)
    await expect(keys.create(acme, 'second', THE_SYSTEM)).rejects.toThrow('taken')
    expect((await keys.list(acme, readPage({}))).rows).toHaveLength(1)
  })

  it('keep the instant of their revocation when they are revoked again', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const keys = apiKeys()
    const { record } = await keys.create(acme, 'shop', THE_SYSTEM)
    const first = await keys.revoke(acme, record.id, THE_SYSTEM)
    await clock.advance(1000)
    expect(await keys.revoke(acme, record.id, THE_SYSTEM)).toEqual(first)
    expect(first.revoked_at).toEqual(new Date(clock.now() - 1000))
    expect(revoked).toContain(acme)
  })

  it('page newest first, and each once', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const keys = apiKeys()
    for (const label of ['1', '2', '3', '4', '5']) {
      await keys.create(acme, label, THE_SYSTEM)
      await clock.advance(1)
    }
    const labels: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await keys.list(acme, readPage({ limit: 2, ...(cursor && { cursor }) }))
      labels.push(...page.rows.map(({ label }) => label))
      cursor = page.nextCursor
    }
    expect(labels).toEqual(['5', '4', '3', '2', '1'])
  })

  it('go with their tenant, prefix and all', async () => {
    const acme = await makeTenant(test.db, 'acme')
    await apiKeys().create(acme, 'shop', THE_SYSTEM)
    await test.db.deleteFrom('tenants').where('tenant_id', '=', acme).execute()
    expect(await test.db.selectFrom('api_key_prefixes').selectAll().execute()).toEqual([])
  })
})
