import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { killPrograms, startProgram } from '../../service/test/harness/program.ts'
import { until } from '../../service/test/harness/wait.ts'
import type { Carrier } from '../../simulator/src/carrier/carrier.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { deafUrl } from './answering.fixture.ts'
import { runLive } from './run-live.fixture.ts'
import { NUMBER, startSimulated } from './simulated.fixture.ts'

vi.setConfig({ testTimeout: 120_000 })
afterEach(killPrograms)

const ADMIN_KEY = 'ak_0123456789abcdef'

/** The service itself, on a database of its own, with simulated accounts. */
async function startAll() {
  const { carrier, settings } = await startSimulated()
  const publicUrl = await deafUrl()
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-going-live-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const at = { PUBLIC_URL: publicUrl, PORT: new URL(publicUrl).port, DATA_DIR: dataDir, ADMIN_API_KEY: ADMIN_KEY }
  const all = { ...settings, ...at }
  const service = startProgram(all)
  await service.listening()
  return { carrier, settings: all, service }
}

/** The last of the printed commands, done as `curl` would do it. */
function makeRoute(printed: string): Promise<Response> {
  const [, url = '', body = ''] = /curl .* (http\S+) -d '(.+)'/.exec(printed) ?? []
  return fetch(url, {
    method: 'POST',
    headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' },
    body,
  })
}

/**
 * Rings as the carrier does, by the addresses that the number was connected to, until a stream begins: on a machine that is
 * busy with other things the service asks callers to try again.
 */
function ringUntilTaken(carrier: Carrier): Promise<SimulatedCall> {
  const ring = async () => {
    const call = carrier.ring({ from: '+12025550100', to: NUMBER, caller: { steps: [] } })
    const event = await call.until(({ kind }) => kind === 'stream-started' || kind === 'hang-up', 30_000)
    if (event?.kind === 'stream-started') return call
    await call.settled
    return null
  }
  return until(ring, { timeoutMs: 60_000, what: 'a call to be taken' })
}

describe('going live', () => {
  it('leads from a bare number to an agent that answers it', async () => {
    const { carrier, settings, service } = await startAll()
    const connected = await runLive('connect-number.ts', [NUMBER], settings)
    expect(connected).toMatchObject({ code: 0, stderr: '' })
    expect((await makeRoute(connected.stdout)).status).toBe(200)

    const checked = await runLive('live-check.ts', [NUMBER], settings)
    expect(checked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('8 ok, 0 failed, 0 skipped') })

    const call = await ringUntilTaken(carrier).catch((error: unknown) => {
      throw new Error(`nobody answered: ${service.stdout()}`, { cause: error })
    })
    expect(await call.until(({ kind }) => kind === 'agent-began', 20_000)).not.toBeNull()
    expect(call.notifications).toEqual([])
    call.hangUp()
    await call.settled
    await service.end('SIGTERM')
  })
})
