import { type Config, SETTINGS } from './config.ts'
import { openDatabase, sharedClockOf } from './database.ts'
import { makeReady } from './database-start.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import { CoarseClock } from './kernel/coarse-clock.ts'
import { secretBytes } from './kernel/ids.ts'
import { makeSealer, type Sealer } from './kernel/seal.ts'
import type { SharedClock } from './kernel/shared-clock.ts'
import { openaiChat } from './platform/chat/openai.ts'
import type { ChatModel } from './platform/chat/port.ts'
import { type Cluster, joinCluster } from './platform/cluster/cluster.ts'
import type { Database } from './platform/db/schema.ts'
import { type Metrics, makeMetrics } from './platform/http/metrics.ts'
import { KEY_BYTES, loadOrCreateKey } from './platform/key-file.ts'
import type { Log } from './platform/log.ts'
import type { Mailer } from './platform/mail/port.ts'
import { smtpMailer } from './platform/mail/smtp.ts'
import { setClock } from './platform/nodes/heartbeat.ts'
import { askTime } from './platform/nodes/heartbeat-store.ts'
import { makeOutbound, type Outbound } from './platform/outbound/outbound.ts'
import type { RealtimeDriver } from './platform/realtime/port.ts'
import { makeModel } from './platform/realtime/registry.ts'
import { type SharedSpeech, withCircuit } from './platform/speech/guarded.ts'
import { openaiSpeech } from './platform/speech/openai.ts'
import type { Speech } from './platform/speech/port.ts'
import { makeStreamedSpeech } from './platform/speech/registry.ts'
import { saidByModel, withSuccessor } from './platform/speech/said-by-model.ts'
import { VoiceCircuits } from './platform/speech/voice-circuits.ts'
import { oidcProvider } from './platform/sso/oidc.ts'
import type { IdentityProvider } from './platform/sso/port.ts'
import { type Carriers, makeCarriers } from './platform/telephony/registry.ts'
import type { Simulated } from './rehearsal.ts'
import { expectNoSealingKey } from './tenancy/sealing-key.ts'

/** The outside world as the floors see it: what they need and do not make themselves. */
export type Deps = {
  config: Config
  version: string
  /** What the program was made of; null, or not given, where nobody knows. */
  commit?: string | null
  /** Which providers a simulator stands in for. */
  simulated: Simulated
  log: Log
  clock: Clock
  /** What `clock` goes by where nodes share a database, to be told the time of that; not given: its machine's clock. */
  sharedClock?: SharedClock | undefined
  metrics: Metrics
  database: Database
  cluster: Cluster
  sealer: Sealer
  /** Of ENCRYPTION_KEY_PREVIOUS: `sealer` opens what it has sealed. Null while keys are not being changed. */
  formerSealer: Sealer | null
  carriers: Carriers
  /** The way to addresses that tenants name. */
  outbound: Outbound
  /** Null while no key is configured: no agent can speak. */
  model: RealtimeDriver | null
  /** Where a call goes on whose own model stays away; null, or not given, where there is none. */
  fallbackModel?: RealtimeDriver | null
  /** Null while no key is configured, or no address: no agent can be tried in text, and no call is scored. */
  chat: ChatModel | null
  /** Null where there is no chat model: no words are spoken ahead of the calls in which they are heard. */
  speech: Speech | null
  /** The secondary provider of voices; null while no key is configured. */
  secondVoice: SharedSpeech | null
  /** Null while no mail server is configured: nobody is told anything by mail. */
  mailer: Mailer | null
  /** Null where people log in with passwords alone. */
  identityProvider: IdentityProvider | null
}

/** What only the process itself knows. */
export type ProcessFacts = {
  version: string
  commit?: string | null
  pid: number
  simulated?: Simulated | undefined
  /** The database of the settings, where it was opened before. */
  database?: Database
  /** That of `sharedClockOf`, where the log goes by it as well. */
  sharedClock?: SharedClock | undefined
}

const NOTHING_SIMULATED: Simulated = { carrier: false, model: false }

/**
 * Opens what the service stands on: the database, with its schema brought up to date, the way to other nodes, the sealing key,
 * the metrics, the carriers and the model.
 *
 * @throws AppError `unavailable` with a sentence for the operator when the database cannot be had.
 */
