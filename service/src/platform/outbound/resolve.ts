import { Resolver } from 'node:dns/promises'
import { makeHostsFile } from './hosts-file.ts'

/** All addresses of a name. @throws Error when there are none, or they cannot be had in time. */
export type Resolve = (host: string) => Promise<string[]>

type Options = {
  /** Name servers, as `127.0.0.1:53`. Default: those of this machine. */
  servers?: string[]
  hostsFile?: string
}

const TIMEOUT_MS = 2_000
const TRIES = 2
const HOSTS_FILE = '/etc/hosts'

/** The name servers did answer, or there are none: the machine's hosts file may say more. */
const MAY_BE_LOCAL = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'EBADNAME'])

/**
 * Asks the name servers, and the hosts file for what they do not know.
 *
 * Never `lookup`: it asks them once more, and each of its questions keeps one of the process's few threads until they answer. Who
 * has a name of silent servers could keep all look-ups and all files of everybody waiting.
 */
export function makeResolve({ servers, hostsFile = HOSTS_FILE }: Options = {}): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  const local = makeHostsFile(hostsFile)
  return async (host) => {
    const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    if (addresses.length > 0) return addresses
    const faults = asked.flatMap((each): Error[] => (each.status === 'rejected' ? [each.reason as Error] : []))
    const other = faults.find((fault) => !MAY_BE_LOCAL.has(codeOf(fault)))
    if (other !== undefined) throw other
    const known = await local(host)
    if (known.length === 0) throw faults[0] ?? new Error('the name has no address')
    return known
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
