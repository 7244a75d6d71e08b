import type { Speech } from '../speech/speech.ts'
import type { CallPlan } from './call-plan.ts'
import type { CallerScript } from './caller-script.ts'
import { type Clock, makeClock } from './clock.ts'
import { Conferences } from './conferences.ts'
import { type FaultOptions, type Faults, makeFaults } from './faults.ts'
import { PhoneNumbers } from './phone-numbers.ts'
import { makeRandom } from './random.ts'
import { RestError } from './rest-error.ts'
import type { RestRequest } from './rest-request.ts'
import { type AnswerControl, startRestServer } from './rest-server.ts'
import type { SimulatedCall } from './simulated-call.ts'
import { Switchboard } from './switchboard.ts'
import { WebhookClient } from './webhook-client.ts'

// Who is called at a number that nobody was given: it rings in vain.
const NOBODY_HOME: CallerScript = { whenRung: 'no-answer', steps: [] }
const FOUR_HOURS_MS = 4 * 60 * 60 * 1000

/** What a carrier is started with. */
export type CarrierOptions = {
  host: string
  /** 0 takes any free port. */
  port: number
  accountSid: string
  authToken: string
  speech: Speech
  /** Switches that are not as on a good day. */
  faults?: FaultOptions
  /** Time; a faster one lets calls pass faster. Real time when absent. */
  clock?: Clock
  /** Seed of jitter and chance; 1 when absent. */
  seed?: number
  /** Numbers of the account. When given, calls can be made from these alone. */
  numbers?: string[]
  /** Other credentials that are as good as the account's: API keys and their secrets. */
  apiKeys?: Record<string, string>
  /** Credentials with which no call is placed and only magic numbers are taken. */
  testCredentials?: { accountSid: string; authToken: string }
  /** How many calls are let out in a second; 1 when absent. */
  callsPerSecond?: number
  /** Who answers at numbers that `subscribe` gave nobody; they ring in vain when absent. */
  anybody?: CallerScript
  /** Answers what is asked under `/control/` with the account's credentials; nothing is there when absent. */
  control?: (telephones: Telephones, request: RestRequest) => ReturnType<AnswerControl>
}

/** An inbound call to make. */
export type RingOptions = {
  from: string
  to: string
  caller: CallerScript
  /** Where the carrier asks what to do; the number's own address when absent. */
  voiceUrl?: string
  voiceFallbackUrl?: string
  statusCallback?: string
  /** How long the call may last; four hours when absent. */
  timeLimitMs?: number
}

/** The telephones of a carrier: who has called, and who calls now. */
export type Telephones = {
  /** The last hundred calls, oldest first. */
  readonly calls: readonly SimulatedCall[]
  /** Somebody rings a number. @throws Error when there is no address to ask, or the carrier is closed */
  ring(options: RingOptions): SimulatedCall
}

/** A simulated carrier. */
export type Carrier = Telephones & {
  /** Address of the REST surface, without a path. */
  readonly baseUrl: string
  /** Switches, which may be changed while calls run. */
  readonly faults: Faults
  /** Says who answers when a number is called; the function that it returns gives the number back to who had it before. */
  subscribe(number: string, script: CallerScript): () => void
  /** Calls the watcher with each call that begins from now on; the function that it returns ends that. */
  watch(watcher: (call: SimulatedCall) => void): () => void
  /** Ends every call and stops; nothing is left open. Safe to call twice. */
  close(): Promise<void>
}

/**
 * Starts a carrier: its REST surface listens, calls can be made both ways.
 * @throws Error when the address is taken
 */
export async function startCarrier(options: CarrierOptions): Promise<Carrier> {
  const { host, accountSid, authToken, speech } = options
  const seed = options.seed ?? 1
  const clock = options.clock ?? makeClock()
  const faults = makeFaults(options.faults)
  const webhooks = new WebhookClient(clock, authToken)
  const numbers = new PhoneNumbers(clock, accountSid)
  for (const number of options.numbers ?? []) numbers.add(number)
  const switchboard = new Switchboard(
    {
      clock,
      jitter: makeRandom(seed + 1),
      chance: makeRandom(seed),
      speech,
      webhooks,
      conferences: new Conferences(),
      accountSid,
      authToken,
      faults,
    },
    { callsPerSecond: options.callsPerSecond ?? 1, anybody: options.anybody ?? NOBODY_HOME },
  )
  const telephones: Telephones = {
    calls: switchboard.calls,
    ring: (ring) => switchboard.ring(inboundPlan(ring, numbers)),
  }
  const parts = { clock, switchboard, numbers, faults: faults.rest, control: controlOf(telephones, options.control) }
  const server = await startRestServer(parts, accessOf(options), options)
  return {
    ...telephones,
    baseUrl: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    faults,
    subscribe: (number, script) => switchboard.subscribe(number, script),
    watch: (watcher) => switchboard.watch(watcher),
    close: once(async () => {
      await Promise.all([switchboard.close(), server.close()])
      await webhooks.close()
    }),
  }
}

function controlOf(telephones: Telephones, control: CarrierOptions['control']): AnswerControl {
  if (control) return (request) => control(telephones, request)
  return ({ path }) => Promise.reject(new RestError(20404, `The requested resource ${path} was not found`))
}

function accessOf({ accountSid, authToken, apiKeys, testCredentials }: CarrierOptions) {
  return {
    accountSid,
    live: new Map([[accountSid, authToken], ...Object.entries(apiKeys ?? {})]),
    test: new Map(testCredentials ? [[testCredentials.accountSid, testCredentials.authToken]] : []),
  }
}

function inboundPlan(options: RingOptions, numbers: PhoneNumbers): CallPlan {
  const settings = numbers.find(options.to)?.settings
  const url = options.voiceUrl ?? settings?.voiceUrl ?? ''
  if (url === '') throw new Error(`nothing is set for calls to ${options.to}`)
  const method = options.voiceUrl ? 'POST' : (settings?.voiceMethod ?? 'POST')
  return {
    from: options.from,
    to: options.to,
    direction: 'inbound',
    parentSid: null,
    party: options.caller,
    instructions: { kind: 'url', url, method, form: [] },
    fallback: {
      url: options.voiceFallbackUrl ?? settings?.voiceFallbackUrl ?? '',
      method: settings?.voiceFallbackMethod ?? 'POST',
    },
    callback: {
      url: options.statusCallback ?? settings?.statusCallback ?? '',
      method: settings?.statusCallbackMethod ?? 'POST',
      events: ['completed'],
    },
    ringTimeoutMs: FOUR_HOURS_MS,
    timeLimitMs: options.timeLimitMs ?? FOUR_HOURS_MS,
    afterInstructions: 'hang-up',
    sendDigits: '',
    machineDetection: null,
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => (running ??= run())
}
