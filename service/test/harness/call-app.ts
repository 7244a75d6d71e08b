import { afterEach, beforeEach } from 'vitest'
import type { Database } from '../../src/platform/db/schema.ts'
import type { Speech } from '../../src/platform/speech/port.ts'
import { type CarrierRest, startCarrierRest } from './carrier-rest.ts'
import { sign } from './carrier-signature.ts'
import { TestClock } from './clock.ts'
import type { TestDatabase } from './database.ts'
import { passing } from './passing.ts'
import { ScriptedModel } from './scripted-model.ts'
import { ACCOUNT, type AppOptions, ServedApp } from './served-app.ts'
import { StreamClient } from './stream-client.ts'
import { there } from './there.ts'
import { until } from './wait.ts'

/** The number of the tenant `acme`. */
export const NUMBER = '+12025550140'
export const CALLER = '+12025550123'

type Form = Record<string, string>
type Posted = { status: number; headers: Headers; text: string }
type Sent = { form?: Form; token?: string | null; headers?: Record<string, string> }

/** The whole service with a scripted model, a carrier whose part the test plays, and a clock that the test moves. */
export type CallApp = {
  readonly served: ServedApp
  readonly clock: TestClock
  readonly model: ScriptedModel
  readonly rest: CarrierRest
  /** Posts a form, signed with the account's token; with another one if given, not at all when it is null. */
  post(path: string, sent?: Sent): Promise<Posted>
  /** A call comes in: answers the document that the service gives for it. */
  ring(form?: Form): Promise<string>
  /** A call comes in, and its stream is opened and has begun. */
  talk(form?: Form): Promise<StreamClient>
  /** Somebody answers a call that the carrier was asked for with this form, and its stream is opened and has begun. */
  pickUp(callSid: string, asked: Form | undefined): Promise<StreamClient>
  /** Moves time on until the condition holds. */
  pass<T>(condition: () => T | Promise<T>, what: string): Promise<Exclude<T, false | null | undefined>>
}

type Options = Pick<AppOptions, 'settings' | 'carriers' | 'isCarrierSimulated'> & {
  agent?: Record<string, unknown>
  document?: Record<string, unknown>
  hasModel?: boolean
  /** What speaks ahead of calls; none if not given. */
  speech?: () => Speech
  /** Makes the database of each test; default: that of the test file. */
  database?: () => Promise<Database>
}

/** Starts all of it anew for each test of the file, on the database of the file: call `useDatabase` first. */
export function useCallApp(test: TestDatabase, options: Options = {}): CallApp {
  const { settings, carriers, isCarrierSimulated = false, hasModel = true, speech, database, ...furnished } = options
  const parts: { served?: ServedApp; clock?: TestClock; model?: ScriptedModel; rest?: CarrierRest } = {}
  let calls = 0
  beforeEach(async () => {
    const [clock, model, rest] = [new TestClock(), new ScriptedModel(), await startCarrierRest()]
    Object.assign(parts, { clock, model, rest })
    parts.served = await ServedApp.start(test, {
      ...{ clock, model: hasModel ? model : null, isCarrierSimulated, ...(carriers && { carriers }) },
      ...(database && { database: await database() }),
      ...(speech && { speech: speech() }),
      settings: { TELEPHONY_API_BASE_URL: rest.baseUrl, ...settings },
    })
    await parts.served.furnish('acme', { number: NUMBER, ...furnished })
  })
  afterEach(async () => {
    const { served, clock, rest } = parts
    let closed = false
    void served?.app.close().then(() => {
      closed = true
    })
    await passing(there(clock), () => closed, { what: 'the service to stop' })
    await rest?.close()
  })

  /** The stream that the document connects. */
  async function begun(callSid: string, document: string): Promise<StreamClient> {
    const sessions = app.model.sessions.length
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid, streamSid: `MZ${callSid}`, parameters: { stream_token: streamTokenIn(document) } })
    await until(() => app.model.sessions.length > sessions, { what: 'the session to begin' })
    return client
  }

  const app: CallApp = {
    get served() {
      return there(parts.served)
    },
    get clock() {
      return there(parts.clock)
    },
    get model() {
      return there(parts.model)
    },
    get rest() {
      return there(parts.rest)
    },
    async post(path, { form = {}, token = ACCOUNT.token, headers = {} } = {}) {
      const { served } = app
      const signature: Form =
        token === null ? {} : { 'x-twilio-signature': sign(served.app.publicUrl() + path, form, token) }
      const response = await fetch(served.address + path, {
        method: 'POST',
        headers: { ...signature, ...headers },
        body: new URLSearchParams(form),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    async ring(form = {}) {
      calls += 1
      const usual = { CallSid: `CA${calls}`, AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
      const { status, text } = await app.post('/api/v1/incoming-call', { form: { ...usual, ...form } })
      if (status !== 200) throw new Error(`the call was not answered: ${status} ${text}`)
      return text
    },
    async talk(form = {}) {
      const document = await app.ring(form)
      return begun(form['CallSid'] ?? `CA${calls}`, document)
    },
    async pickUp(callSid, { To = '', Url = '' } = {}) {
      const form = { CallSid: callSid, AccountSid: ACCOUNT.sid, From: NUMBER, To, CallStatus: 'in-progress' }
      const { text } = await app.post(new URL(Url).pathname, { form })
      return begun(callSid, text)
    },
    pass: (condition, what) => passing(app.clock, condition, { what }),
  }
  return app
}

/** The stream token in a document that connects a stream. @throws Error when there is none. */
export function streamTokenIn(document: string): string {
  const [, token] = /<Parameter name="stream_token" value="([^"]+)"\/>/.exec(document) ?? []
  if (token === undefined) throw new Error(`no stream in ${document}`)
  return token
}
