import { TwimlError } from './verbs.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * The address that the carrier opens for a `<Stream url>`: absolute, without its query string and fragment, which the
 * carrier strips. Plain `ws` is taken for this machine alone, where there is no certificate to be had.
 * @throws TwimlError 31922 for another scheme, 31923 for what is no address
 */
export function streamAddress(url: string, documentUrl: string): string {
  const address = resolve(url, documentUrl)
  if (address.protocol !== 'wss:' && !(address.protocol === 'ws:' && LOOPBACK.test(address.hostname))) {
    throw new TwimlError(31922, `the stream's address has the scheme ${address.protocol} and needs wss:`)
  }
  // The text as it was written is what is requested and signed: a parsed address may differ from it by a slash.
  return /^wss?:/i.test(url) ? url.replace(/[?#].*$/s, '') : `${address.origin}${address.pathname}`
}

function resolve(url: string, documentUrl: string): URL {
  const base = documentUrl.replace(/^http/i, 'ws')
  const address = URL.canParse(url) ? new URL(url) : URL.canParse(url, base) ? new URL(url, base) : null
  if (!address) throw new TwimlError(31923, 'the stream has no valid address')
  return address
}
