import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { type Credential, CredentialCache } from './credential-cache.ts'

const acme: Credential = { tenantId: 'acme' as TenantId }
const globex: Credential = { tenantId: 'globex' as TenantId }

describe('CredentialCache', () => {
  it('remembers a credential for half a second', () => {
    const cache = new CredentialCache()
    cache.put('hash', acme, cache.begin(1000))
    expect(cache.get('hash', 1499)).toEqual(acme)
    expect(cache.get('hash', 1500)).toBeNull()
  })

  it('counts that from when the look-up began, not from when it was answered', () => {
    const cache = new CredentialCache()
    const lookUp = cache.begin(1000)
    cache.put('hash', acme, lookUp)
    expect(cache.get('hash', 1600)).toBeNull()
  })

  it('forgets a tenant at once and keeps the others', () => {
    const cache = new CredentialCache()
    cache.put('a', acme, cache.begin(0))
    cache.put('b', globex, cache.begin(0))
    cache.forget(acme.tenantId)
    expect([cache.get('a', 1), cache.get('b', 1)]).toEqual([null, globex])
  })

  it('does not take in what was looked up before a forget and answered after it', () => {
    const cache = new CredentialCache()
    const lookUp = cache.begin(0)
    cache.forget(acme.tenantId)
    cache.put('a', acme, lookUp)
    expect(cache.get('a', 1)).toBeNull()
  })

  it('holds a thousand entries and lets the oldest go', () => {
    const cache = new CredentialCache()
    for (let count = 0; count <= 1000; count += 1) cache.put(`hash ${count}`, acme, cache.begin(0))
    expect(cache.size).toBe(1000)
    expect([cache.get('hash 0', 1), cache.get('hash 1', 1)]).toEqual([null, acme])
  })
})
