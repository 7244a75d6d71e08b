import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { type ApiKeyId, newId, type TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { sha256 } from '../kernel/seal.ts'
import { openServer } from '../platform/db/server.ts'
import { makeLog } from '../platform/log.ts'
import { mintApiKey } from './api-key-token.ts'
import { type ApiKeys, makeApiKeys } from './api-keys.ts'
import { type Credentials, makeCredentials } from './credentials.ts'

const LEGACY_TOKEN = 'a legacy token of acme'.replaceAll(' ', '-')

const test = useDatabase()
const clock = new TestClock()
const opened: Credentials[] = []
let lines: string[] = []

afterEach(async () => {
  for (const credentials of opened.splice(0)) await credentials.close()
  lines = []
})

/** The credentials and keys of one node. */
function node({ legacyEnabled = true } = {}): { credentials: Credentials; keys: ApiKeys } {
  const log = makeLog({ level: 'debug', secrets: [], destination: { write: (line) => lines.push(line) } })
  const credentials = makeCredentials({ db: test.db, clock, log, legacyEnabled })
  opened.push(credentials)
  const keys = makeApiKeys({ db: test.db, clock, onRevoked: (tenantId) => credentials.forget(tenantId) })
  return { credentials, keys }
}

async function lastUse(keys: ApiKeys, tenantId: TenantId): Promise<Date | null> {
  const { rows } = await keys.list(tenantId, readPage({}))
  return rows[0]?.last_used_at ?? null
}

/** Uses the token on a node of its own and waits until all is written. Returns when that was. */
async function useOnce(token: string): Promise<Date> {
  const { credentials } = node()
  await credentials.findTenant(token)
  await credentials.close()
  return new Date(clock.now())
}

/** As many keys as that, all at once: to make each as the service does takes a slow machine as long as a test may. */
async function storeKeys(tenantId: TenantId, count: number): Promise<string[]> {
  const at = clock.now()
  const keys = Array.from({ length: count }, () => ({ ...mintApiKey(), id: newId<ApiKeyId>(at) }))
  const of = { tenant_id: tenantId, label: 'shop', created_at: new Date(at), last_used_at: null, revoked_at: null }
  await test.db
    .insertInto('api_keys')
    .values(
      keys.map(({ id, keyPrefix, secretHash }) => ({ ...of, id, key_prefix: keyPrefix, secret_hash: secretHash })),
    )
    .execute()
  await test.db
    .insertInto('api_key_prefixes')
    .values(keys.map(({ id, keyPrefix }) => ({ tenant_id: tenantId, key_prefix: keyPrefix, key_id: id })))
    .execute()
  return keys.map(({ token }) => token)
}

describe('findTenant', () => {
  it('knows the tenant of an API key', async () => {
    const acme = await makeTenant(test.db, 'acme')
    await makeTenant(test.db, 'globex')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    expect(await credentials.findTenant(token)).toEqual({ tenantId: 'acme' })
  })

  it('knows a key that was made a moment after it was first tried', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    const prefixes = await test.db.deleteFrom('api_key_prefixes').returningAll().execute()
    expect(await credentials.findTenant(token)).toBeNull()
    await test.db.insertInto('api_key_prefixes').values(prefixes).execute()
    expect(await credentials.findTenant(token)).not.toBeNull()
  })

  it('refuses a token of which all but the last character is right', async () => {
    const { credentials, keys } = node()
    const { token } = await keys.create(await makeTenant(test.db, 'acme'), 'shop', THE_SYSTEM)
    const last = token.endsWith('A') ? 'B' : 'A'
    expect(await credentials.findTenant(token.slice(0, -1) + last)).toBeNull()
  })

  it('refuses a prefix that belongs to a key with another secret', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const [first, second] = [
      await keys.create(acme, 'first', THE_SYSTEM),
      await keys.create(acme, 'second', THE_SYSTEM),
    ]
    const mixed = first.token.slice(0, 12) + second.token.slice(12)
    expect(await credentials.findTenant(mixed)).toBeNull()
  })

  it('refuses a key that was revoked on this node at once', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token, record } = await keys.create(acme, 'shop', THE_SYSTEM)
    expect(await credentials.findTenant(token)).not.toBeNull()
    await keys.revoke(acme, record.id, THE_SYSTEM)
    expect(await credentials.findTenant(token)).toBeNull()
  })

  it('refuses a key that another node revoked within a second', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const [here, there] = [node(), node()]
    const { token, record } = await there.keys.create(acme, 'shop', THE_SYSTEM)
    expect(await here.credentials.findTenant(token)).not.toBeNull()
    await there.keys.revoke(acme, record.id, THE_SYSTEM)
    await clock.advance(1000)
    expect(await here.credentials.findTenant(token)).toBeNull()
  })

  it('asks the database once for a burst of requests with one key', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    await credentials.findTenant(token)
    await test.db.deleteFrom('api_key_prefixes').execute()
    expect(await credentials.findTenant(token)).toEqual({ tenantId: 'acme' })
  })

  it('knows the tenant of a legacy token', async () => {
    await makeTenant(test.db, 'acme', sha256(LEGACY_TOKEN))
    expect(await node().credentials.findTenant(LEGACY_TOKEN)).toEqual({ tenantId: 'acme' })
  })

  it('refuses legacy tokens where they are turned off, and takes API keys', async () => {
    const acme = await makeTenant(test.db, 'acme', sha256(LEGACY_TOKEN))
    const { credentials, keys } = node({ legacyEnabled: false })
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    expect(await credentials.findTenant(LEGACY_TOKEN)).toBeNull()
    expect(await credentials.findTenant(token)).not.toBeNull()
  })

  it('takes a legacy token that looks like an API key', async () => {
    const token = `pk_abcdefgh_${'x'.repeat(43)}`
    await makeTenant(test.db, 'acme', sha256(token))
    expect(await node().credentials.findTenant(token)).toEqual({ tenantId: 'acme' })
  })

  it.each([
    ['short', 'x'.repeat(15)],
    ['long', 'x'.repeat(201)],
  ])('refuses a token that is too %s, whatever is stored', async (_size, token) => {
    await makeTenant(test.db, 'acme', sha256(token))
    expect(await node().credentials.findTenant(token)).toBeNull()
  })

  it('asks of a crowded address nothing but whether keys are good still', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    const isCrowded = () => false
    await expect(credentials.findTenant(token, { mayAsk: isCrowded })).rejects.toMatchObject({ code: 'rate_limited' })
    await credentials.findTenant(token)
    await clock.advance(1_000)
    expect(await credentials.findTenant(token, { mayAsk: isCrowded })).toMatchObject({ tenantId: 'acme' })
    await expect(credentials.findTenant(LEGACY_TOKEN, { mayAsk: isCrowded })).rejects.toMatchObject({
      code: 'rate_limited',
    })
  })

  it('calls no token wrong when the database cannot be asked', async () => {
    const nowhere = openServer({ url: 'postgres://parley@127.0.0.1:1/none', applicationName: 'parley tests' })
    const log = makeLog({ level: 'silent', secrets: [] })
    const credentials = makeCredentials({ db: nowhere.db, clock, log, legacyEnabled: true })
    try {
      await expect(credentials.findTenant(LEGACY_TOKEN)).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      await nowhere.close()
    }
  })
})

