import type { ChildProcess } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type Config, SETTINGS } from './config.ts'
import { type Clock, withTimeout } from './kernel/clock.ts'
import { AppError } from './kernel/errors.ts'
import type { Log } from './platform/log.ts'
import { makeFolder } from './platform/make-folder.ts'

/**
 * Starts a program of this project beside the service, its standard output piped. It has to end by itself when the service
 * is gone, however that came.
 */
export type StartBeside = (program: URL, args: string[]) => ChildProcess

/** Which providers are simulated, because nothing is set for them. */
export type Simulated = { carrier: boolean; model: boolean }

/** A simulator that runs beside the service. */
export type Rehearsal = {
  /** The settings, with the simulator in the place of every provider that has no account. */
  config: Config
  simulated: Simulated
  /**
   * Lets `npm run call` on this machine find the simulated carrier, and the service at `publicUrl`: by a file in DATA_DIR. It
   * writes none when the carrier is a real one.
   */
  announce(publicUrl: string): Promise<void>
  /** Ends the simulator: to be called when the service has ended its calls. */
  stop(): Promise<void>
}

/** What the simulator says of itself on its first line. */
type Addresses = {
  carrier: { base_url: string; account_sid: string; auth_token: string }
  model: { url: string; base_url: string; voice_url: string }
}

type Deps = { config: Config; clock: Clock; log: Log; start: StartBeside }

const PROGRAM = new URL('../../simulator/src/main.ts', import.meta.url)
const ARGUMENTS = ['serve', '--json', '--carrier-port', '0', '--model-port', '0']

/** Only its owner can read it, because it holds the token with which the simulated carrier signs and is steered. */
const FILE = 'rehearsal.json'

/** The model takes any key; this one says what it is to whoever meets it. */
const MODEL_KEY = 'rehearsal'

/** The voices are loaded in well under a second; a first start that compiles everything on a busy machine gets more. */
const START_TIMEOUT_MS = 60_000
/** The simulator has no calls left by then. One that hangs is killed, so that the service still stops in its time. */
const STOP_TIMEOUT_MS = 500

/**
 * Starts the simulator when SIMULATOR is on and a provider has no account; null when there is nothing to simulate.
 *
 * A simulator that ends by itself is logged as an error, and the service goes on without it.
 * @throws AppError `unavailable` with a sentence for the operator when it does not start.
 */
export async function startRehearsal({ config, clock, log, start }: Deps): Promise<Rehearsal | null> {
  if (!config.simulator) return null
  const simulated = simulatedIn(config)
  if (!simulated.carrier && !simulated.model) {
    log.info('SIMULATOR is on, but every provider is configured: there is nothing to simulate')
    return null
  }
  const child = start(PROGRAM, ARGUMENTS)
  const addresses = await addressesOf(child, clock)
  log.warn({ simulated }, 'this is a rehearsal: what is simulated never leaves this machine')

  let stopping = false
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!stopping) log.error({ code, signal }, 'the simulator has ended: start the service again to go on rehearsing')
      resolve()
    })
  })
  const path = join(config.dataDir, FILE)
  return {
    config: pointedAt(addresses, config, simulated),
    simulated,
    async announce(publicUrl) {
      if (!simulated.carrier) return
      await makeFolder(config.dataDir)
      // A file of an earlier start that was killed keeps its mode when it is written over.
      await rm(path, { force: true })
      await writeFile(path, `${JSON.stringify({ public_url: publicUrl, ...addresses })}\n`, { mode: 0o600 })
    },
    async stop() {
      stopping = true
      await rm(path, { force: true })
      child.kill('SIGTERM')
      const late = () => new Error('the simulator hangs')
      await withTimeout(clock, exited, STOP_TIMEOUT_MS, late).catch(() => child.kill('SIGKILL'))
      await exited
    },
  }
}

/** An address that was set belongs to somebody, with a key or without one. */
function simulatedIn({ telephonyAccountSid, telephonyApiUrl, modelApiKey, modelUrl }: Config): Simulated {
  return {
    carrier: telephonyAccountSid === null && telephonyApiUrl === SETTINGS.telephonyApiUrl.read(undefined),
    model: modelApiKey === null && modelUrl === SETTINGS.modelUrl.read(undefined),
  }
}

function pointedAt({ carrier, model }: Addresses, config: Config, simulated: Simulated): Config {
  return Object.freeze({
    ...config,
    ...(simulated.carrier && {
      telephonyAccountSid: carrier.account_sid,
      telephonyAuthToken: carrier.auth_token,
      telephonyApiUrl: carrier.base_url,
    }),
    ...(simulated.model && { modelApiKey: MODEL_KEY, modelUrl: model.url }),
    ...(simulated.model && isVoiceOpen(config) && { secondaryAudioKey: MODEL_KEY, secondaryAudioUrl: model.voice_url }),
    // Whoever has set the address of another chat model means that one.
    ...(simulated.model && config.chatUrl === SETTINGS.chatUrl.read(undefined) && { chatUrl: model.base_url }),
  })
}

/** Beside a real model nobody is spoken for by a rehearsal. */
function isVoiceOpen({ secondaryAudioKey, secondaryAudioUrl }: Config): boolean {
  return secondaryAudioKey === null && secondaryAudioUrl === SETTINGS.secondaryAudioUrl.read(undefined)
}

async function addressesOf(child: ChildProcess, clock: Clock): Promise<Addresses> {
  const late = () => new Error('it said nothing in time')
  try {
    const line = await withTimeout(clock, firstLine(child), START_TIMEOUT_MS, late)
    return JSON.parse(line) as Addresses
  } catch (cause) {
    child.kill('SIGKILL')
    throw new AppError(
      'unavailable',
      `The simulator did not start: ${(cause as Error).message}. It belongs to a whole checkout with its dependencies; without one, set SIMULATOR to off.`,
      { cause },
    )
  }
}

/** Its first line. What it says later is read on and dropped, so that it never waits for a reader. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`it ended with code ${code}`)))
    createInterface({ input: child.stdout as Readable }).on('line', resolve)
  })
}
