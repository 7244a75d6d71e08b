import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { WireRequest } from './requests.ts'

/** An answer as it came; `ms` from the request to the last of its bytes. */
export type WireAnswer = { status: number; headers: IncomingMessage['headers']; text: string; ms: number }

/** Nothing of ours takes so long. */
const GIVE_UP_MS = 20_000

/** Sends requests as they are, over a few connections; whoever makes it closes it. */
export class Sender {
  readonly #address: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 6 })

  /** @param address as `http://127.0.0.1:…`. */
  constructor(address: string) {
    this.#address = new URL(address)
  }

  /** Of a stream only the head is awaited. @throws Error when there is no answer. */
  send({ method, path, headers, body }: WireRequest, credentials: Record<string, string>): Promise<WireAnswer> {
    const startedMs = performance.now()
    const { hostname, port } = this.#address
    // What is sent on purpose goes before what is right.
    const sent = {
      ...credentials,
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    }
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { hostname, port, method, path, headers: sent, agent: this.#agent, timeout: GIVE_UP_MS },
        (response) => {
          const chunks: Buffer[] = []
          const answer = () => {
            const text = Buffer.concat(chunks).toString()
            const ms = performance.now() - startedMs
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text, ms })
          }
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', answer)
          response.on('error', answer)
          if (!response.headers['content-type']?.startsWith('text/event-stream')) return
          answer()
          response.destroy()
        },
      )
      request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path} in ${GIVE_UP_MS} ms`)))
      request.on('error', reject)
      request.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
