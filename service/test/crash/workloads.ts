import { randomBytes } from 'node:crypto'
import { AGENT_KEY, administer, makeKey, NUMBER, readSession, TENANT } from '../kill/service-api.ts'
import type { CrashLedger } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'
import type { Workload } from './points.ts'

/** Something that clients do again and again; it stops by itself when the service is gone. */
type Work = (stage: Stage, ledger: CrashLedger, isOver: () => boolean) => Promise<void>

const CALLS = 4
const RING_EVERY_MS = 250
const ORDERS = 3
const LIMITS = { max_concurrent_calls: 10_000, requests_per_minute: 1_000_000, idle_seconds: 600 }

let dialled = 0

/** Callers talk, order three things, and hang up; others come. What the API shows of them is noted. */
const talk: Work = async (stage, ledger, isOver) => {
  const { front, carrier, database } = stage
  const addresses = { voiceUrl: `${front.url}/api/v1/incoming-call`, statusCallback: `${front.url}/api/v1/call-status` }
  await carrier.ring({ to: NUMBER, calls: CALLS, everyMs: RING_EVERY_MS, orders: ORDERS, ...addresses })
  while (!isOver()) {
    const { rows } = await database.query<{ id: string }>(
      'select id from voice_sessions order by created_at desc limit 20',
    )
    for (const { id } of rows) {
      const { call_sid, transcript } = await readSession(stage.node.address, stage.token, id)
      if (!isOver()) ledger.turns.note(call_sid, transcript)
    }
    for (const { sid, streams } of await carrier.look()) if (streams.length > 0) ledger.streams.add(sid)
  }
}

/** The tenant gets a new name, and a key comes and goes. */
const admin: Work = async (stage, ledger, isOver) => {
  while (!isOver()) {
    const { address } = stage.node
    ledger.names.tried += 1
    const name = ledger.names.tried
    await administer(address, 'PUT', '', { tenant_id: TENANT, name: String(name), limits: LIMITS })
    ledger.names.acknowledged = name
    const { id, token } = await makeKey(address)
    await administer(address, 'DELETE', `/api-keys/${id}`)
    ledger.revoked.push(token)
  }
}

/** Calls are asked for, each with a key and to a number of its own. */
const dial: Work = async (stage, ledger, isOver) => {
  while (!isOver()) {
    dialled += 1
    const key = `key-${randomBytes(8).toString('hex')}`
    const to = `+1202556${String(dialled).padStart(4, '0')}`
    ledger.dials.set(key, { to, callSid: null })
    const { status, callSid } = await makeCall(stage, key, to)
    if (status === 400) throw new Error('make-call was refused')
    if (status < 300) ledger.dials.set(key, { to, callSid })
    stage.trap.reach({ where: 'client', when: 'told', method: 'POST', path: '/api/v1/make-call' })
  }
}

/** Asks for a call; again with the same key it is the same call. */
export async function makeCall({ clientProxy, token }: Stage, key: string, to: string) {
  const response = await fetch(`${clientProxy.url}/api/v1/make-call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ to, from: NUMBER, agent_key: AGENT_KEY }),
    signal: AbortSignal.timeout(15_000),
  })
  const { call_sid: callSid = null } = (await response.json()) as { call_sid?: string | null }
  return { status: response.status, callSid }
}

const WORKS: Record<Exclude<Workload, 'start'>, Work> = { talk, admin, dial }

/** Does all of these until `isOver`, or until the service is gone. @throws what failed before that */
export async function work(
  kinds: readonly Exclude<Workload, 'start'>[],
  stage: Stage,
  ledger: CrashLedger,
  isOver: () => boolean,
): Promise<void> {
  const attempts = kinds.map((kind) =>
    WORKS[kind](stage, ledger, isOver).catch((error: unknown) => {
      // What fails afterwards fails because the service was killed under it.
      if (!isOver()) throw error
    }),
  )
  await Promise.all(attempts)
}
