import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { testServer } from './http.fixture.ts'
import { addressKey, makeTrusts, type TrustProxy } from './trust.ts'

describe('makeTrusts', () => {
  it.each<[what: string, setting: TrustProxy, peer: [address: string, hop: number], trusted: boolean]>([
    ['nobody', false, ['127.0.0.1', 0], false],
    ['as many hops as given', 2, ['203.0.113.9', 1], true],
    ['no hop more', 2, ['203.0.113.9', 2], false],
    ['a given address', ['10.0.0.1'], ['10.0.0.1', 5], true],
    ['no other address', ['10.0.0.1'], ['10.0.0.2', 0], false],
    ['what lies in a range', ['10.0.0.0/8'], ['10.255.0.1', 0], true],
    ['an IPv4 address that shows as IPv6', ['10.0.0.0/8'], ['::ffff:10.0.0.1', 0], true],
    ['what lies in a range of IPv6', ['fd00::/8'], ['fd12::1', 0], true],
    ['one that is told with its port', ['10.0.0.0/8'], ['10.0.0.1:4711', 1], true],
    ['one of IPv6 that is told with its port', ['fd00::/8'], ['[fd12::1]:4711', 1], true],
    ['no text that is not an address', ['0.0.0.0/0', '::/0'], ['unknown', 0], false],
    ['no IPv4 address of a range of IPv6', ['fd00::/8'], ['10.0.0.1', 0], false],
    ['no address of IPv6 beside a range of it', ['fd00::/8'], ['2001:db8::1', 0], false],
  ])('trusts %s', (_what, setting, peer, trusted) => {
    expect(makeTrusts(setting)(...peer)).toBe(trusted)
  })

  it.each(['10.0.0.0/33', 'proxy.internal', ''])('refuses the range "%s"', (range) => {
    expect(() => makeTrusts([range])).toThrow()
  })
})

describe('addressKey', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['unknown', 'unknown'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8:1:2::1]:51234', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
    ['2001:DB8:0:0:8::1', '2001:db8:0:0::/64'],
  ])('of %s is %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })

  it('is one for all addresses of a /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16))
    fc.assert(
      fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), (tail) => {
        expect(addressKey(`2001:db8:0:7:${tail.join(':')}`)).toBe('2001:db8:0:7::/64')
      }),
    )
  })
})

describe('a proxy', () => {
  const address = { schema: { response: { 200: Type.Object({ ip: Type.String() }) } } }

  it.each([
    ['none is trusted', false, '203.0.113.9', '127.0.0.1'],
    ['its address is trusted', ['127.0.0.0/8'], '203.0.113.9', '203.0.113.9'],
    ['the client wrote an address before it', ['127.0.0.0/8'], '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['two are trusted', ['127.0.0.1', '10.0.0.0/8'], '203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['another address is trusted', ['10.0.0.0/8'], '203.0.113.9', '127.0.0.1'],
    ['one hop is trusted', 1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ] as const)(
    'is believed the address of the client only as far as it is trusted: %s',
    async (_what, trust, forwarded, ip) => {
      const { server } = testServer({ trustProxy: typeof trust === 'object' ? [...trust] : trust })
      server.get('/ip', address, async (request) => ({ ip: request.ip }))
      const answer = await server.inject({
        url: '/ip',
        headers: { 'x-forwarded-for': forwarded },
        remoteAddress: '127.0.0.1',
      })
      expect(answer.json()).toEqual({ ip })
    },
  )
})
