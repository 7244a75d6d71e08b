import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { registeredRoutes } from '../src/platform/http/registered-routes.ts'
import type { SimulationId } from '../src/records/simulations/simulation-store.ts'
import { ROLE_TABLE, routeKey } from '../src/role-table.ts'
import { NUMBER, useCallApp } from './harness/call-app.ts'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'
import type { ApiDocument } from './interface/described-api.ts'
import { type Caller, expectedOf, loggedIn, makeCallers, OTHER, OWN } from './isolation/callers.ts'
import { FreshRows, SIMULATION } from './isolation/fresh-rows.ts'
import { type SoundRequest, soundRequest } from './isolation/sound-requests.ts'

const LEFT = Buffer.alloc(160, 0x80).toString('base64')
/** What ends the session of the browser that asks. */
const LEAVING = ['POST /api/v1/admin/auth/login', 'POST /api/v1/admin/auth/logout']

const test = useDatabase()
const settings: Record<string, string> = {}
let chat: ChatServer
let billing: WebhookTarget
beforeEach(async () => {
  chat = await startChatServer()
  billing = await startWebhookTarget()
  Object.assign(settings, {
    ...{ OPENAI_BASE_URL: chat.baseUrl, OPENAI_API_KEY: 'sk-key-of-the-isolation-tests' },
    ...{ BILLING_WEBHOOK_URL: billing.url, BILLING_WEBHOOK_SECRET: 'secret-of-the-billing-of-the-tests' },
    ...{ OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true', ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: 'a long enough password' },
  })
})
const ALWAYS = { calling_hours: { start: '00:00', end: '24:00' } }
const app = useCallApp(test, { settings, document: { compliance: { ...ALWAYS, record_calls: true } } })
afterEach(async () => {
  await Promise.all([chat.close(), billing.close()])
})

/** A call that was recorded and is over, and one that goes on. */
async function furnished(): Promise<FreshRows> {
  let calls = 0
  app.rest.reply = ({ path, form }) => {
    if (path.includes('/IncomingPhoneNumbers')) return { status: 200, body: numberAtCarrier(path, form) }
    if (form['Status'] === 'canceled') return { status: 200, body: { sid: 'CA-out', status: 'canceled' } }
    if (!path.endsWith('/Calls.json')) return { status: 200, body: {} }
    calls += 1
    return { status: 201, body: { sid: `CA-out-${calls}`, status: 'queued' } }
  }
  await app.served.furnish(OTHER, { number: '+12025550141', document: { compliance: ALWAYS } })
  for (const tenant of [OWN, OTHER]) await setDefaultRoute(tenant)
  const recordedSessionId = await recorded()
  await app.talk({ CallSid: 'CA2' })
  const { agents } = await app.served.administer<{ agents: { id: string }[] }>('GET', `/tenants/${OWN}/agents`)
  const lasting = {
    agentId: agents[0]?.id ?? '',
    streamSid: 'MZCA2',
    callSid: 'CA2',
    recordedSessionId,
    number: NUMBER,
    tool: await makeTool(),
    makeEnded,
    makeSimulation,
  }
  return new FreshRows(app.served, lasting)
}

/** A tool of the tenant, at an address of this test. */
async function makeTool(): Promise<string> {
  const { config } = await app.served.administer<{ config: object }>('GET', `/tenants/${OWN}`)
  const tool = { type: 'http', name: 'price_of', description: 'Tells a price.', parameters: { type: 'object' } }
  const tools = [{ ...tool, method: 'GET', url: billing.url }]
  await app.served.administer('PUT', `/tenants/${OWN}`, { ...config, tools })
  return tool.name
}

/** Every number is the account's, and goes where it is told to. */
function numberAtCarrier(path: string, form: Record<string, string>): object {
  const [, asked] = /PhoneNumber=(.*)$/.exec(path) ?? []
  const phone_number = decodeURIComponent(asked ?? '')
  if (asked !== undefined) return { incoming_phone_numbers: [{ sid: 'PN1', phone_number }] }
  const { VoiceUrl: voice_url, VoiceFallbackUrl: voice_fallback_url, StatusCallback: status_callback } = form
  const methods = { voice_method: 'POST', voice_fallback_method: 'POST', status_callback_method: 'POST' }
  return { sid: 'PN1', phone_number, voice_url, voice_fallback_url, status_callback, ...methods }
}

let ended = 0

/** The session of a call that nobody took, which is over. */
async function makeEnded(): Promise<string> {
  ended += 1
  const form = { CallSid: `CA-ended-${ended}`, AccountSid: ACCOUNT.sid, CallStatus: 'completed' }
  await app.ring({ CallSid: form.CallSid })
  await app.post('/api/v1/call-status', { form })
  const over = { ended_at: new Date(app.clock.now()), end_reason: 'caller_hangup' as const }
  const sessions = test.db.updateTable('voice_sessions').set(over).where('call_sid', '=', form.CallSid)
  return (await sessions.returning('id').executeTakeFirstOrThrow()).id
}

/** A simulation that could still be cancelled. */
async function makeSimulation(): Promise<{ id: string; runId: string }> {
  type Made = { simulation: { id: string; status: string; runs: { id: string }[] } }
  // A tenant may not have many of them.
  await test.db.updateTable('simulations').set({ status: 'completed' }).where('status', '=', 'running').execute()
  const { body } = await app.served.call<Made>(OWN, 'POST', '/simulations', SIMULATION)
  const { id, runs } = body.simulation
  await app.pass(async () => {
    const { simulation } = (await app.served.call<Made>(OWN, 'GET', `/simulations/${id}`)).body
    return simulation.status === 'completed'
  }, 'the simulation')
  const open = { status: 'running' as const, completed_at: null }
  await test.db
    .updateTable('simulations')
    .set(open)
    .where('id', '=', id as SimulationId)
    .execute()
  return { id, runId: runs[0]?.id ?? '' }
}

async function setDefaultRoute(tenant: string): Promise<void> {
  type List = { phone_routes: { id: string; phone_number: string }[] }
  const { phone_routes: routes } = await app.served.administer<List>('GET', `/tenants/${tenant}/phone-routes`)
  const [route] = routes
  const body = { phone_number: route?.phone_number, agent_key: 'desk', outbound_default: true }
  await app.served.administer('PUT', `/tenants/${tenant}/phone-routes/${route?.id}`, body)
}

async function recorded(): Promise<string> {
  const client = await app.talk({ CallSid: 'CA1' })
  for (let frame = 0; frame < 50; frame += 1) {
    await app.clock.advance(20)
    client.media(LEFT, 'MZCA1')
  }
  client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
  type List = { voice_sessions: { id: string; recording_url: string | null }[] }
  return app.pass(async () => {
    const { body } = await app.served.call<List>(OWN, 'GET', '/voice-sessions')
    return body.voice_sessions.find(({ recording_url: url }) => url !== null)?.id
  }, 'the recording')
}

type Answer = { status: number; text: string }

/** Of a stream of events no more than its head is read, which it has when it is granted. */
async function ask({ method, path, headers, body }: SoundRequest, caller: Caller): Promise<Answer> {
  const url = app.served.address + path
  const sent = { ...headers, ...caller.headers }
  if (path === '/logs') return { status: await handshake(url, sent), text: '' }
  const stopping = new AbortController()
  const response = await fetch(url, {
    ...{ method, headers: sent, redirect: 'manual', signal: stopping.signal },
    ...(body !== undefined && { body }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const text = isStream ? '' : await response.text()
  if (isStream) stopping.abort()
  return { status: response.status, text }
}

/** The status of the answer to somebody who asks for a WebSocket. */
function handshake(url: string, headers: Record<string, string>): Promise<number> {
  const asked = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      headers: { ...asked, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', ...headers },
    })
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode ?? 0)
    })
    request.on('response', (response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end()
  })
}