describe('a look whether a key is still good', () => {
  const look = { isLook: true }

  it('asks the database once for a burst of looks, and each half second anew', async () => {
    const { credentials, keys } = node()
    const { token } = await keys.create(await makeTenant(test.db, 'acme'), 'shop', THE_SYSTEM)
    await credentials.findTenant(token, look)
    await test.db.deleteFrom('api_key_prefixes').execute()
    await clock.advance(499)
    expect(await credentials.findTenant(token, look)).not.toBeNull()
    await clock.advance(1)
    expect(await credentials.findTenant(token, look)).toBeNull()
  })

  it('finds a key revoked at once on this node, and within a second on another one', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const [here, there] = [node(), node()]
    const { token, record } = await here.keys.create(acme, 'shop', THE_SYSTEM)
    for (const { credentials } of [here, there]) expect(await credentials.findTenant(token, look)).not.toBeNull()
    await here.keys.revoke(acme, record.id, THE_SYSTEM)
    expect(await here.credentials.findTenant(token, look)).toBeNull()
    await clock.advance(1_000)
    expect(await there.credentials.findTenant(token, look)).toBeNull()
  })

  it('is remembered of a thousand keys at most, however many are looked at', async () => {
    const { credentials } = node()
    const acme = await makeTenant(test.db, 'acme')
    const tokens = await storeKeys(acme, 1_001)
    for (const token of tokens) await credentials.findTenant(token, look)
    await test.db.deleteFrom('api_key_prefixes').execute()
    const [first = '', second = ''] = tokens
    expect(await credentials.findTenant(second, look)).not.toBeNull()
    expect(await credentials.findTenant(first, look)).toBeNull()
  })
})

describe('the last use of an API key', () => {
  it('is noted at most once a minute, whichever node sees it', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)

    const first = await useOnce(token)
    expect(await lastUse(keys, acme)).toEqual(first)
    await clock.advance(59_999)
    await useOnce(token)
    expect(await lastUse(keys, acme)).toEqual(first)
    await clock.advance(1)
    const third = await useOnce(token)
    expect(await lastUse(keys, acme)).toEqual(third)
  })

  it('is not what only looks whether a key is still good, which hides no use that follows', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    expect(await credentials.findTenant(token, { isLook: true })).toEqual({ tenantId: 'acme' })
    expect(await lastUse(keys, acme)).toBeNull()
    await credentials.findTenant(token)
    await credentials.close()
    expect(await lastUse(keys, acme)).toEqual(new Date(clock.now()))
  })

  it('is written for many uses at once', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    await Promise.all(Array.from({ length: 50 }, () => credentials.findTenant(token)))
    await credentials.close()
    expect(await lastUse(keys, acme)).toEqual(new Date(clock.now()))
  })

  it('is stored when the credentials are closed', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    await credentials.findTenant(token)
    await Promise.all([credentials.close(), credentials.close()])
    expect(await lastUse(keys, acme)).toEqual(new Date(clock.now()))
  })

  it('does not matter to the request when it cannot be written, and is tried again', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { credentials, keys } = node()
    const { token } = await keys.create(acme, 'shop', THE_SYSTEM)
    await sql`alter table api_keys add constraint no_use check (last_used_at is null)`.execute(test.db)
    try {
      expect(await credentials.findTenant(token)).toEqual({ tenantId: 'acme' })
      await until(() => lines.some((line) => line.includes('use of an API key not noted')), { what: 'the log line' })
    } finally {
      await sql`alter table api_keys drop constraint no_use`.execute(test.db)
    }
    await clock.advance(1000)
    await credentials.findTenant(token)
    expect(await until(() => lastUse(keys, acme), { what: 'the note' })).toEqual(new Date(clock.now()))
    expect(lines.join('')).not.toContain(token)
  })
})
