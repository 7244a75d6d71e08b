import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { makeClock } from '../../../simulator/src/carrier/clock.ts'
import { makeFaults } from '../../../simulator/src/carrier/faults.ts'
import type { SimulatedCall } from '../../../simulator/src/carrier/simulated-call.ts'
import { type Simulator, startSimulator } from '../../../simulator/src/simulator.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { type Carriers, makeCarriers } from '../../src/platform/telephony/registry.ts'
import { TestClock } from './clock.ts'
import type { TestDatabase } from './database.ts'
import { GatedDatabase } from './gated-database.ts'
import { passing } from './passing.ts'
import { ScriptedModel } from './scripted-model.ts'
import { ACCOUNT, type AppOptions, ServedApp } from './served-app.ts'
import { there } from './there.ts'

/** The number of the tenant `acme`, from which its calls come. */
export const NUMBER = '+12025550140'

type Body = Record<string, unknown>
type Answered = { status: number; headers: Headers; body: Body }
type Request = { key?: string; tenant?: string | null; path?: string; node?: ServedApp }

/** The whole service, a clock that the test moves, and a carrier whose calls are placed for real and ring in vain. */
export type DialApp = {
  readonly served: ServedApp
  readonly clock: TestClock
  readonly simulator: Simulator
  readonly gate: GatedDatabase
  /** Who is called, another one in each test: the carrier does not forget. */
  readonly callee: string
  /** How often the first node has asked its carrier for a call since the test began. */
  readonly asked: number
  /** The calls that the carrier has taken since the test began. */
  readonly calls: readonly SimulatedCall[]
  dial(body?: Body, request?: Request): Promise<Answered>
  /** The newest call log of the tenant. */
  newestLog(): Promise<Body>
  /** Moves time on until the condition holds. */
  pass<T>(condition: () => T | Promise<T>, what: string, stepMs?: number): Promise<Exclude<T, false | null | undefined>>
  /** Another node of the same installation; it is closed with the test. */
  another(options?: Partial<AppOptions>): Promise<ServedApp>
}

type Options = { document?: Body; hasModel?: boolean; callbacks?: 'normal' | 'never' }

/** Starts the service anew for each test of the file, on the database of the file: call `useDatabase` first. */
export function useDialApp(test: TestDatabase, { callbacks = 'never', hasModel = true, ...furnished }: Options = {}) {
  const parts: { simulator?: Simulator; served?: ServedApp; clock?: TestClock; gate?: GatedDatabase } = {}
  const nodes: ServedApp[] = []
  const calls: SimulatedCall[] = []
  let tests = 0
  let asked = 0
  beforeAll(async () => {
    parts.simulator = await startSimulator({
      carrier: {
        ...{ host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
        callsPerSecond: 1_000,
        // Its dates are those of the service, whose time the test moves.
        clock: { ...makeClock(), date: () => new Date(app.clock.now()) },
        faults: { rest: { listLagMs: 0 } },
      },
      model: { host: '127.0.0.1', port: 0 },
    })
    parts.simulator.carrier.watch((call) => calls.push(call))
  })
  afterAll(() => parts.simulator?.close())
  beforeEach(async () => {
    const { carrier } = app.simulator
    Object.assign(carrier.faults.rest, makeFaults({ rest: { listLagMs: 0 } }).rest)
    carrier.faults.callbacks.delivery = callbacks
    calls.length = 0
    asked = 0
    tests += 1
    Object.assign(parts, { clock: new TestClock(systemClock.now()), gate: new GatedDatabase() })
    parts.served = await start({ database: app.gate.of(test.database), carriers: counting() })
    await parts.served.furnish('acme', { number: NUMBER, ...furnished })
  })
  afterEach(async () => {
    for (const call of calls) call.hangUp()
    app.gate.isAway = false
    for (const node of nodes.splice(0)) await closed(node)
  })

  function counting(): Carriers {
    const { twilio } = makeCarriers({ apiBaseUrl: app.simulator.carrier.baseUrl })
    const createCall: typeof twilio.createCall = (...args) => {
      asked += 1
      return twilio.createCall(...args)
    }
    return { twilio: { ...twilio, createCall } }
  }

  async function start(options: Partial<AppOptions>): Promise<ServedApp> {
    const settings = { TELEPHONY_API_BASE_URL: app.simulator.carrier.baseUrl }
    const model = hasModel ? new ScriptedModel() : null
    const node = await ServedApp.start(test, { clock: app.clock, model, settings, ...options })
    nodes.push(node)
    return node
  }

  async function closed({ app: service }: ServedApp): Promise<void> {
    let isClosed = false
    void service.close().then(() => {
      isClosed = true
    })
    await app.pass(() => isClosed, 'the service to stop')
  }

  const app: DialApp = {
    get served() {
      return there(parts.served)
    },
    get clock() {
      return there(parts.clock)
    },
    get simulator() {
      return there(parts.simulator)
    },
    get gate() {
      return there(parts.gate)
    },
    get callee() {
      return `+1202555${1_000 + tests}`
    },
    get asked() {
      return asked
    },
    calls,
    dial: (body = {}, request = {}) =>
      dial(app.served, { to: app.callee, from: NUMBER, agent_key: 'desk', ...body }, request),
    async newestLog() {
      const { body } = await app.served.call<{ call_logs: Body[] }>('acme', 'GET', '/call-logs?limit=1')
      return body.call_logs[0] ?? {}
    },
    pass: (condition, what, stepMs) =>
      passing(app.clock, condition, { what, timeoutMs: 60_000, ...(stepMs !== undefined && { stepMs }) }),
    another: (options = {}) => start(options),
  }
  return app
}

/** Asks a node for a call; the credentials are those of the first one. */
async function dial(
  served: ServedApp,
  body: Body,
  { key, tenant = 'acme', path, node = served }: Request,
): Promise<Answered> {
  const response = await fetch(`${node.address}${path ?? '/api/v1/make-call'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(tenant !== null && { authorization: `Bearer ${served.tokenOf(tenant)}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
}
