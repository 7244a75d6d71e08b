import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { until } from './wait.ts'

/** A request as a receiver gets it. */
export type Received = {
  method: string
  /** With its query, as it was sent. */
  path: string
  headers: IncomingMessage['headers']
  body: string
  atMs: number
}

/** How a receiver answers: with a status, or as one that is at fault. */
export type Behaviour =
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | 'hang'
  | 'drip'
  | 'reset'
  | 'reset after the head'
  | 'endless'
  | 'no http'

/** A receiver of webhooks on this machine. Whoever starts it closes it. */
export type WebhookTarget = {
  url: string
  /** In the order in which they came. */
  received: Received[]
  /** How many requests have come and are not answered. */
  readonly waiting: number
  /** The most that waited at a time. */
  readonly mostWaiting: number
  /** From now on; a list is used up one by one, its last one stays. */
  answer(...behaviours: Behaviour[]): void
  /** Waits for so many requests. */
  receive(count: number): Promise<Received[]>
  close(): Promise<void>
}

type Tls = { key: string; cert: string }

/** Listens on a free port of 127.0.0.1, with TLS where a certificate is given, and answers 204 until it is told otherwise. */
export async function startWebhookTarget(tls?: Tls): Promise<WebhookTarget> {
  const received: Received[] = []
  let behaviours: Behaviour[] = [{ status: 204 }]
  let waiting = 0
  let mostWaiting = 0
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    waiting += 1
    mostWaiting = Math.max(mostWaiting, waiting)
    response.on('close', () => {
      waiting -= 1
    })
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, body: Buffer.concat(chunks).toString(), atMs: performance.now() })
      behave(behaviours.length > 1 ? behaviours.shift() : behaviours[0], request, response)
    })
  }
  const server: Server = tls ? createTlsServer(tls, handle) : createServer(handle)
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    get waiting() {
      return waiting
    },
    get mostWaiting() {
      return mostWaiting
    },
    answer(...next) {
      behaviours = next
    },
    async receive(count) {
      await until(() => received.length >= count, { what: `request ${count} at the target` })
      return received
    },
    async close() {
      server.closeAllConnections()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

function behave(behaviour: Behaviour | undefined, request: IncomingMessage, response: ServerResponse): void {
  if (behaviour === undefined || behaviour === 'hang') return
  if (behaviour === 'reset') request.socket.resetAndDestroy()
  else if (behaviour === 'no http') request.socket.end('What do you want?\r\n\r\n')
  else if (behaviour === 'drip') response.writeHead(200).write('a')
  else if (behaviour === 'reset after the head') {
    response.writeHead(200).write('a', () => request.socket.resetAndDestroy())
  } else if (behaviour === 'endless') pour(response.writeHead(200))
  else response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body)
}

/** Writes until the other side has had enough. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'a')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}
