import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the service made of its carrier. */
export type CarrierRequest = { method: string; path: string; form: Record<string, string> }

/** What the carrier answers: a status, and its JSON. */
export type CarrierReply = { status: number; body: object }

/** The REST surface of a carrier that says yes to everything, until a test has it say something else. */
export type CarrierRest = {
  baseUrl: string
  requests: CarrierRequest[]
  /** Whether somebody waits for its answer. */
  readonly isAsked: boolean
  /** Asked for each request; a promise that does not settle is a carrier that hangs. */
  reply: (request: CarrierRequest) => CarrierReply | Promise<CarrierReply>
  close(): Promise<void>
}

const YES: CarrierReply = { status: 200, body: {} }

export async function startCarrierRest(): Promise<CarrierRest> {
  const requests: CarrierRequest[] = []
  let open = 0
  const server = createServer((request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
    answerTo(request).then(
      ({ status, body }) => response.writeHead(status).end(JSON.stringify(body)),
      () => response.destroy(),
    )
  })
  const answerTo = async (message: IncomingMessage) => {
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(message)))
    const request = { method: message.method ?? '', path: message.url ?? '', form }
    requests.push(request)
    return rest.reply(request)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const rest: CarrierRest = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get isAsked() {
      return open > 0
    },
    reply: () => YES,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return rest
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
