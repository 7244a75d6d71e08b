import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/src/simulator.ts'
import type { TestDatabase } from './database.ts'
import { ACCOUNT, ServedApp } from './served-app.ts'
import { there } from './there.ts'

/** The number that the agent of the tenant `acme` answers. */
export const NUMBER = '+12025550140'

/** The whole service with a simulated carrier and model at its providers' addresses. */
export type LiveApp = {
  readonly simulator: Simulator
  readonly served: ServedApp
  /** Where the carrier asks what to do with a call, and tells what became of it. */
  readonly urls: { voiceUrl: string; statusCallback: string }
}

type Options = {
  /** Asked once the simulator is there. */
  settings?: Record<string, string> | (() => Record<string, string>)
  agent?: Record<string, unknown>
  document?: Record<string, unknown>
}

/**
 * Starts the service anew for each test of the file, on the database of the file (call `useDatabase` first), with a tenant
 * `acme` whose agent answers `NUMBER`.
 */
export function useLiveApp(test: TestDatabase, { settings = {}, ...furnished }: Options = {}): LiveApp {
  let simulator: Simulator | undefined
  let served: ServedApp | undefined
  beforeAll(async () => {
    simulator = await startSimulator({
      carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
      model: { host: '127.0.0.1', port: 0 },
    })
    // Its voice takes seconds to its first words on a busy machine, of which a call waits two for a provider.
    await simulator.speech.say('Hello.')
  })
  afterAll(() => simulator?.close())
  beforeEach(async () => {
    const { carrier, model } = there(simulator)
    const providers = {
      TELEPHONY_API_BASE_URL: carrier.baseUrl,
      OPENAI_REALTIME_URL: model.url,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: 'sk-key-of-the-live-app-tests',
    }
    served = await ServedApp.start(test, {
      settings: { ...providers, ...(typeof settings === 'function' ? settings() : settings) },
    })
    await served.furnish('acme', { number: NUMBER, ...furnished })
  })
  afterEach(async () => {
    await served?.app.close()
    served = undefined
  })
  return {
    get simulator() {
      return there(simulator)
    },
    get served() {
      return there(served)
    },
    get urls() {
      const publicUrl = there(served).app.publicUrl()
      return { voiceUrl: `${publicUrl}/api/v1/incoming-call`, statusCallback: `${publicUrl}/api/v1/call-status` }
    },
  }
}
