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

  it('forgets what the database says is not good', () => {
    const lately = new Lately<string>(new TestClock())
    lately.note('hash', 'acme', lately.begin())
    lately.note('hash', null, lately.begin())
    expect(lately.get('hash')).toBeNull()
  })
})
