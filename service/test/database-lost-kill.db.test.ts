import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { CALLER, NUMBER, streamTokenIn } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { useProxiedDatabase } from './harness/proxied-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_database_lost_tests'
const KEYS = ['11', '22', '33', '44', '55']
/** Two seconds until it is in a file, on a machine that may be busy. */
const KEPT_WITHIN_MS = 15_000
const TAKEN_WITHIN_MS = 60_000
const ROUNDS = process.env['PARLEY_TEST_FULL'] ? 20 : 2

/** On a server: behind a wire that the test cuts. */
describe.runIf(inject('databaseTemplate').kind === 'server')('kill -9 while the database is away', () => {
  const test = useDatabase()
  const wire = useProxiedDatabase(test)
  let simulator: Simulator

  beforeAll(async () => {
    simulator = await startSimulator({
      carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
      model: { host: '127.0.0.1', port: 0 },
    })
  })
  afterEach(killPrograms)
  afterAll(() => simulator.close())

  async function settingsOf(dataDir: string): Promise<Record<string, string>> {
    return {
      ...test.settings,
      ...{ DATABASE_URL: wire.url, DATA_DIR: dataDir, ADMIN_API_KEY, OPENAI_API_KEY: 'sk-key-of-the-tests' },
      ...{ OPENAI_REALTIME_URL: simulator.model.url, TELEPHONY_API_BASE_URL: simulator.carrier.baseUrl },
    }
  }

  it(`loses nothing of what was on the disk, and stores it once, in ${ROUNDS} rounds`, {
    timeout: 60_000 * ROUNDS,
  }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'lost-'))
    const settings = await settingsOf(dataDir)
    for (let round = 1; round <= ROUNDS; round += 1) {
      const program = startProgram(settings)
      const address = await program.listening()
      if (round === 1) await furnish(address)
      const talking = await talk(address, `CK${round}`)
      const ending = await talk(address, `CE${round}`)
      await wire.proxy.cut()
      for (const keys of KEYS) press(talking, `MZCK${round}`, keys)
      ending.send({ event: 'stop', streamSid: `MZCE${round}`, stop: {} })
      await until(async () => kept(await filesText(dataDir)), { what: 'the files', timeoutMs: KEPT_WITHIN_MS })
      const told = await post(address, '/api/v1/call-status', { ...formOf(`CK${round}`), CallStatus: 'completed' })
      expect(told.status).toBe(200)
      expect(await program.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
      await wire.proxy.mend()

      const next = startProgram(settings)
      await next.listening()
      // Before it listens: nobody is told less than was known.
      expect(await keysOf(`CK${round}`)).toEqual(KEYS.map((keys) => `The caller pressed these keys: ${keys}`))
      expect(await sessionOf(`CE${round}`)).toEqual({ end_reason: 'caller_hangup', status: 'completed' })
      expect((await sessionOf(`CK${round}`)).status).toBe('completed')
      expect((await readdir(join(dataDir, 'journal'))).filter((name) => name.endsWith('.log'))).toEqual([])
      expect(next.stdout()).toContain('what a dead process had not stored is stored')
      expect((await next.end('SIGTERM')).code).toBe(0)
    }
  })

  async function furnish(address: string): Promise<void> {
    // Until then a busy machine may take longer to its first connections than an administrator waits for the database.
    const isReady = async () => (await fetch(`${address}/readyz`)).ok
    await until(isReady, { what: 'the service to be ready', timeoutMs: TAKEN_WITHIN_MS })
    const administer = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${address}/api/v1/admin/tenants/acme${path}`, {
        method,
        headers: { 'x-admin-key': ADMIN_API_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      expect(response.status).toBe(200)
    }
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    await administer('PUT', '', { tenant_id: 'acme', telephony, agent: { agent_name: 'Robin' } })
    await administer('POST', '/agents', { agent_key: 'desk', name: 'Desk', description: '' })
    await administer('POST', '/phone-routes', { phone_number: NUMBER, agent_key: 'desk' })
  }

  /** A call comes in, and its stream has begun. */
  async function talk(address: string, callSid: string): Promise<StreamClient> {
    const ring = async () => {
      const { text } = await post(address, '/api/v1/incoming-call', formOf(callSid))
      return text.includes('<Stream ') ? text : null
    }
    // A machine that is busy with other tests takes no call for a moment.
    const text = await until(ring, { what: 'the call to be taken', timeoutMs: TAKEN_WITHIN_MS })
    const client = await StreamClient.open(address)
    client.start({ callSid, streamSid: `MZ${callSid}`, parameters: { stream_token: streamTokenIn(text) } })
    const speaks = () => client.messages.some(({ event }) => event === 'media')
    await until(speaks, { what: 'the agent to speak', timeoutMs: TAKEN_WITHIN_MS })
    return client
  }

  async function post(address: string, path: string, form: Record<string, string>) {
    const signature = sign(`http://localhost:${new URL(address).port}${path}`, form, ACCOUNT.token)
    const headers = { 'x-twilio-signature': signature }
    const response = await fetch(address + path, { method: 'POST', headers, body: new URLSearchParams(form) })
    return { status: response.status, text: await response.text() }
  }

  async function keysOf(callSid: string): Promise<string[]> {
    const { rows } = await sql<{ text: string }>`
      select turn.text from transcript_turns turn join voice_sessions session
          on session.tenant_id = turn.tenant_id and session.id = turn.session_id
       where session.call_sid = ${callSid} and turn.role = 'system' order by turn.seq, turn.start_ms`.execute(test.db)
    return rows.map(({ text }) => text)
  }

  async function sessionOf(callSid: string) {
    return test.db
      .selectFrom('voice_sessions')
      .innerJoin('call_logs', 'call_logs.call_sid', 'voice_sessions.call_sid')
      .select(['voice_sessions.end_reason', 'call_logs.status'])
      .where('voice_sessions.call_sid', '=', callSid)
      .executeTakeFirstOrThrow()
  }
})

function formOf(callSid: string): Record<string, string> {
  return { CallSid: callSid, AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
}

/** Keys and the one that ends an entry: a turn of its own. */
function press(client: StreamClient, streamSid: string, keys: string): void {
  for (const digit of `${keys}#`) client.send({ event: 'dtmf', streamSid, dtmf: { track: 'inbound_track', digit } })
}

async function filesText(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'journal')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
}

/** Whether all of it is there that the call said, and the end of the other one. */
function kept(text: string): boolean {
  return KEYS.every((keys) => text.includes(`these keys: ${keys}`)) && text.includes('"kind":"end"')
}
