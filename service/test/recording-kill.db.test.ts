import { mkdtemp, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { readWav } from '../src/records/recordings.fixture.ts'
import { CALLER, NUMBER, streamTokenIn } from './harness/call-app.ts'
import { type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_recording_kill_tests'
const FORM = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER }
const IN_PROGRESS = { sid: 'CA1', status: 'in-progress', from: CALLER, to: NUMBER, duration: null, answered_by: null }
/** What the caller's sounds are once they are read. */
const SOUNDS = { before: { mulaw: 0x80, sample: 32_124 }, after: { mulaw: 0x00, sample: -32_124 } }
const SAMPLES_PER_MS = 8
/** What a kill may cost. */
const LOST_MS = 3_000
const PATIENCE_MS = 60_000

/** On a server: the embedded database would have to be opened twice. */
describe.runIf(inject('databaseTemplate').kind === 'server')('kill -9 of a node whose call is recorded', () => {
  const test = useDatabase()
  let simulator: Simulator
  let rest: CarrierRest
  beforeAll(async () => {
    rest = await startCarrierRest()
    rest.reply = ({ method }) => ({ status: 200, body: method === 'GET' ? IN_PROGRESS : {} })
    simulator = await startSimulator({
      carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
      model: { host: '127.0.0.1', port: 0 },
    })
  })
  afterEach(killPrograms)
  afterAll(() => Promise.all([simulator.close(), rest.close()]))

  it('leaves one recording, with what was two seconds old and what the next node recorded', {
    timeout: 180_000,
  }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'killed-'))
    const settings = {
      ...test.settings,
      ...{ DATA_DIR: dataDir, ADMIN_API_KEY, OPENAI_API_KEY: 'sk-key-of-the-tests' },
      ...{ OPENAI_REALTIME_URL: simulator.model.url, TELEPHONY_API_BASE_URL: rest.baseUrl },
    }
    const program = startProgram(settings)
    const address = await program.listening()
    const token = await furnish(address)
    const first = await talk(address, '/api/v1/incoming-call', 1)
    const begunMs = performance.now()
    const part = await until(
      async () => {
        await speak(first, SOUNDS.before.mulaw, { ms: 200, streamSid: 'MZ1' })
        const row = await test.db.selectFrom('recordings').select('path').executeTakeFirst()
        const path = row && join(dataDir, 'recordings', row.path)
        const file = path ? await stat(path).catch(() => null) : null
        return path && file && file.size > 4_000 * 2 * SAMPLES_PER_MS ? path : null
      },
      { what: 'four seconds of the recording', timeoutMs: PATIENCE_MS },
    )
    const killedMs = performance.now()
    expect(await program.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    const before = await stat(part)

    // Half a minute later, for whoever finds what it left.
    const longAgo = new Date(Date.now() - 31_000)
    await utimes(part, longAgo, longAgo)
    await test.db.deleteFrom('nodes').execute()
    const next = startProgram(settings)
    const nextAddress = await next.listening()
    const second = await talk(nextAddress, '/api/v1/call-resume', 2)
    await until(() => hasStream(nextAddress, { token, streamSid: 'MZ2' }), {
      what: 'the call to go on',
      timeoutMs: PATIENCE_MS,
    })
    const againMs = performance.now()
    await speak(second, SOUNDS.after.mulaw, { ms: 3_000, streamSid: 'MZ2' })
    second.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
    const told = () =>
      test.db.selectFrom('webhook_outbox').select('body').where('event', '=', 'voice.recording.ready').execute()
    await until(async () => (await told()).length > 0, { what: 'the recording to be told', timeoutMs: PATIENCE_MS })

    const [session] = await test.db.selectFrom('voice_sessions').select('id').execute()
    const response = await fetch(`${nextAddress}/api/v1/voice-sessions/${session?.id}/recording`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { left, right } = readWav(Buffer.from(await response.arrayBuffer()))
    expect((await stat(part)).size).toBe(before.size)
    const [from, until1] = [left.indexOf(SOUNDS.before.sample), left.lastIndexOf(SOUNDS.before.sample)]
    const keptMs = (until1 - from) / SAMPLES_PER_MS
    expect(keptMs).toBeGreaterThan(killedMs - begunMs - LOST_MS)
    const apartMs = (left.indexOf(SOUNDS.after.sample) - from) / SAMPLES_PER_MS
    expect(Math.abs(apartMs - (againMs - begunMs))).toBeLessThan(1_000)
    expect(left.subarray(until1 + 1, left.indexOf(SOUNDS.after.sample)).every((sample) => sample === 0)).toBe(true)
    expect(right.subarray(0, until1).some((sample) => Math.abs(sample) > 1_000)).toBe(true)
    expect((await test.db.selectFrom('recordings').select('state').execute()).map(({ state }) => state)).toEqual([
      'ready',
      'ready',
    ])
    expect((await next.end('SIGTERM')).code).toBe(0)
    expect(await told()).toMatchObject([{ body: { payload: { recording: { parts: 2 } } } }])
  })

  async function furnish(address: string): Promise<string> {
    const administer = async (method: string, path: string, body: unknown) => {
      const response = await fetch(`${address}/api/v1/admin/tenants/acme${path}`, {
        method,
        headers: { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(200)
      return (await response.json()) as { created: { token: string } }
    }
    await administer('PUT', '', {
      ...{ tenant_id: 'acme', agent: { agent_name: 'Robin' }, compliance: { record_calls: true } },
      telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token },
      webhook: { url: 'https://hooks.example.com/parley', events: ['voice.recording.ready'] },
    })
    await administer('POST', '/agents', { agent_key: 'desk', name: 'Desk', description: '' })
    await administer('POST', '/phone-routes', { phone_number: NUMBER, agent_key: 'desk' })
    return (await administer('POST', '/api-keys', { label: 'test' })).created.token
  }

  /** Until then it is being let in, and what its caller says waits. */
  async function hasStream(address: string, { token, streamSid }: { token: string; streamSid: string }) {
    const response = await fetch(`${address}/api/v1/sessions/${streamSid}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return response.status === 200
  }

  /** The carrier asks what to do with the call, and opens the stream that it is given. */
  async function talk(address: string, path: string, stream: number): Promise<StreamClient> {
    const form = { ...FORM, CallStatus: stream === 1 ? 'ringing' : 'in-progress' }
    const signature = sign(`http://localhost:${new URL(address).port}${path}`, form, ACCOUNT.token)
    const ask = async () => {
      const headers = { 'x-twilio-signature': signature }
      const answer = await fetch(address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
      const text = await answer.text()
      return text.includes('<Stream ') ? text : null
    }
    const text = await until(ask, { what: 'the call to be taken', timeoutMs: PATIENCE_MS })
    const client = await StreamClient.open(address)
    client.start({ callSid: 'CA1', streamSid: `MZ${stream}`, parameters: { stream_token: streamTokenIn(text) } })
    const speaks = () => client.messages.some(({ event }) => event === 'media')
    if (stream === 1) await until(speaks, { what: 'the agent to speak', timeoutMs: PATIENCE_MS })
    return client
  }
})

/** The caller makes a sound for so long, a frame every 20 ms. */
async function speak(
  client: StreamClient,
  mulaw: number,
  { ms, streamSid }: { ms: number; streamSid: string },
): Promise<void> {
  const payload = Buffer.alloc(160, mulaw).toString('base64')
  const startMs = performance.now()
  for (let at = 0; at < ms; at += 20) {
    await until(() => performance.now() >= startMs + at, { what: 'the next frame' })
    client.media(payload, streamSid)
  }
}
