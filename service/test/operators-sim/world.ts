import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CarrierRest, startCarrierRest } from '../harness/carrier-rest.ts'
import { ACCOUNT } from '../harness/served-app.ts'

/** What the receivers of webhooks have seen of an event. */
export type SeenEvent = { bodies: Set<string>; accepted: number }

/** A call that the carrier has taken. */
export type TakenCall = {
  sid: string
  form: Record<string, string>
  status: string
  takenMs: number
  isTold: boolean
}

/** What is around the service: it fails at random. */
export type World = {
  webhookUrl(tenant: string): string
  ticketUrl: string
  carrierUrl: string
  /** By `webhook-id`. */
  events: Map<string, SeenEvent>
  /** The state of each ticket, by its id. */
  tickets: Map<string, string>
  calls: TakenCall[]
  /** Nothing fails any more but what always does. */
  calm(): void
  close(): Promise<void>
}

/** Its receiver takes events of this kind from nobody. */
export const REFUSED_EVENT = 'callback.task.snoozed'
export const REFUSING_TENANT = 'gamma'

type Chance = () => number

/** Starts all of it on ports of this machine. `now` is the virtual time. */
export async function startWorld(chance: Chance, now: () => number): Promise<World> {
  const events: World['events'] = new Map()
  const tickets: World['tickets'] = new Map()
  const calls: TakenCall[] = []
  let isCalm = false
  const fails = (share: number): boolean => !isCalm && chance() < share

  const webhooks = await listen(async (request, response) => {
    const body = await bodyOf(request)
    const tenant = request.url?.split('/').at(-1)
    const id = String(request.headers['webhook-id'])
    const seen = events.get(id) ?? { bodies: new Set(), accepted: 0 }
    seen.bodies.add(body)
    events.set(id, seen)
    const { event } = JSON.parse(body) as { event: string }
    if (tenant === REFUSING_TENANT && event === REFUSED_EVENT) return void response.writeHead(500).end()
    if (fails(0.04)) return void request.socket.resetAndDestroy()
    // It is heard of again when the service has waited long enough.
    if (fails(0.03)) return
    if (fails(0.05)) return void response.writeHead(429, { 'retry-after': '60' }).end()
    if (fails(0.12)) return void response.writeHead(503).end()
    seen.accepted += 1
    response.writeHead(204).end()
  })

  const ticketing = await listen(async (request, response) => {
    const id = request.url?.split('/').at(-1) ?? ''
    const status = tickets.get(id)
    if (fails(0.05)) return void request.socket.resetAndDestroy()
    if (fails(0.15)) return void response.writeHead(500).end()
    if (status === undefined) return void response.writeHead(404).end('{}')
    const ticket = { id, status, url: `https://tickets.example.com/${id}`, updated_at: new Date(now()).toISOString() }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ticket))
  })

  const carrier = await startCarrierRest()
  carrier.reply = carrierReplies({ calls, fails, now })
  return {
    webhookUrl: (tenant) => `${webhooks.url}/${tenant}`,
    ticketUrl: ticketing.url,
    carrierUrl: carrier.baseUrl,
    events,
    tickets,
    calls,
    calm() {
      isCalm = true
    },
    async close() {
      await Promise.all([webhooks.close(), ticketing.close(), carrier.close()])
    },
  }
}

type CarrierParts = { calls: TakenCall[]; fails: (share: number) => boolean; now: () => number }

function carrierReplies({ calls, fails, now }: CarrierParts): CarrierRest['reply'] {
  const shown = ({ sid, form, status, takenMs }: TakenCall) => ({
    ...{ sid, status, from: form['From'], to: form['To'], duration: status === 'completed' ? '30' : null },
    ...{ answered_by: null, date_created: new Date(takenMs).toUTCString() },
  })
  return ({ method, path, form }) => {
    const { pathname, searchParams } = new URL(path, 'http://carrier.invalid')
    const isList = pathname.endsWith('/Calls.json')
    if (method === 'POST' && isList) {
      if (fails(0.05)) return { status: 429, body: { code: 20429, message: 'Too many requests', status: 429 } }
      if (fails(0.08)) return { status: 500, body: { code: 20500, message: 'Internal error', status: 500 } }
      const call = { sid: `CA${String(calls.length + 1).padStart(32, '0')}`, form, status: 'queued' }
      calls.push({ ...call, takenMs: now(), isTold: false })
      // It was taken, and whoever asked is not told.
      if (fails(0.08)) throw new Error('the connection is cut')
      return { status: 201, body: { sid: call.sid, status: 'queued' } }
    }
    if (fails(0.1)) return { status: 500, body: { code: 20500, message: 'Internal error', status: 500 } }
    if (isList) {
      const wanted = calls.filter(({ form: own }) => own['To'] === searchParams.get('To'))
      return { status: 200, body: { calls: wanted.map(shown) } }
    }
    const call = calls.find(({ sid }) => pathname.endsWith(`/${sid}.json`))
    if (!call) return { status: 404, body: { code: 20404, message: 'Not found', status: 404 } }
    return { status: 200, body: { ...shown(call), account_sid: ACCOUNT.sid } }
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function listen(handle: Handler): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
