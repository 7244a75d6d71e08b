import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { sign, streamTokenIn } from './harness/call-app.ts'
import { type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_process_lost_tests'
const NUMBER = '+12025550140'
const TEST_TIMEOUT_MS = 120_000
/** A node that starts beside others listens for three seconds before it judges them, on a machine that may be busy. */
const CLOSED_WITHIN_MS = 20_000
const ROOM_WITHIN_MS = 30_000

type Json = Record<string, unknown>

/** A program that a test talks to as its administrator, its tenant and its carrier. */
class Talk {
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
  async browserCall(): Promise<string> {
    type Opened = { call_sid: string; stream_token: string }
    const open = () => this.tenant<Opened>('POST', '/browser-calls', { agent_key: 'desk' })
    // A machine that is busy with other tests has no room for calls for a while.
    const opened = await until(() => open().catch(() => null), { what: 'room for a call', timeoutMs: ROOM_WITHIN_MS })
    const client = await StreamClient.open(this.address)
    client.start({ callSid: 'page', streamSid: 'MZpage', parameters: { stream_token: opened.stream_token } })
    await this.#begun(opened.call_sid)
    return opened.call_sid
  }

  /** A call of the carrier, whose stream has begun. */
  async phoneCall(callSid: string): Promise<void> {
    const form = { CallSid: callSid, AccountSid: ACCOUNT.sid, From: '+12025550123', To: NUMBER, CallStatus: 'ringing' }
    const path = '/api/v1/incoming-call'
    const port = new URL(this.address).port
    const signature = sign(`http://localhost:${port}${path}`, form, ACCOUNT.token)
    const ring = async () => {
      const headers = { 'x-twilio-signature': signature }
      const answer = await fetch(this.address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
      const document = await answer.text()
      return document.includes('<Stream') ? document : null
    }
    const document = await until(ring, { what: 'room for a call', timeoutMs: ROOM_WITHIN_MS })
    const client = await StreamClient.open(this.address)
    const parameters = { stream_token: streamTokenIn(document) }
    client.start({ callSid, streamSid: `MZ${callSid}`, accountSid: ACCOUNT.sid, parameters })
    await this.#begun(callSid)
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

  async #begun(callSid: string): Promise<void> {
    await until(async () => (await this.callLog(callSid))['status'] === 'in-progress', { what: 'the call to begin' })
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

describe('the calls of a program that was killed', { timeout: TEST_TIMEOUT_MS }, () => {
  let copy: Copy
  let simulator: Simulator
  let rest: CarrierRest
  let settings: Record<string, string>

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    rest = await startCarrierRest()
    simulator = await startSimulator({
      carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
      model: { host: '127.0.0.1', port: 0 },
    })
    const providers = { TELEPHONY_API_BASE_URL: rest.baseUrl, OPENAI_REALTIME_URL: simulator.model.url }
    settings = { ...copy.settings, ...providers, ADMIN_API_KEY, OPENAI_API_KEY: 'sk-key-of-the-process-lost-tests' }
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await simulator.close()
    await rest.close()
    await copy.remove()
  })

  it('are closed by the next one: those of pages, and those that their carrier does not know any more', async () => {
    const first = startProgram(settings)
    const before = new Talk(await first.listening())
    await before.furnish()
    const page = await before.browserCall()
    await before.phoneCall('CA1')
    rest.reply = () => ({ status: 404, body: { code: 20404, message: 'not found' } })
    await first.end('SIGKILL')

    const second = startProgram(settings)
    const after = new Talk(await second.listening())
    await after.authenticate()
    for (const callSid of [page, 'CA1']) {
      const session = await until(
        async () => {
          const found = await after.session(callSid)
          return found['ended_at'] ? found : null
        },
        { what: 'the session to be closed', timeoutMs: CLOSED_WITHIN_MS },
      )
      expect(session['end_reason']).toBe('process_lost')
      expect((await after.callLog(callSid))['status']).toBe('completed')
    }
    expect(await second.end('SIGTERM')).toMatchObject({ code: 0 })
  })
})
