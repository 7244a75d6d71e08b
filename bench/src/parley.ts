import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ACCOUNT_SID, type Entrance } from './carrier.ts'
import type { Child, Place } from './child.ts'
import { makeTenant } from './parley-tenant.ts'
import { startService } from './service-process.ts'
import { profiling, type Surroundings, type System, trusting } from './systems.ts'

/** What of the service is measured. `databaseUrl`: a PostgreSQL server; without one the database is embedded. */
export type ParleyOptions = {
  name: string
  databaseUrl: string | undefined
  /** How long a caller must speak to stop the agent. Undefined: the agent's default. */
  minSpeechMs: number | undefined
  /** Whether the agent's first words are a clip, spoken ahead of the calls. */
  hasClips?: boolean
  /** Settings beside those that every run has. */
  settings?: Record<string, string>
}

/** The address that the service goes by: a name, as in production, and not where it really listens. */
const PUBLIC_URL = 'https://bench.example.com'
const AUTH_TOKEN = randomBytes(16).toString('hex')
/** The same at every start, because the services of a run share their database server. */
const ENCRYPTION_KEY = randomBytes(32).toString('base64')
/** The key of the admin API of every service that is started here. */
export const ADMIN_API_KEY = randomBytes(32).toString('hex')

/** The service as a system under test: its own process, set up over its own API, with a tenant, an agent and a number. */
export function parley(options: ParleyOptions): System {
  return {
    name: options.name,
    role: 'subject',
    async start(surroundings, place) {
      const nodeArgs = profiling(surroundings, options.name)
      const { child, entrance, stop } = await startParley(options, surroundings, { place, nodeArgs })
      return { pids: [child.pid], entrance, stop }
    },
  }
}

/** The service when it takes calls. */
export type RunningParley = { child: Child; address: string; entrance: Entrance; stop(): Promise<void> }

/** Starts it with a data folder of its own, which goes with it. `nodeArgs`: options for Node itself. */
export async function startParley(
  options: ParleyOptions,
  surroundings: Surroundings,
  how: { place: Place; nodeArgs: string[] },
): Promise<RunningParley> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const service = await startService({ ...how, settings: settingsOf(options, surroundings, folder) }).catch((error) => {
    remove()
    throw error
  })
  const stop = () => service.stop().finally(remove)
  try {
    const { child, address } = service
    const tenant = { adminKey: ADMIN_API_KEY, minSpeechMs: options.minSpeechMs }
    const number = await makeTenant(address, tenant)
    return {
      child,
      address,
      entrance: { kind: 'webhooks', address, publicUrl: PUBLIC_URL, authToken: AUTH_TOKEN, number },
      stop,
    }
  } catch (error) {
    await stop()
    throw new Error(`the service was not set up: ${String(error)}\n${service.said()}`, { cause: error })
  }
}

function settingsOf(
  { databaseUrl, hasClips = false, settings }: ParleyOptions,
  around: Surroundings,
  folder: string,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL,
    DATA_DIR: folder,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ENCRYPTION_KEY,
    ADMIN_API_KEY,
    OPENAI_API_KEY: 'bench',
    OPENAI_REALTIME_URL: around.modelUrl,
    ...(hasClips && { OPENAI_BASE_URL: `${around.carrierUrl}/v1` }),
    TELEPHONY_ACCOUNT_SID: ACCOUNT_SID,
    TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
    TELEPHONY_API_BASE_URL: around.carrierUrl,
    MAX_CALLS: '10000',
    ...trusting(around.certificate),
    ...settings,
  }
}
