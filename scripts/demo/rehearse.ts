import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO } from '../../service/src/demo.ts'
import { stereoWav } from '../../simulator/src/audio/wav.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { readScenario } from '../../simulator/src/scenario/read-scenario.ts'
import { runScenario, type ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { freePort } from '../needs/free-port.ts'
import { aborted } from './aborted.ts'
import { type Api, makeApi } from './api.ts'
import { followCall } from './follow-call.ts'
import { type ServiceProcess, startService } from './service-process.ts'
import { readStoredCall, type StoredCall } from './stored-call.ts'
import { withTenantKey } from './tenant-key.ts'

const SCENARIO = join(import.meta.dirname, '..', '..', 'simulator', 'scenarios', 'demo.yaml')
const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: randomBytes(16).toString('hex') }
const ADMIN_KEY = `ak_${randomBytes(24).toString('base64url')}`
const ANY_FREE = { host: '127.0.0.1', port: 0 }
const STREAM_TIMEOUT_MS = 20_000

/** How a rehearsal is told, and where its recording goes. */
export type RehearsalOptions = { say: (line: string) => void; wavPath: string; signal: AbortSignal }

/** What came of a rehearsal. */
export type Rehearsed = { scenario: Scenario; report: ScenarioReport; stored: StoredCall }

/**
 * Rehearses the demo call from the ring to the stored record: the simulator in this process, the service as a process of its
 * own, its data in a folder that is removed afterwards. Nothing is left running or lying about, also when the signal aborts
 * it.
 *
 * @throws Error when the call cannot be made, is never answered or its record is not closed; the signal's reason.
 */
export async function rehearse(options: RehearsalOptions): Promise<Rehearsed> {
  const { signal } = options
  const folder = await mkdtemp(join(tmpdir(), 'parley-demo-'))
  const simulator = await startSimulator({ carrier: { ...ANY_FREE, ...ACCOUNT }, model: ANY_FREE })
  let service: ServiceProcess | null = null
  try {
    service = await startService(await settingsFor(simulator, folder), signal)
    return await Promise.race([callOnce(simulator, service, options), service.failed, aborted(signal)])
  } finally {
    // The carrier first, as at the end of a day: the service still writes down how its calls ended.
    await simulator.close()
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function settingsFor({ carrier, model }: Simulator, folder: string): Promise<Record<string, string>> {
  const port = String(await freePort())
  return {
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATA_DIR: folder,
    ADMIN_API_KEY: ADMIN_KEY,
    TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid,
    TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken,
    TELEPHONY_API_BASE_URL: carrier.baseUrl,
    OPENAI_API_KEY: 'rehearsal',
    OPENAI_REALTIME_URL: model.url,
    OPENAI_BASE_URL: model.baseUrl,
  }
}

async function callOnce(simulator: Simulator, service: ServiceProcess, options: RehearsalOptions): Promise<Rehearsed> {
  const { address: base } = service
  const admin = makeApi(base, { 'x-admin-key': ADMIN_KEY })
  const scenario = await readScenario(SCENARIO)
  return withTenantKey(admin, { base, tenantId: DEMO.tenantId, label: 'npm run demo' }, async (tenant) => {
    let followed: Promise<void> = Promise.resolve()
    const report = await runScenario(simulator, scenario, {
      voiceUrl: `${base}/api/v1/incoming-call`,
      statusCallback: `${base}/api/v1/call-status`,
      onCall(call) {
        options.say(`        ${call.from} rings ${call.to}`)
        followed = follow(tenant, call, options)
        // Looked at when the call is over; a failure before that must not end the process.
        followed.catch(() => {})
      },
    })
    if (!report.audio) throw new Error(`the call was not answered: ${report.facts.end.status}, ${problems(report)}`)
    await followed
    await writeFile(options.wavPath, stereoWav(report.audio.caller, report.audio.agent))
    return { scenario, report, stored: await readStoredCall(tenant, report.facts.sid) }
  })
}

async function follow(tenant: Api, call: SimulatedCall, { say, signal }: RehearsalOptions): Promise<void> {
  const started = await call.until(({ kind }) => kind === 'stream-started' || kind === 'hang-up', STREAM_TIMEOUT_MS)
  if (started?.kind !== 'stream-started') return
  await followCall(tenant, { streamSid: started.streamSid, say, signal })
}

function problems({ facts }: ScenarioReport): string {
  return facts.notifications.map(({ code, message }) => `${code} ${message}`).join(', ') || 'and nobody says why'
}
