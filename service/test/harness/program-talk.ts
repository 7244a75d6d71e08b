import { streamTokenIn } from './call-app.ts'
import { sign } from './carrier-signature.ts'
import { ACCOUNT } from './served-app.ts'
import { StreamClient } from './stream-client.ts'
import { until } from './wait.ts'

/** With this ADMIN_API_KEY a program can be talked to. */
export const ADMIN_API_KEY = 'ak_key_of_the_program_tests'
/** The number of the tenant `acme`. */
const NUMBER = '+12025550140'
const ROOM_WITHIN_MS = 60_000

type Json = Record<string, unknown>

/** A program that a test talks to as its administrator, its tenant and its carrier. */
export class ProgramTalk {
  readonly address: string
  #token = ''

  constructor(address: string) {
    this.address = address
  }

  async furnish(): Promise<void> {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    await this.#administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    const desk = { agent_key: 'desk', name: 'Desk', description: '' }
    const { agent } = await this.#administer<{ agent: Json }>('POST', '/tenants/acme/agents', desk)
    const draft = { agent_id: agent['id'], config: {} }
    const { version } = await this.#administer<{ version: Json }>('POST', '/tenants/acme/agent-versions', draft)
    await this.#administer('POST', `/tenants/acme/agent-versions/${version['id']}/publish`)
    await this.#administer('POST', '/tenants/acme/phone-routes', { phone_number: NUMBER, agent_key: 'desk' })
    await this.authenticate()
  }

  async authenticate(): Promise<void> {
    const { created } = await this.#administer<{ created: { token: string } }>('POST', '/tenants/acme/api-keys', {
      label: 'test',
    })
    this.#token = created.token
  }

  /** A call of a page, whose stream has begun; returns its id. */
  browserCall(): Promise<string> {
    type Opened = { call_sid: string; stream_token: string }
    return this.#withRoom(async () => {
      const opened = await this.tenant<Opened>('POST', '/browser-calls', { agent_key: 'desk' }).catch(() => null)
      if (!opened) return null
      const client = await StreamClient.open(this.address)
      const parameters = { stream_token: opened.stream_token }
      client.start({ callSid: 'page', streamSid: `MZ${opened.call_sid}`, parameters })
      return (await this.#begins(opened.call_sid, client)) ? opened.call_sid : null
    })
  }

  /** A call of the carrier, whose stream has begun. */
  phoneCall(callSid: string): Promise<string> {
    const form = { CallSid: callSid, AccountSid: ACCOUNT.sid, From: '+12025550123', To: NUMBER, CallStatus: 'ringing' }
    const path = '/api/v1/incoming-call'
    const port = new URL(this.address).port
    const headers = { 'x-twilio-signature': sign(`http://localhost:${port}${path}`, form, ACCOUNT.token) }
    return this.#withRoom(async () => {
      const answer = await fetch(this.address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
      const document = await answer.text()
      if (!document.includes('<Stream')) return null
      const client = await StreamClient.open(this.address)
      const parameters = { stream_token: streamTokenIn(document) }
      client.start({ callSid, streamSid: `MZ${callSid}`, accountSid: ACCOUNT.sid, parameters })
      return (await this.#begins(callSid, client)) ? callSid : null
    })
  }

  /** A machine that is busy with other tests has no room for calls for a while, nor for their streams. */
  #withRoom(call: () => Promise<string | null>): Promise<string> {
    // To ask all the time would be a reason to have none.
    return until(call, { what: 'room for a call', timeoutMs: ROOM_WITHIN_MS, everyMs: 1_000 })
  }

  /** False when the stream is refused. */
  async #begins(callSid: string, client: StreamClient): Promise<boolean> {
    const isBegun = async () => (await this.callLog(callSid))['status'] === 'in-progress'
    const isDecided = async () => client.closeCode !== null || (await isBegun())
    await until(isDecided, { what: 'the call to begin', timeoutMs: ROOM_WITHIN_MS, everyMs: 50 })
    return client.closeCode === null
  }

  async callLog(callSid: string): Promise<Json> {
    return (await this.tenant<{ call_log: Json }>('GET', `/call-logs/${callSid}`)).call_log
  }

  async session(callSid: string): Promise<Json> {
    const id = String((await this.callLog(callSid))['voice_session_id'])
    return (await this.tenant<{ voice_session: Json }>('GET', `/voice-sessions/${id}`)).voice_session
  }

  tenant<Body>(method: string, path: string, body?: object): Promise<Body> {
    return this.#fetch(method, path, { authorization: `Bearer ${this.#token}` }, body)
  }

  #administer<Body = Json>(method: string, path: string, body?: object): Promise<Body> {
    return this.#fetch(method, `/admin${path}`, { 'x-admin-key': ADMIN_API_KEY }, body)
  }

  async #fetch<Body>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: object | undefined,
  ): Promise<Body> {
    const type: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
    const response = await fetch(`${this.address}/api/v1${path}`, {
      method,
      headers: { ...headers, ...type },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }
}