const isSuccess = (status: number) => (status >= 200 && status < 300) || status === 101

describe('the service', () => {
  it('gives every route to those it is for, and to nobody else', { timeout: 300_000 }, async () => {
    const rows = await furnished()
    const callers = await makeCallers(app.served)
    const api = (await (await fetch(`${app.served.address}/api-docs/openapi.json`)).json()) as ApiDocument
    const registered = registeredRoutes(app.served.app.server).map(({ method, url }) => routeKey(method, url))
    const routes = [...new Set(registered)].sort()
    const unlisted = routes.filter((route) => !(route in ROLE_TABLE))
    const wrong: unknown[] = []
    let cells = 0
    for (const route of routes.filter((each) => !unlisted.includes(each))) {
      const strangers: number[] = []
      for (const caller of callers) {
        const request = await soundRequest({ app, api, rows }, route, caller)
        const isLeaving = LEAVING.includes(route) && caller.what === 'person'
        const who = isLeaving ? { ...caller, headers: await loggedIn(app.served, caller.name) } : caller
        const { status, text } = await ask(request, who)
        if (caller.what === 'stranger') strangers.push(status)
        const expected = expectedOf(route, caller)
        const isAsMeant =
          expected === 'granted'
            ? isSuccess(status)
            : status === (expected === 'as a stranger' ? strangers[0] : expected)
        // What another tenant is given is its own.
        const leaks = expected === 'granted' && caller.tenant === OTHER && text.includes(OWN)
        if (!isAsMeant || leaks) {
          wrong.push({ route, who: `${caller.what} ${caller.role ?? ''} of ${caller.tenant}`, expected, status, text })
        }
        cells += 1
      }
    }
    process.stdout.write(`isolation: ${routes.length} routes, ${cells} cells, unlisted ${unlisted.length}\n`)
    expect([wrong, unlisted]).toEqual([[], []])
    expect(cells).toBe(routes.length * callers.length)
  })
})
