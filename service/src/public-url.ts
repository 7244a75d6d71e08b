import type { Deps } from './deps.ts'
import type { HttpServer } from './platform/http/server.ts'

/** Without a setting it is this machine's own name for itself, with the port that was really taken. */
export function publicUrlOf({ config }: Deps, { server }: HttpServer): string {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  return config.publicUrl ?? `http://localhost:${port}`
}

/** Whether only this machine can reach the address. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
