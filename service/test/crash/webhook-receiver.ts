import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Trap } from './moments.ts'

/** What came under one `webhook-id`: how often, and as which bodies; more than one of these is a fault. */
export type Delivered = { times: number; bodies: Set<string> }

/** Takes webhooks, outlives every service that sends them, and counts. */
export type WebhookReceiver = {
  url: string
  /** By the id. */
  delivered: ReadonlyMap<string, Delivered>
  /** How many came again, which is allowed, since this was asked for the last time. */
  takeRepeats(): number
  close(): Promise<void>
}

/** Starts one on a free port. It shows the trap each delivery before it counts it, and before it answers. */
export async function startWebhookReceiver(trap: Trap): Promise<WebhookReceiver> {
  const delivered = new Map<string, Delivered>()
  let repeats = 0
  const note = (id: string, body: Buffer): void => {
    const { times, bodies } = delivered.get(id) ?? { times: 0, bodies: new Set<string>() }
    if (times > 0) repeats += 1
    delivered.set(id, { times: times + 1, bodies: bodies.add(createHash('sha256').update(body).digest('hex')) })
  }
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = 'POST', url: path = '/' } = request
    const moment = { where: 'webhook' as const, method, path }
    if (trap.reach({ ...moment, when: 'before' })) return void response.destroy()
    note(String(request.headers['webhook-id']), Buffer.concat(chunks))
    if (trap.reach({ ...moment, when: 'after' })) return void response.destroy()
    response.writeHead(204).end()
  }
  // A service that is killed in the middle of a delivery breaks its connection.
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    delivered,
    takeRepeats() {
      const taken = repeats
      repeats = 0
      return taken
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
