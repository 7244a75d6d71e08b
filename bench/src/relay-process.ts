import type { AddressInfo } from 'node:net'

/** A relay that listens: what it needs to be found, and to be stopped. */
export type Relay = { address(): string | AddressInfo | null; close(): unknown }

/** Starts a relay to the model at `modelUrl` and resolves once it listens on a free loopback port. */
export type StartRelay = (modelUrl: string) => Promise<Relay>

/** Where a listening relay takes calls. */
export function relayUrl(relay: Relay): string {
  return `ws://127.0.0.1:${(relay.address() as AddressInfo).port}/media-stream`
}

/** Runs a relay as a process: the model's address is its argument, its own address its first line; it ends with its input. */
export async function runRelay(start: StartRelay): Promise<void> {
  const modelUrl = process.argv[2]
  if (modelUrl === undefined) throw new Error('usage: <model url>')
  const relay = await start(modelUrl)
  process.stdout.write(`${relayUrl(relay)}\n`)
  process.stdin.on('close', () => process.exit(0)).resume()
  process.on('SIGTERM', () => process.exit(0))
}
