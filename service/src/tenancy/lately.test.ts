import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { Lately } from './lately.ts'

describe('Lately', () => {
  it('keeps no answer of a look-up that had begun before the credential was revoked', () => {
    const lately = new Lately<string>(new TestClock())
    const begun = lately.begin()
    lately.forget((owner) => owner === 'acme')
    lately.note('hash', 'acme', begun)
    expect(lately.get('hash')).toBeNull()
    lately.note('hash', 'acme', lately.begin())
    expect(lately.get('hash')).toBe('acme')
  })

  it('keeps what is good though that of others is forgotten while it is looked up, and as it is now', () => {
    const lately = new Lately<string>(new TestClock())
    lately.note('hash', 'acme, admin', lately.begin())
    const begun = lately.begin()
    lately.forget((owner) => owner === 'globex')
    lately.forget((_, hash) => hash === 'another')
    lately.note('hash', 'acme, viewer', begun)
    expect(lately.get('hash')).toBe('acme, viewer')
  })

  it('keeps no answer of before, whatever was forgotten in between, and what was found since', () => {
    const lately = new Lately<string>(new TestClock())
    const begun = lately.begin()
    for (const each of ['globex', 'acme', 'initech']) lately.forget((owner) => owner === each)
    lately.note('hash', 'acme', begun)
    expect(lately.get('hash')).toBeNull()
    lately.note('hash', 'acme', lately.begin())
    lately.note('hash', 'acme', begun)
    expect(lately.get('hash')).toBe('acme')
  })

  it('keeps a thousand: the one that was asked for longest ago goes', () => {
    const lately = new Lately<number>(new TestClock())
    for (let owner = 0; owner < 1_000; owner += 1) lately.note(`hash ${owner}`, owner, lately.begin())
    lately.note('hash 0', 0, lately.begin())
    lately.note('one more', 1_000, lately.begin())
    expect(['hash 0', 'hash 1', 'hash 2', 'one more'].map((hash) => lately.get(hash))).toEqual([0, null, 2, 1_000])
  })

  it('forgets what the database says is not good', () => {
    const lately = new Lately<string>(new TestClock())
    lately.note('hash', 'acme', lately.begin())
    lately.note('hash', null, lately.begin())
    expect(lately.get('hash')).toBeNull()
  })
})
