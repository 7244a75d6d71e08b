import { BlockList, isIP } from 'node:net'
import type { Config } from './config.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Where the service is on this machine, whatever it is called outside. */
export function localAddress({ port }: Pick<Config, 'port'>): string {
  return `http://localhost:${port}`
}

/** The base address that the service goes by when PUBLIC_URL says nothing else. */
export function publicAddress(config: Pick<Config, 'publicUrl' | 'port'>): string {
  return config.publicUrl ?? localAddress(config)
}

/**
 * Why the carrier cannot use the public address, as a sentence that says what to do; null when it can.
 *
 * Streams need TLS, and a carrier on the internet reaches no loopback address. Only a carrier that runs on this machine, as the
 * simulator does, takes a plain one.
 */
export function publicAddressFault(config: Pick<Config, 'publicUrl' | 'port' | 'telephonyApiUrl'>): string | null {
  const { protocol, hostname } = new URL(publicAddress(config))
  if (isLoopback(hostname)) {
    if (isLoopback(new URL(config.telephonyApiUrl).hostname)) return null
    const named = config.publicUrl === null ? 'PUBLIC_URL is not set' : `PUBLIC_URL is ${config.publicUrl}`
    return `${named}: the carrier cannot reach this machine by that. Set it to the https address of your tunnel or proxy.`
  }
  if (protocol === 'https:') return null
  return `PUBLIC_URL is ${config.publicUrl}: the carrier opens streams with TLS only. Set it to the https address.`
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true
  const address = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
