import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeSealer, sha256 } from '../kernel/seal.ts'
import { makeAdminSessions } from './admin-sessions.ts'
import { makeApiKeys } from './api-keys.ts'
import { makeStanding } from './standing.ts'

const LEGACY_TOKEN = 'pk_a-legacy-token-of-acme'
const ADMIN_KEY = 'ak_a_key_of_the_tests'

const test = useDatabase()
const clock = new TestClock()

const digestOf = (byte: number) => makeSealer(Buffer.alloc(32, byte)).digest

function standing({ legacyEnabled = true, adminKey = ADMIN_KEY, key = 1, formerKey = 0 } = {}) {
  const sessions = makeAdminSessions({ db: test.db, clock, credentials: '' })
  const digests = { digest: digestOf(key), formerDigest: formerKey === 0 ? null : digestOf(formerKey) }
  return makeStanding({ db: test.db, sessions, ...digests, legacyEnabled, adminKey, mayDo: () => true })
}

const of = (tenantId: TenantId) => ({ tenantId, method: 'POST', route: '/', isLook: true })

describe('the standing of a credential', () => {
  it('is that of an API key until it is revoked, and with its own tenant alone', async () => {
    const [acme, other] = [await makeTenant(test.db, 'acme'), await makeTenant(test.db, 'other')]
    const keys = makeApiKeys({ db: test.db, clock, onRevoked: () => {} })
    const { token, record } = await keys.create(acme, 'shop', THE_SYSTEM)
    const { refTo, isGood } = standing()
    const ref = refTo({ kind: 'token', secret: token })
    expect([await isGood(ref, of(acme)), await isGood(ref, of(other))]).toEqual([true, false])
    await keys.revoke(acme, record.id, THE_SYSTEM)
    expect(await isGood(ref, of(acme))).toBe(false)
  })

  it('is that of a legacy token until it is another one, and where such tokens are taken', async () => {
    const acme = await makeTenant(test.db, 'acme', sha256(LEGACY_TOKEN))
    const { refTo, isGood } = standing()
    const ref = refTo({ kind: 'token', secret: LEGACY_TOKEN })
    expect([await isGood(ref, of(acme)), await standing({ legacyEnabled: false }).isGood(ref, of(acme))]).toEqual([
      true,
      false,
    ])
    await test.db
      .updateTable('tenants')
      .set({ auth_token_hash: sha256('another') })
      .execute()
    expect(await isGood(ref, of(acme))).toBe(false)
  })

  it('is told by a name that a node with the other key first has given, while keys are changed', async () => {
    const acme = await makeTenant(test.db, 'acme', sha256(LEGACY_TOKEN))
    const { token } = await makeApiKeys({ db: test.db, clock, onRevoked: () => {} }).create(acme, 'shop', THE_SYSTEM)
    const given = [
      { kind: 'token' as const, secret: token },
      { kind: 'token' as const, secret: LEGACY_TOKEN },
      { kind: 'admin_key' as const, secret: ADMIN_KEY },
    ].map(standing({ key: 1, formerKey: 2 }).refTo)
    const goodAt = (node: ReturnType<typeof standing>) => Promise.all(given.map((ref) => node.isGood(ref, of(acme))))
    expect(await goodAt(standing({ key: 2, formerKey: 1 }))).toEqual([true, true, true])
    expect(await goodAt(standing({ key: 2 }))).toEqual([false, false, false])
  })

  it('is that of the admin key until there is another one', async () => {
    const acme = await makeTenant(test.db, 'acme')
    const { refTo, isGood } = standing()
    const ref = refTo({ kind: 'admin_key', secret: ADMIN_KEY })
    expect([await isGood(ref, of(acme)), await standing({ adminKey: 'another' }).isGood(ref, of(acme))]).toEqual([
      true,
      false,
    ])
  })

  it('is named without what lets in, and is nothing by a name of an unknown kind', async () => {
    const acme = await makeTenant(test.db, 'acme', sha256(LEGACY_TOKEN))
    const { refTo, isGood } = standing()
    for (const kind of ['admin_key', 'session', 'token'] as const) {
      const ref = refTo({ kind, secret: LEGACY_TOKEN })
      for (const telling of [LEGACY_TOKEN, sha256(LEGACY_TOKEN).toString('hex')]) expect(ref).not.toContain(telling)
    }
    expect(await isGood('certificate:1', of(acme))).toBe(false)
  })
})
