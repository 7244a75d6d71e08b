import { randomBytes } from 'node:crypto'
import { until } from '../harness/wait.ts'
import { AGENT_KEY, administer, makeKey, NUMBER, readSession, TENANT } from '../kill/service-api.ts'
import { WANTED_EVENTS } from './crash-deliveries.ts'
import type { CrashLedger } from './crash-ledger.ts'
import { putRollout } from './crash-rollouts.ts'
import type { Stage } from './crash-stage.ts'
import type { CrashPoint, Way, Workload } from './points.ts'

/** What clients do, and how. */
export type Plan = { kinds: readonly Workload[]; way: Way; talk?: CrashPoint['talk']; isRecorded?: boolean }

type Working = { stage: Stage; ledger: CrashLedger; plan: Plan; isOver: () => boolean }
/** Something that clients do again and again; it stops by itself when the service is gone. */
type Work = (working: Working) => Promise<void>

const CALLS = 4
const RING_EVERY_MS = 250
const ORDERS = 3
const LIMITS = { max_concurrent_calls: 10_000, requests_per_minute: 1_000_000, idle_seconds: 600 }
const WEBHOOK_SECRET = `whsec_${randomBytes(32).toString('base64')}`
/** Clients look so often at what is said: more would take the machine from the service. */
const LOOK_MS = 250
/** Each call that is placed is one that talks. */
const DIAL_EVERY_MS = 200
/** Between other requests of one client. */
const PAUSE_MS = 20

let used = 0

/** A number that no other request is about. */
function newNumber(): string {
  used += 1
  return `+1202${String(5_560_000 + used)}`
}

const LATELY_OPEN = `
  select id from voice_sessions where ended_at is null or ended_at > now() - interval '2 seconds'
   order by created_at desc limit 8`

/** Callers talk, order things, and hang up; others come. What the API shows of them is noted. */
const talk: Work = async ({ stage, ledger, plan, isOver }) => {
  const { front, carrier, database } = stage
  const addresses = { voiceUrl: `${front.url}/api/v1/incoming-call`, statusCallback: `${front.url}/api/v1/call-status` }
  // Who is to be brought back must not have gone elsewhere by itself.
  const afterLoss = plan.way === 'rescue' ? 'silence' : 'next-verb'
  const ringing = { orders: ORDERS, ...plan.talk, afterLoss, everyMs: RING_EVERY_MS } as const
  await carrier.ring({ to: NUMBER, calls: CALLS, ...ringing, ...addresses })
  while (!isOver()) {
    const { rows } = await database.query<{ id: string }>(LATELY_OPEN)
    for (const { id } of rows) {
      const { call_sid, transcript } = await readSession(stage.node.address, stage.token, id)
      if (!isOver()) ledger.turns.note(call_sid, transcript)
    }
    for (const { sid, streams } of await carrier.look()) if (streams.length > 0) ledger.streams.add(sid)
    await pause(LOOK_MS, isOver)
  }
}

async function pause(ms: number, isOver: () => boolean): Promise<void> {
  const untilMs = performance.now() + ms
  await until(() => isOver() || performance.now() >= untilMs, { what: 'the end of the pause', everyMs: PAUSE_MS / 2 })
}

/** The tenant gets a new name, and a key comes and goes. */
const admin: Work = async ({ stage, ledger, plan, isOver }) => {
  while (!isOver()) {
    const { address } = stage.node
    ledger.names.tried += 1
    const name = ledger.names.tried
    await putTenant(stage, name, plan.isRecorded)
    ledger.names.acknowledged = name
    const { id, token } = await makeKey(address)
    await administer(address, 'DELETE', `/api-keys/${id}`)
    ledger.revoked.push(token)
    await pause(PAUSE_MS, isOver)
  }
}

/** An agent's rollout is replaced by another one. */
const rollout: Work = async ({ stage, ledger: { rollouts }, isOver }) => {
  while (!isOver()) {
    const number = rollouts.tried + 1
    rollouts.tried = number
    await putRollout(stage.node.address, stage.rolloutAgent, number)
    rollouts.acknowledged = number
    await pause(PAUSE_MS, isOver)
  }
}

/** Writes the tenant's document, of which the name is its number. */
export function putTenant({ node, receiver }: Stage, name: number, isRecorded = false): Promise<unknown> {
  const document = {
    tenant_id: TENANT,
    name: String(name),
    limits: LIMITS,
    compliance: { record_calls: isRecorded },
    webhook: { url: receiver.url, secret: WEBHOOK_SECRET, events: WANTED_EVENTS },
  }
  return administer(node.address, 'PUT', '', document)
}

/** Calls are asked for, each with a key and to a number of its own. */
const dial: Work = async ({ stage, ledger, isOver }) => {
  while (!isOver()) {
    const [key, to] = [`key-${randomBytes(8).toString('hex')}`, newNumber()]
    ledger.dials.set(key, { to, callSid: null })
    const { status, code, callSid } = await makeCall(stage, key, to)
    ledger.refusal = status < 300 ? null : `make-call was answered with ${status} ${code}`
    if (status === 400) throw new Error('make-call was refused')
    if (status < 300) ledger.dials.set(key, { to, callSid })
    stage.trap.reach({ where: 'client', when: 'told', method: 'POST', path: '/api/v1/make-call' })
    await pause(DIAL_EVERY_MS, isOver)
  }
}

/** Numbers are put on the do-not-call list. */
const block: Work = async ({ stage, ledger, isOver }) => {
  while (!isOver()) {
    const phone = newNumber()
    if (await listNumber(stage, phone)) ledger.blocked.push(phone)
    await pause(PAUSE_MS, isOver)
  }
}

/** Puts a number on the do-not-call list; returns whether that was acknowledged. */
export async function listNumber(stage: Stage, phone: string): Promise<boolean> {
  return (await post(stage, '/api/v1/dnc', { phone })).ok
}

/** Asks for a call; again with the same key it is the same call. */
export async function makeCall(stage: Stage, key: string, to: string) {
  const response = await post(stage, '/api/v1/make-call', { to, from: NUMBER, agent_key: AGENT_KEY }, key)
  const { call_sid: callSid = null, code } = (await response.json()) as { call_sid?: string | null; code?: string }
  return { status: response.status, code, callSid }
}

function post({ clientProxy, token }: Stage, path: string, body: unknown, key?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(clientProxy.url + path, {
    method: 'POST',
    headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  })
}

const WORKS: Record<Workload, Work> = { talk, admin, rollout, dial, block }

/** Does all of these until `isOver`, or until the service is gone. @throws what failed before that */
export async function work(working: Working): Promise<void> {
  const attempts = working.plan.kinds.map((kind) =>
    WORKS[kind](working).catch((error: unknown) => {
      // What fails afterwards fails because the service was killed under it.
      if (!working.isOver()) throw error
    }),
  )
  await Promise.all(attempts)
}