export async function makeDeps(config: Config, log: Log, facts: ProcessFacts): Promise<Deps> {
  const { version, commit = null, pid, simulated = NOTHING_SIMULATED } = facts
  const sharedClock = facts.sharedClock ?? sharedClockOf(config)
  const clock = new CoarseClock(sharedClock ?? systemClock)
  const database = facts.database ?? (await openDatabase(config, log, pid))
  let key: Buffer
  try {
    await makeReady(database, clock, log)
    const askedMs = clock.monotonicMs()
    if (sharedClock) setClock(sharedClock, { saidMs: await askTime(database.db), askedMs }, log)
    key = config.encryptionKey ?? (await ownKey(config, database))
  } catch (error) {
    await database.close()
    throw error
  }
  const formerSealer = config.encryptionKeyPrevious && makeSealer(config.encryptionKeyPrevious)
  const carriers = makeCarriers({ apiBaseUrl: config.telephonyApiUrl })
  const model = modelOf(config, clock, log)
  const metrics = makeMetrics(clock)
  return {
    config,
    version,
    commit,
    simulated,
    log,
    clock,
    sharedClock,
    metrics,
    database,
    cluster: await joinCluster({ redisUrl: config.redisUrl, clock, log, metrics, db: database.vital }),
    sealer: makeSealer(key, formerSealer),
    formerSealer,
    carriers,
    outbound: makeOutbound({ clock, allowPrivate: config.outboundAllowPrivate }),
    model,
    fallbackModel: fallbackModelOf(config, clock, log),
    chat: chatOf(config, log),
    speech: speechOf(config, model),
    secondVoice: secondVoiceOf(config, clock),
    mailer: mailerOf(config, clock),
    identityProvider: identityProviderOf(config, clock),
  }
}

/** Without a database there is nothing that a later start would have to open. */
function ownKey({ database, dataDir }: Config, { db }: Pick<Database, 'db'>): Promise<Buffer> | Buffer {
  return database.kind === 'none' ? secretBytes(KEY_BYTES) : loadOrCreateKey(dataDir, () => expectNoSealingKey(db))
}

function modelOf({ realtimeProvider, modelUrl: url, modelApiKey: apiKey }: Config, clock: Clock, log: Log) {
  return apiKey === null ? null : makeModel(realtimeProvider, { url, apiKey, clock, log })
}

/** The model of the settings for calls whose own stays away, if they name one. */
export function fallbackModelOf(config: Config, clock: Clock, log: Log): RealtimeDriver | null {
  const { fallbackUrl, fallbackApiKey, fallbackModel: name } = config
  const apiKey = fallbackApiKey ?? config.modelApiKey
  if (apiKey === null || (fallbackUrl === null && fallbackApiKey === null && name === null)) return null
  const driver = makeModel(config.realtimeProvider, { url: fallbackUrl ?? config.modelUrl, apiKey, clock, log })
  if (name === null) return driver
  return {
    ...driver,
    priceOf: () => driver.priceOf?.(name) ?? null,
    modelFor: () => name,
    open: (setup, listener) => driver.open({ ...setup, model: name }, listener),
  }
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/**
 * The chat model of the settings, if they hold a key for it. What is said in calls goes to no other house than the one that the
 * realtime model is in, unless its address is set.
 */
export function chatOf(config: Config, log?: Log): ChatModel | null {
  const { modelApiKey: apiKey } = config
  const baseUrl = baseUrlOf(config)
  return apiKey === null || baseUrl === null ? null : openaiChat({ baseUrl, apiKey, ...(log && { log }) })
}

/** What speaks words ahead of their calls, in the same house: the model of calls once the endpoint has nothing that does. */
function speechOf(config: Config, model: RealtimeDriver | null): Speech | null {
  const { modelApiKey: apiKey } = config
  const baseUrl = baseUrlOf(config)
  if (apiKey === null || baseUrl === null) return null
  const endpoint = openaiSpeech({ baseUrl, apiKey })
  return model ? withSuccessor(endpoint, saidByModel(model, endpoint.defaultVoice)) : endpoint
}

/** So many failed streams within so long, of whatever calls, and nobody waits for the provider for a while. */
const VOICE_CIRCUITS = {
  provider: { maxFailures: 3, windowMs: 30_000, openMs: 15_000 },
  // What it does not have it will not have a moment later: no second call has to find out.
  voice: { maxFailures: 1, windowMs: 30_000, openMs: 60_000 },
}

/** The secondary provider of voices of the settings, if they hold a key for it. */
export function secondVoiceOf(config: Config, clock: Clock): SharedSpeech | null {
  const { secondaryAudioUrl: url, secondaryAudioKey: apiKey } = config
  if (apiKey === null) return null
  return withCircuit(makeStreamedSpeech({ url, apiKey, clock }), new VoiceCircuits(clock, VOICE_CIRCUITS))
}

function baseUrlOf({ chatUrl, modelUrl, realtimeProvider }: Config): string | null {
  const isOpenAi = realtimeProvider === 'openai' && modelUrl === SETTINGS.modelUrl.read(undefined)
  return chatUrl ?? (isOpenAi ? OPENAI_BASE_URL : null)
}

/** The mail server of the settings, if they name one. */
export function mailerOf({ notifySmtpUrl: url, notifyFrom: from }: Config, clock: Clock): Mailer | null {
  return url === null || from === null ? null : smtpMailer({ clock, url, from })
}

/** The identity provider of the settings, if they name one. It is first asked when somebody logs in. */
export function identityProviderOf(config: Config, clock: Clock): IdentityProvider | null {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  if (issuerUrl === null || clientId === null || clientSecret === null) return null
  return oidcProvider({ clock, issuerUrl, clientId, clientSecret })
}
