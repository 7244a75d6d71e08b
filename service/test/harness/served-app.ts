import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { DEMO_MARK } from '../../src/demo.ts'
import { chatOf, fallbackModelOf, identityProviderOf, mailerOf, secondVoiceOf } from '../../src/deps.ts'
import { type Clock, systemClock } from '../../src/kernel/clock.ts'
import { CoarseClock } from '../../src/kernel/coarse-clock.ts'
import { makeSealer } from '../../src/kernel/seal.ts'
import type { SharedClock } from '../../src/kernel/shared-clock.ts'
import { joinCluster } from '../../src/platform/cluster/cluster.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import type { LoopSample } from '../../src/platform/event-loop.ts'
import { type Metrics, makeMetrics } from '../../src/platform/http/metrics.ts'
import { makeLog } from '../../src/platform/log.ts'
import { makeOutbound } from '../../src/platform/outbound/outbound.ts'
import type { RealtimeDriver } from '../../src/platform/realtime/port.ts'
import { makeModel } from '../../src/platform/realtime/registry.ts'
import type { Speech } from '../../src/platform/speech/port.ts'
import { type Carriers, makeCarriers } from '../../src/platform/telephony/registry.ts'
import { setMark } from '../../src/tenancy/installation-store.ts'
import type { TestDatabase } from './database.ts'

/** The carrier account of the tenants of a `ServedApp`. */
export const ACCOUNT = { sid: 'AC00000000000000000000000000000001', token: 'token-of-the-account-of-the-tests' }

const CALM: LoopSample = { utilisation: 0, delayP99Ms: 0 }

export const ADMIN_KEY = 'ak_key_of_the_served_app_tests'

/** A test asks again and again until something is so. */
const UNLIMITED = { RATE_LIMIT_IP_PER_MINUTE: '1000000', RATE_LIMIT_TENANT_PER_MINUTE: '1000000' }

/** Nothing happens to tasks but what a test does. */
const UNSWEPT = { SWEEP_INTERVAL_SECONDS: '0' }

/**
 * Whoever has the admin key is told within a second that the database does not answer, before anything is done: on a machine that is busy
 * with other tests it may take longer over that.
 */
const TRIES = 5

