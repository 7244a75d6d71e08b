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
  return (told) => {
    const address = withoutPort(told)
    if (isIPv4(address)) return ranges.check(address, 'ipv4')
    return isIPv6(address) && ranges.check(address, 'ipv6')
  }
}

function addRange(ranges: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (bits === undefined) ranges.addAddress(address, family)
  else ranges.addSubnet(address, Number(bits), family)
}

/** As some proxies tell an address in X-Forwarded-For: IPv6 in brackets, and the port of the connection behind it. */
const AS_TOLD = /^(?:\[(?<v6>[^\]]*)\]|(?<other>[^:]*))(?::\d{1,5})?$/

function withoutPort(address: string): string {
  const { v6, other } = AS_TOLD.exec(address)?.groups ?? {}
  return v6 ?? other ?? address
}

/**
 * What counts as one client, over whatever port: an IPv4 address, or the /64 of an IPv6 one, because a single host owns all of that. (An IPv4
 * peer of a socket that listens on IPv6 too shows as `::ffff:192.0.2.1`.)
 */
export function addressKey(told: string): string {
  const address = withoutPort(told)
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of an IPv6 address, in whatever form it is written. */
function groupsOf(address: string): number[] {
  const [withoutZone = ''] = address.split('%')
  // A URL writes it without a dotted part and with at most one `::`.
  const [head = '', tail] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [groupsIn(head), groupsIn(tail ?? '')]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function groupsIn(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
