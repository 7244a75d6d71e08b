import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Which peers' X-Forwarded-* headers are believed: none, so many hops, or these addresses and CIDR ranges. */
export type TrustProxy = false | number | string[]

/** Whether the peer at `address`, `hop` steps before us (0: it speaks to us itself), is a proxy of ours. */
export type Trusts = (address: string, hop: number) => boolean

/**
 * Makes the question whether a peer is a trusted proxy.
 *
 * With a number of hops every direct peer counts as one: only for a server that nobody but the proxy can reach.
 * @throws Error for a range that is none.
 */
export function makeTrusts(trustProxy: TrustProxy): Trusts {
  if (trustProxy === false) return () => false
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy
  const ranges = new BlockList()
  for (const range of trustProxy) addRange(ranges, range)
  return (address) => {
    const plain = unmapped(address)
    if (isIPv4(plain)) return ranges.check(plain, 'ipv4')
    return isIPv6(plain) && ranges.check(plain, 'ipv6')
  }
}

function addRange(ranges: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (bits === undefined) ranges.addAddress(address, family)
  else ranges.addSubnet(address, Number(bits), family)
}

/** An IPv4 peer of a socket that listens on IPv6 too shows as `::ffff:192.0.2.1`. */
function unmapped(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  return mapped ?? address
}

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 one, because a single host owns all of that. */
export function addressKey(address: string): string {
  const plain = unmapped(address)
  return isIPv6(plain) ? network64(plain) : plain
}

function network64(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
