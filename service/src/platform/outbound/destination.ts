import { isIP } from 'node:net'
import { type AddressClass, addressClass } from './addresses.ts'
import { OutboundFault } from './fault.ts'
import type { Resolve } from './resolve.ts'

/** Where a request may go: connections are made to these addresses and no others, whatever the name leads to later. */
export type Destination = { url: URL; addresses: string[] }

type Options = { resolve: Resolve; allowPrivate: boolean }

/** Names that stand for the machine itself, its network or its cloud, wherever they lead. */
const INNER_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|in-addr\.arpa|ip6\.arpa)$/

/** For whoever tries the service on their own machine, with a webhook or a tool beside it. */
const HOW_TO_ALLOW = 'Private ones may be asked with OUTBOUND_ALLOW_PRIVATE_NETWORKS=true.'

/**
 * Reads and resolves an address. Every address that its name leads to must be one that we may go to: who controls a name
 * could otherwise mix in one of ours.
 *
 * @throws OutboundFault `forbidden` or `unresolved`.
 */
export async function destinationOf(address: string, { resolve, allowPrivate }: Options): Promise<Destination> {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw forbidden('It is no http or https address.')
  if (url.username || url.password) throw forbidden('It holds a user name or password.')
  // Of a name at the root the last dot is dropped, so that certificates and the names below are found.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === '') throw forbidden('It names no host.')
  const addresses = isIP(host) ? [host] : await named(host, { resolve, allowPrivate })
  const allowed: AddressClass[] = allowPrivate ? ['public', 'private'] : ['public']
  if (!addresses.every((each) => allowed.includes(addressClass(each)))) {
    throw forbidden(
      allowPrivate
        ? 'It leads into a reserved network.'
        : `It leads into a private or reserved network. ${HOW_TO_ALLOW}`,
    )
  }
  return { url, addresses }
}

async function named(host: string, { resolve, allowPrivate }: Options): Promise<string[]> {
  if (!allowPrivate && INNER_NAME.test(host)) throw forbidden(`Its name is one of a private network. ${HOW_TO_ALLOW}`)
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw new OutboundFault('unresolved', 'The name of the address cannot be resolved.', { cause })
  })
  if (addresses.length === 0) throw new OutboundFault('unresolved', 'The name of the address leads nowhere.')
  return addresses
}

function forbidden(reason: string): OutboundFault {
  return new OutboundFault('forbidden', `The address is not one that may be asked. ${reason}`)
}