function isUnanswered({ status, body }: Answer<unknown>): boolean {
  return status === 503 && JSON.stringify(body).includes('The database is not reachable. Try again.')
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Answer<Body> = { status: number; body: Body }
type Furnished = { number: string; document?: Record<string, unknown>; agent?: Record<string, unknown> }

export type AppOptions = {
  /** Default: that of the test file. It is left open. */
  database?: Database
  settings?: Record<string, string>
  /** Default: the machine's own. */
  clock?: Clock
  /** In its place: one that goes by the database's. */
  sharedClock?: SharedClock
  /** Default: what the settings name; null for none. */
  model?: RealtimeDriver | null
  /** Default: none, so that the model says all that is heard. */
  speech?: Speech | null
  /** Default: what there is. */
  carriers?: Carriers
  /** Whether the account of the settings is the simulator's. Default: no. */
  isCarrierSimulated?: boolean
  /** Whether it says that it stood still: it does now and then on a machine that is busy with other tests. Default: no. */
  tellsStandstills?: boolean
  /** Another node of the same installation, whose tenants can be called here too. */
  besides?: ServedApp
}

type Started = { address: string; dataDir: string; lines: string[]; besides: ServedApp | undefined; load: LoopSample }

/** The whole service on a port of this machine, for as long as a test wants it. */
export class ServedApp {
  readonly app: App
  readonly address: string
  readonly dataDir: string
  /** Of the administrator. */
  readonly adminKey = ADMIN_KEY
  /** What its event loop is taken to be: calm, until a test says otherwise. */
  readonly load: LoopSample
  readonly #lines: string[]
  readonly #tokens: Map<string, string>

  constructor(app: App, { address, dataDir, lines, besides, load }: Started) {
    this.load = load
    this.#tokens = besides ? besides.#tokens : new Map()
    this.app = app
    this.address = address
    this.dataDir = dataDir
    this.#lines = lines
  }

  /** Starts it on the database of the test file, which it leaves open. Whoever starts it closes it. */
  static async start(test: TestDatabase, options: AppOptions = {}): Promise<ServedApp> {
    const lines: string[] = []
    // Below the folder of the test run, which goes with it.
    const dataDir = await mkdtemp(join(tmpdir(), 'served-'))
    const config = readConfig({
      PORT: '0',
      ADMIN_API_KEY: ADMIN_KEY,
      DATA_DIR: dataDir,
      ...UNLIMITED,
      ...UNSWEPT,
      ...options.settings,
    })
    const log = makeLog({ level: 'debug', secrets: [], destination: { write: (line) => lines.push(line) } })
    const clock = options.sharedClock ?? options.clock ?? systemClock
    const { modelUrl: url, modelApiKey: apiKey } = config
    const usual = apiKey === null ? null : makeModel(config.realtimeProvider, { url, apiKey, clock, log })
    const load = { ...CALM }
    const own = makeMetrics(new CoarseClock(systemClock))
    const { eventLoop: quiet } = calmed(own, load)
    const eventLoop = options.tellsStandstills ? { ...quiet, onBeat: own.eventLoop.onBeat } : quiet
    const metrics = { ...own, eventLoop }
    const { db, kind } = options.database ?? test.database
    // A new installation on an embedded database makes one, which is a quarter of its start: these tests have tenants of their own.
    if (kind === 'embedded') await setMark(db, DEMO_MARK)
    const app = await buildApp({
      ...{
        config,
        log,
        clock,
        sharedClock: options.sharedClock,
        version: '0',
        simulated: { carrier: options.isCarrierSimulated === true, model: false },
        metrics,
        cluster: await joinCluster({ redisUrl: config.redisUrl, clock, log, metrics, db }),
        sealer: makeSealer(Buffer.alloc(32, 1)),
        formerSealer: null,
      },
      database: { ...(options.database ?? test.database), close: async () => {} },
      outbound: makeOutbound({ clock, allowPrivate: config.outboundAllowPrivate }),
      carriers: options.carriers ?? makeCarriers({ apiBaseUrl: config.telephonyApiUrl }),
      model: options.model === undefined ? usual : options.model,
      fallbackModel: fallbackModelOf(config, clock, log),
      chat: chatOf(config),
      speech: options.speech ?? null,
      secondVoice: secondVoiceOf(config, clock),
      mailer: mailerOf(config, clock),
      identityProvider: identityProviderOf(config, clock),
    })
    const { besides } = options
    return new ServedApp(app, { address: await app.listen(), dataDir: config.dataDir, lines, besides, load })
  }

  /** Calls the API as a tenant that was furnished; as nobody when `tenant` is null. */
  call<Body = Record<string, unknown>>(
    tenant: string | null,
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<Answer<Body>> {
    const token = tenant === null ? undefined : this.tokenOf(tenant)
    return this.#fetch(method, path, { ...(token && { authorization: `Bearer ${token}` }) }, body)
  }

  /** Calls a path below `/api/v1/admin` as the administrator. @throws Error unless it succeeds. */
  async administer<Body = Record<string, unknown>>(method: Method, path: string, body?: unknown): Promise<Body> {
    const ask = () => this.#fetch<Body>(method, `/admin${path}`, { 'x-admin-key': ADMIN_KEY }, body)
    let answer = await ask()
    for (let tries = 1; tries < TRIES && isUnanswered(answer); tries += 1) answer = await ask()
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The API key of a tenant that was furnished. */
  tokenOf(tenant: string): string {
    const token = this.#tokens.get(tenant)
    if (token === undefined) throw new Error(`${tenant} was not furnished`)
    return token
  }

  /** Makes a tenant with the carrier account, an agent `desk` and a route of its number to it; returns the agent's id. */
  async furnish(tenant: string, { number, document = {}, agent = {} }: Furnished): Promise<string> {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    await this.administer('PUT', `/tenants/${tenant}`, { tenant_id: tenant, telephony, ...document })
    const keys = `/tenants/${tenant}/api-keys`
    const { created } = await this.administer<{ created: { token: string } }>('POST', keys, { label: 'test' })
    this.#tokens.set(tenant, created.token)
    const desk = { agent_key: 'desk', name: 'Desk', description: '' }
    const made = await this.administer<{ agent: { id: string } }>('POST', `/tenants/${tenant}/agents`, desk)
    await this.publish(tenant, made.agent.id, agent)
    await this.administer('POST', `/tenants/${tenant}/phone-routes`, { phone_number: number, agent_key: 'desk' })
    return made.agent.id
  }

  /** Makes a new version the one that speaks; returns its id. */
  async publish(tenant: string, agentId: string, config: Record<string, unknown>): Promise<string> {
    const path = `/tenants/${tenant}/agent-versions`
    const { version } = await this.administer<{ version: { id: string } }>('POST', path, { agent_id: agentId, config })
    await this.administer('POST', `${path}/${version.id}/publish`)
    return version.id
  }

  /** What was logged since the start. */
  logLines(): ({ level: string; msg: string } & Record<string, unknown>)[] {
    return this.#lines.map((line) => JSON.parse(line) as { level: string; msg: string })
  }

  async #fetch<Body>(
    method: Method,
    path: string,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<Answer<Body>> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(`${this.address}/api/v1${path}`, { method, headers: { ...headers, ...type }, ...sent })
    return { status: response.status, body: (await response.json()) as Body }
  }
}

/** Calls are taken, and nothing is said of it, however busy this machine is with other tests. */
export function calmed(metrics: Metrics, load: LoopSample = CALM): Metrics {
  return { ...metrics, eventLoop: { ...metrics.eventLoop, sample: () => ({ ...load }), onBeat: () => () => {} } }
}
