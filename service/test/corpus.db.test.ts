import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openaiSpeech } from '../src/platform/speech/openai.ts'
import { answerFaults } from './corpus/faults.ts'
import { SeededRandom } from './corpus/random.ts'
import { type RealIds, RequestCorpus, type WireRequest } from './corpus/requests.ts'
import { Sender } from './corpus/sender.ts'
import { type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ServedApp } from './harness/served-app.ts'
import { type SpeechServer, startSpeechServer } from './harness/speech-server.ts'
import { startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'
import type { ApiDocument } from './interface/described-api.ts'

const REQUESTS = process.env['PARLEY_TEST_FULL'] ? 20_000 : 1_500
const SEED = Number(process.env['PARLEY_CORPUS_SEED'] ?? 1)
const AT_ONCE = 4
const KEY = 'sk-key-of-the-corpus'
const PASSWORD = 'a long enough password'
const DELETE_TENANT = 'DELETE /api/v1/admin/tenants/{tenant_id}'
/** The tenant that is administered, which anything may happen to; the other one asks. */
const PREY = 'prey'

const test = useDatabase()
let rest: CarrierRest
let chat: ChatServer
let speech: SpeechServer
let billing: WebhookTarget
let served: ServedApp
let sender: Sender

beforeAll(async () => {
  const all = [startCarrierRest(), startChatServer(), startSpeechServer(), startWebhookTarget()] as const
  ;[rest, chat, speech, billing] = await Promise.all(all)
})
afterAll(() => Promise.all([rest.close(), chat.close(), speech.close(), billing.close()]))
beforeEach(async () => {
  let calls = 0
  rest.reply = ({ method, path, form }) => {
    if (path.includes('IncomingPhoneNumbers'))
      return { status: 200, body: { incoming_phone_numbers: [{ sid: 'PN1' }] } }
    if (form['Status'] === 'canceled') return { status: 200, body: { sid: 'CA-out', status: 'canceled' } }
    if (method !== 'POST' || !path.endsWith('/Calls.json')) return { status: 200, body: {} }
    calls += 1
    return { status: 201, body: { sid: `CA-out-${calls}`, status: 'queued' } }
  }
  served = await ServedApp.start(test, {
    model: new ScriptedModel(),
    speech: openaiSpeech({ baseUrl: speech.baseUrl, apiKey: KEY }),
    settings: {
      ...{ TELEPHONY_API_BASE_URL: rest.baseUrl, PUBLIC_URL: 'https://voice.example.com', MAX_CALLS: '5000' },
      ...{
        OPENAI_BASE_URL: chat.baseUrl,
        OPENAI_API_KEY: KEY,
        OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true',
      },
      ...{ BILLING_WEBHOOK_URL: billing.url, BILLING_WEBHOOK_SECRET: 'secret-of-the-billing-of-the-corpus' },
      ...{ ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD },
    },
  })
  sender = new Sender(served.address)
  await served.furnish('acme', { number: '+12025550140' })
})
afterEach(async () => {
  sender.close()
  await served.app.close()
})

/** What there is of each thing, by the parameter that names it. */
async function realIds(): Promise<RealIds> {
  const made = <Answer>(what: string, body: unknown) =>
    served.administer<Answer>('POST', `/tenants/${PREY}/${what}`, body)
  type WithId<Name extends string> = Record<Name, { id: string }>
  const asked = { company_name: 'Acme', contact_name: 'Ann', work_email: 'ann@acme.example', use_case: 'Calls' }
  const intake = await served.call<{ request_id: string }>(null, 'POST', '/access-requests', asked)
  const task = await served.call<WithId<'task'>>('acme', 'POST', '/callback-tasks', { customer_phone: '+12025550177' })
  await served.call('acme', 'POST', '/dnc', { phone: '+12025550178' })
  const dial = { to: '+12025550179', from: '+12025550140', agent_key: 'desk' }
  const call = await served.call<{ call_sid: string }>('acme', 'POST', '/make-call', dial)
  const { body: list } = await served.call<{ voice_sessions: { id: string }[] }>('acme', 'GET', '/voice-sessions')
  await served.administer('PUT', '/prompts/house', { text: 'Be brief.' })
  const agentId = await prepare()
  const { version } = await made<WithId<'version'>>('agent-versions', { agent_id: agentId, config: {} })
  const { user } = await made<WithId<'user'>>('users', {
    email: 'ann@prey.example',
    role: 'viewer',
    password: PASSWORD,
  })
  const { created } = await made<{ created: WithId<'api_key'> }>('api-keys', { label: 'a' })
  const route = { phone_number: '+12025550180', agent_key: 'desk' }
  const { phone_route: phoneRoute } = await made<WithId<'phone_route'>>('phone-routes', route)
  const tasks = ['', '/history', '/acknowledge', '/claim', '/assign', '/release', '/snooze', '/wake', '/complete']
  const ofTasks = [...tasks, '/cancel', '/reopen', '/dispatch'].flatMap((move) =>
    ['GET', 'POST', 'PATCH'].flatMap((method) =>
      ['/api/v1', ''].map(
        (prefix) => [`${method} ${prefix}/callback-tasks/{id}${move} id`, task.body.task.id] as const,
      ),
    ),
  )
  const wanted = { name: 'Spring', agent_key: 'desk', contacts: [{ phone: '+12025550181' }] }
  const campaign = await served.call<WithId<'campaign'>>('acme', 'POST', '/campaigns', wanted)
  const ofCampaigns = [
    'GET /{id}',
    'GET /{id}/calls',
    'POST /{id}/start',
    'POST /{id}/pause',
    'POST /{id}/cancel',
  ].flatMap((route) =>
    ['/api/v1', ''].map(
      (prefix) => [`${route.replace('/', `${prefix}/campaigns/`)} id`, campaign.body.campaign.id] as const,
    ),
  )
  return {
    ...{ tenant_id: PREY, agent_id: agentId, version_id: version.id, user_id: user.id, key_id: created.api_key.id },
    ...{
      route_id: phoneRoute.id,
      queue_key: 'default',
      key: 'house',
      call_sid: call.body.call_sid,
      phone: '+12025550178',
    },
    ...{ stream_sid: 'MZ1', dial_ref: 'x'.repeat(32), page: 'errors', file: 'nothing.js', token: 'wrong' },
    'PATCH /api/v1/admin/api-access-requests/{id} id': intake.body.request_id,
    ...Object.fromEntries([...ofTasks, ...ofCampaigns]),
    id: list.voice_sessions[0]?.id ?? '',
  }
}

/** The tenant that is administered, with an agent; returns its id. */
function prepare(): Promise<string> {
  return served.furnish(PREY, { number: '+12025550141' })
}

function credentialsOf({ route }: WireRequest, isStranger: boolean): Record<string, string> {
  if (isStranger) return {}
  return route.includes('/api/v1/admin/')
    ? { 'x-admin-key': served.adminKey }
    : { authorization: `Bearer ${served.tokenOf('acme')}` }
}

type Found = { faults: string[]; request: object; answer: object }

/** One behind the other: what a deletion takes away is made anew before the next one can. */
let deletions: Promise<unknown> = Promise.resolve()

/** This machine has other things to do: what hangs does so each time, with no other request beside it. */
const TRIES_ALONE = 5
let alone: Promise<unknown> = Promise.resolve()

function isSlowOnly(faults: string[]): boolean {
  return faults.length > 0 && faults.every((fault) => fault.startsWith('took '))
}

function look(request: WireRequest, isStranger: boolean): Promise<Found | null> {
  if (request.route !== DELETE_TENANT) return lookNow(request, isStranger)
  const looked = deletions.then(() => lookNow(request, isStranger))
  deletions = looked.catch(() => undefined)
  return looked
}

async function lookNow(request: WireRequest, isStranger: boolean): Promise<Found | null> {
  const credentials = credentialsOf(request, isStranger)
  const answer = await sender.send(request, credentials)
  let faults = answerFaults(request, answer)
  if (isSlowOnly(faults)) {
    const looked = alone.then(async () => {
      for (let left = TRIES_ALONE; left > 0 && isSlowOnly(faults); left -= 1) {
        faults = answerFaults(request, await sender.send(request, credentials))
      }
    })
    alone = looked.catch(() => undefined)
    await looked
  }
  if (request.route === DELETE_TENANT && answer.status === 200) await prepare()
  const { status, text } = answer
  const body = request.body?.slice(0, 500)
  return faults.length > 0
    ? { faults, request: { ...request, body }, answer: { status, text: text.slice(0, 500) } }
    : null
}

describe(`${REQUESTS} requests that nobody should send, and some that are sound`, () => {
  it('are answered in time, in the shape of every answer, and never by a fault of ours', {
    timeout: 900_000,
  }, async () => {
    const document = (await (await fetch(`${served.address}/api-docs/openapi.json`)).json()) as ApiDocument
    const random = new SeededRandom(SEED)
    const corpus = new RequestCorpus(random, document, await realIds())
    const requests = corpus.requests(REQUESTS)
    const found: Found[] = []
    const take = async (): Promise<void> => {
      for (const request of requests) {
        await alone
        const one = await look(request, random.chance(0.05))
        if (one) found.push(one)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, take))
    process.stdout.write(`corpus: seed ${SEED}, ${REQUESTS} requests, faults ${found.length}\n`)
    expect(found.slice(0, 20)).toEqual([])
  })
})
