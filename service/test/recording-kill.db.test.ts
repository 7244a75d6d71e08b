import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { voicedShare } from '../../simulator/src/audio/levels.ts'
import { encodeMulaw } from '../../simulator/src/audio/mulaw.ts'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { readWav } from '../src/records/recordings.fixture.ts'
import { killPrograms, type Program, startProgram } from './harness/program.ts'
import { scratchFolder } from './harness/scratch.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_recording_tests'
const NUMBER = '+12025550140'
/** Three seconds of it. */
const ENOUGH_BYTES = 48_000

const SCENARIO: Scenario = {
  name: 'a caller who talks for long',
  call: { from: '+12025550123', to: NUMBER },
  caller: {
    steps: [
      { say: 'I have a question about an order of mine, which I placed on Monday.' },
      { say: 'It has not come yet, and nobody has told me when it will, or where it is now.' },
    ],
    stays: true,
  },
  agent: { rules: [{ when: {}, say: 'I see. Please go on, and tell me more about it.' }] },
}

describe('kill -9 in the middle of a call that is recorded', () => {
  let copy: Copy
  let dataDir: string
  let simulator: Simulator
  let settings: Record<string, string>

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    simulator = await startSimulator({
      carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
      model: { host: '127.0.0.1', port: 0 },
    })
    dataDir = copy.settings['DATA_DIR'] ?? (await scratchFolder())
    const providers = {
      TELEPHONY_API_BASE_URL: simulator.carrier.baseUrl,
      OPENAI_REALTIME_URL: simulator.model.url,
      OPENAI_API_KEY: 'sk-key-of-the-recording-tests',
    }
    settings = { ...copy.settings, DATA_DIR: dataDir, ADMIN_API_KEY, ...providers }
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await simulator.close()
    await copy.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function administer(address: string, method: string, path: string, body: object) {
    const response = await fetch(`${address}/api/v1/admin/tenants/acme${path}`, {
      method,
      headers: { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, Record<string, string>>
  }

  /** A tenant whose calls are recorded, with an agent that answers the number. Returns its key. */
  async function furnish(address: string): Promise<string> {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const agent = { greeting: 'Hello, what can I do for you?' }
    await administer(address, 'PUT', '', { tenant_id: 'acme', telephony, agent, compliance: { record_calls: true } })
    await administer(address, 'POST', '/agents', { agent_key: 'desk', name: 'Desk', description: '' })
    await administer(address, 'POST', '/phone-routes', { phone_number: NUMBER, agent_key: 'desk' })
    return (await administer(address, 'POST', '/api-keys', { label: 'test' }))['created']?.['token'] ?? ''
  }

  async function get(address: string, key: string, path: string): Promise<Buffer> {
    const response = await fetch(address + path, { headers: { authorization: `Bearer ${key}` } })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return Buffer.from(await response.arrayBuffer())
  }

  async function sessionOf(address: string, key: string) {
    const listed = JSON.parse((await get(address, key, '/api/v1/voice-sessions')).toString()) as {
      voice_sessions: { id: string; recording_url: string | null }[]
    }
    return listed.voice_sessions[0] ?? null
  }

  /** Calls until the service is gone: on a machine that is busy with other tests it may have no room for the first ones. */
  async function rings(address: string): Promise<void> {
    const voiceUrl = `http://localhost:${new URL(address).port}/api/v1/incoming-call`
    const answers = () => fetch(`${address}/livez`).then(Boolean, () => false)
    while (await answers()) await runScenario(simulator, SCENARIO, { voiceUrl }).catch(() => null)
  }

  async function talksUntilRecorded(program: Program): Promise<{ key: string; file: string; ringing: Promise<void> }> {
    const address = await program.listening()
    const key = await furnish(address)
    const ringing = rings(address)
    const session = await until(() => sessionOf(address, key), { what: 'the call', timeoutMs: 60_000 })
    const file = join(dataDir, 'recordings', 'acme', session.id, '1.wav')
    const sizeOf = async () => (await stat(file).catch(() => null))?.size ?? 0
    await until(async () => (await sizeOf()) > ENOUGH_BYTES, { what: 'some seconds of audio', timeoutMs: 30_000 })
    await until(async () => (await sessionOf(address, key))?.recording_url, { what: 'the row of the recording' })
    return { key, file, ringing }
  }

  it('leaves a file that plays, and the service that comes after it serves it', { timeout: 180_000 }, async () => {
    const first = startProgram(settings)
    const { key, file, ringing } = await talksUntilRecorded(first)
    expect((await first.end('SIGKILL')).signal).toBe('SIGKILL')
    await ringing

    const stored = await readFile(file)
    const told = stored.readUInt32LE(54)
    expect([stored.toString('latin1', 0, 4), stored.toString('latin1', 50, 54)]).toEqual(['RIFF', 'data'])
    expect(stored.readUInt32LE(4)).toBe(told + 50)
    // Killed between a block and its head, the head is one block behind.
    expect(stored.length - 58 - told).toBeGreaterThanOrEqual(0)
    expect(stored.length - 58 - told).toBeLessThanOrEqual(16_000)

    const second = startProgram(settings)
    const address = await second.listening()
    const session = await sessionOf(address, key)
    const { left, right } = readWav(await get(address, key, session?.recording_url ?? ''))
    expect(left).toHaveLength((stored.length - 58) / 2)
    expect(voicedShare(encodeMulaw(left)) + voicedShare(encodeMulaw(right))).toBeGreaterThan(0.2)
    await second.end('SIGTERM')
  })
})
