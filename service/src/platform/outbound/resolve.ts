import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a name. @throws Error when there are none, or they cannot be had in time. */
export type Resolve = (host: string) => Promise<string[]>

const TIMEOUT_MS = 2_000
const TRIES = 2

/** The name servers did answer, or there are none: what the machine itself knows, as in its hosts file, may say more. */
const MAY_BE_LOCAL = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'EBADNAME'])

/**
 * Asks the name servers without the threads that files are written by: a name whose servers are silent would hold them up for
 * everybody. Only names that they do not know are looked for on the machine.
 */
export function makeResolve(): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  return async (host) => {
    const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    if (addresses.length > 0) return addresses
    for (const each of asked) {
      if (each.status === 'rejected' && !MAY_BE_LOCAL.has(codeOf(each.reason))) throw each.reason
    }
    return (await lookup(host, { all: true })).map(({ address }) => address)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
