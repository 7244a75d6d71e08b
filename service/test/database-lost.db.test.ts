import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { useProxiedDatabase } from './harness/proxied-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { PLAYED_MS, startTalking, type TalkingCall } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const CALLS = 20
const ROUND_MS = 3_000
const ROUNDS_AWAY = 20
const TALK_TIMEOUT_MS = 120_000

const REQUESTS = [
  ['GET', '/call-logs', undefined],
  ['GET', '/voice-sessions', undefined],
  ['POST', '/browser-calls', { agent_key: 'desk' }],
] as const

/** On a server: behind a wire that the test cuts. */
describe.runIf(inject('databaseTemplate').kind === 'server')('when the database is lost', () => {
  const test = useDatabase()
  const wire = useProxiedDatabase(test)
  const app = useCallApp(test, {
    agent: { agent_name: 'Robin' },
    document: { limits: { idle_seconds: 600 } },
    database: () => wire.open(),
  })

  const form = (callSid: string, CallStatus: string) => ({
    form: { CallSid: callSid, AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus },
  })

  /** Each call has another round of its conversation, in 3 s of its time. */
  async function rounds(calls: TalkingCall[], count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      for (const call of calls) call.talk()
      await app.clock.advance(PLAYED_MS)
      for (const call of calls) await call.played()
      await app.clock.advance(ROUND_MS - PLAYED_MS)
    }
  }

  async function transcript(callSid: string): Promise<string[]> {
    const { rows } = await sql<{ text: string }>`
      select turn.text from transcript_turns turn join voice_sessions session
          on session.tenant_id = turn.tenant_id and session.id = turn.session_id
       where session.call_sid = ${callSid} order by turn.seq, turn.start_ms`.execute(test.db)
    return rows.map(({ text }) => text)
  }

  async function filesText(): Promise<string> {
    const folder = join(app.served.dataDir, 'journal')
    const names = (await readdir(folder)).filter((name) => name.endsWith('.log'))
    // A file may be cleared away meanwhile.
    return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))).join('')
  }

  it('F54: for 60 s under 20 talking calls, none is cut and each turn is stored once, in order', {
    timeout: TALK_TIMEOUT_MS,
  }, async () => {
    const callSids = Array.from({ length: CALLS }, (_, index) => `CT${index + 1}`)
    const calls = await startTalking(app, callSids)
    await rounds(calls, 2)
    await wire.proxy.cut()
    await rounds(calls, ROUNDS_AWAY / 2)
    const ring = await app.post('/api/v1/incoming-call', form('CA-new', 'ringing'))
    expect([ring.status, ring.text]).toEqual([200, expect.stringMatching(/<Say>[^<]+<\/Say><Hangup\/>/)])
    await rounds(calls, ROUNDS_AWAY / 2)
    await until(async () => (await filesText()).includes('CT20 is answered 20.'), { what: 'the turns in the files' })
    expect((await fetch(`${app.served.address}/livez`)).status).toBe(200)
    expect((await fetch(`${app.served.address}/readyz`)).status).toBe(503)
    await wire.proxy.mend()
    await rounds(calls, 2)
    await app.pass(async () => (await filesText()) === '', 'the files to be cleared')
    for (const { callSid, client, said } of calls) {
      // What was said last never was in a file: it goes straight to the database, which is there again.
      await app.pass(async () => (await transcript(callSid)).length >= said.length, 'what was said last')
      expect(await transcript(callSid)).toEqual(said)
      expect(client.closeCode).toBeNull()
    }
    expect((await fetch(`${app.served.address}/readyz`)).status).toBe(200)
  })

  it('without a word, a tenant is told so within a second all the same', async () => {
    await app.ring()
    await app.clock.advance(5_000)
    wire.proxy.freezeAll()
    const startMs = app.clock.monotonicMs()
    let status: number | null = null
    void app.served.call('acme', 'GET', '/call-logs').then((answer) => {
      status = answer.status
    })
    await app.pass(() => status, 'the answer')
    expect(status).toBe(503)
    expect(app.clock.monotonicMs() - startMs).toBeLessThanOrEqual(1_500)
    await wire.proxy.cut()
  })

  it('without a word, whoever administers is told so within a second, for themselves and for a tenant', async () => {
    await app.ring()
    wire.proxy.freezeAll()
    const asked = [
      ['/admin/tenants', {}],
      ['/call-logs', { 'x-tenant-id': 'acme' }],
    ] as const
    for (const [path, named] of asked) {
      const startMs = performance.now()
      const headers = { 'x-admin-key': app.served.adminKey, ...named }
      expect([path, (await fetch(`${app.served.address}/api/v1${path}`, { headers })).status]).toEqual([path, 503])
      // Not the half minute that a statement may take, on a machine that is busy with other tests.
      expect(performance.now() - startMs).toBeLessThan(4_000)
    }
    await wire.proxy.cut()
  })

  it('a tenant is told so within a second', async () => {
    await app.ring()
    await wire.proxy.cut()
    await app.clock.advance(5_000)
    for (const [method, path, body] of REQUESTS) {
      const startMs = performance.now()
      const { status } = await app.served.call('acme', method, path, body)
      expect([path, status]).toEqual([path, 503])
      // Not the five seconds that a query may take.
      expect(performance.now() - startMs).toBeLessThan(4_000)
    }
  })

  it('a call that its carrier ends ends at once, and what the carrier said is on the disk before it is thanked', async () => {
    const [call] = await startTalking(app, ['CT1'])
    await wire.proxy.cut()
    const told = app.post('/api/v1/call-status', form('CT1', 'completed'))
    let status: number | null = null
    void told.then((answer) => {
      status = answer.status
    })
    await app.pass(() => status, 'the answer to the carrier')
    expect(status).toBe(200)
    expect(await filesText()).toContain('"kind":"report"')
    await app.pass(() => call?.client.closeCode, 'the end of the stream')
    await app.pass(async () => (await filesText()).includes('"kind":"end"'), 'the end of the call in the files')
    await wire.proxy.mend()
    const log = () => test.db.selectFrom('call_logs').select(['status', 'ended_at']).executeTakeFirstOrThrow()
    await app.pass(async () => (await log()).status === 'completed', 'the end to be written down')
    await app.pass(async () => (await filesText()) === '', 'the files to be cleared')
    const session = await test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirstOrThrow()
    expect(session.end_reason).toBe('caller_hangup')
  })

  it('a carrier that tells of a call that is not here is asked to come again', async () => {
    await app.ring({ CallSid: 'CA7' })
    await wire.proxy.cut()
    expect((await app.post('/api/v1/call-status', form('CA7', 'completed'))).status).toBe(503)
  })
})
