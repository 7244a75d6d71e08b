import { BlockList, isIP } from 'node:net'

/**
 * What an address is to us. `private`: inside some network, to be reached only where the operator allows it. `never`: the
 * machine's own doors to its cloud, addresses that stand for others, and those that lead nowhere.
 */
export type AddressClass = 'public' | 'private' | 'never'

type Range = [net: string, bits: number]

/** https://www.iana.org/assignments/iana-ipv4-special-registry, with the metadata services of clouds that lie elsewhere. */
const PRIVATE_V4: Range[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
]
const NEVER_V4: Range[] = [
  ['0.0.0.0', 8],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Of IPv6 only global unicast is public, less what is set apart in it: Teredo, documentation, 6to4 and the like. */
const GLOBAL_V6: Range[] = [['2000::', 3]]
const PRIVATE_V6: Range[] = [
  ['::1', 128],
  ['fc00::', 7],
]
const NEVER_V6: Range[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
]

const [privateV4, neverV4] = [listOf(PRIVATE_V4, 'ipv4'), listOf(NEVER_V4, 'ipv4')]
const [globalV6, privateV6, neverV6] = [listOf(GLOBAL_V6, 'ipv6'), listOf(PRIVATE_V6, 'ipv6'), listOf(NEVER_V6, 'ipv6')]

/** Tells the class of an IP address in its usual spelling; what is no address, or has a zone, is `never`. */
export function addressClass(address: string): AddressClass {
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 4) return classIn(neverV4.check(address), privateV4.check(address), true)
  if (family === 6) {
    const is = (list: BlockList) => list.check(address, 'ipv6')
    return classIn(is(neverV6), is(privateV6), is(globalV6))
  }
  return 'never'
}

function classIn(isNever: boolean, isPrivate: boolean, isGlobal: boolean): AddressClass {
  if (isNever) return 'never'
  if (isPrivate) return 'private'
  return isGlobal ? 'public' : 'never'
}

function listOf(ranges: Range[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [net, bits] of ranges) list.addSubnet(net, bits, family)
  return list
}
