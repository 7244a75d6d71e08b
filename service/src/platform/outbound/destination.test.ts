import { describe, expect, it } from 'vitest'
import { ALLOWED, FORBIDDEN, resolveForTests } from './destination.fixture.ts'
import { destinationOf } from './destination.ts'
import { OutboundFault } from './fault.ts'

async function read(address: string, allowPrivate = false): Promise<string[] | string> {
  return destinationOf(address, { resolve: resolveForTests, allowPrivate }).then(
    ({ addresses }) => addresses,
    (error: unknown) => (error instanceof OutboundFault ? error.kind : String(error)),
  )
}

describe('an address of a tenant', () => {
  it('is refused in each of many spellings when it leads anywhere but to the public network', async () => {
    expect(new Set(FORBIDDEN).size).toBeGreaterThanOrEqual(300)
    const passed = await Promise.all(FORBIDDEN.map(async (address) => [address, await read(address)] as const))
    expect(passed.filter(([, result]) => result !== 'forbidden')).toEqual([])
  })

  it.each(ALLOWED)('is asked when it is public: %s', async (address, addresses) => {
    expect(await read(address)).toEqual(addresses)
  })

  it('is told apart from one whose name leads nowhere', async () => {
    expect(await read('https://nobody.example.com/')).toBe('unresolved')
    const resolve = async () => []
    await expect(destinationOf('https://a.example/', { resolve, allowPrivate: true })).rejects.toMatchObject({
      kind: 'unresolved',
    })
  })

  it.each(['http://127.0.0.1:9/', 'http://localhost:9/'])(
    '%s is refused with the setting that allows it',
    async (url) => {
      const refused = destinationOf(url, { resolve: async () => ['127.0.0.1'], allowPrivate: false })
      await expect(refused).rejects.toThrow('OUTBOUND_ALLOW_PRIVATE_NETWORKS=true')
    },
  )

  it('names no setting where none would allow it', async () => {
    const refused = destinationOf('http://169.254.169.254/', { resolve: async () => [], allowPrivate: true })
    await expect(refused).rejects.toThrow(/It leads into a reserved network\.$/)
  })

  it.each([
    ['http://127.0.0.1:9/', ['127.0.0.1']],
    ['http://[::1]/', ['::1']],
    ['http://private.example.com/', ['10.1.2.3']],
    ['http://[fd12::1]/', ['fd12::1']],
  ])('may be private where the operator allows it: %s', async (address, addresses) => {
    expect(await read(address, true)).toEqual(addresses)
  })

  it.each([
    ...['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://100.100.100.200/', 'http://168.63.129.16/'],
    ...[
      'http://0.0.0.0/',
      'http://[::ffff:127.0.0.1]/',
      'http://224.0.0.1/',
      'http://user@127.0.0.1/',
      'ftp://127.0.0.1/',
    ],
  ])('is refused even there when it is a door to the cloud or leads nowhere: %s', async (address) => {
    expect(await read(address, true)).toBe('forbidden')
  })
})
