import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Moment, Trap } from './moments.ts'

/** Stands before an HTTP server. `asked`: every request that was passed on, oldest first. */
export type HttpProxy = {
  url: string
  asked: { method: string; path: string; body: string }[]
  /** Where requests go from now on. */
  pointAt(target: string): void
  close(): Promise<void>
}

/** Starts one on a free port. It shows the trap each request before it is passed on, and when its answer is there. */
export async function startHttpProxy(where: 'carrier' | 'client', trap: Trap): Promise<HttpProxy> {
  const asked: HttpProxy['asked'] = []
  let target = ''
  const server = createServer((incoming, response) => {
    const pass = async (): Promise<void> => {
      const body = await bodyOf(incoming)
      const { method = 'GET', url: path = '/' } = incoming
      const moment = { where, method, path } satisfies Partial<Moment>
      if (trap.reach({ ...moment, when: 'before' })) return void response.destroy()
      asked.push({ method, path, body: body.toString() })
      const answer = await answerOf(target, incoming, body)
      const bytes = await bodyOf(answer)
      if (trap.reach({ ...moment, when: 'after' })) return void response.destroy()
      send(response, answer, bytes)
    }
    pass().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    pointAt(url) {
      target = url
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function answerOf(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url ?? '/', target), { method, headers, agent: false }, resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function send(response: ServerResponse, { statusCode = 502, headers }: IncomingMessage, bytes: Buffer): void {
  // The body is known whole here, however it came.
  const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = headers
  response.writeHead(statusCode, { ...kept, 'content-length': bytes.length }).end(bytes)
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
