import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { createParley, type SessionEvent } from '../../client/src/index.ts'
import { beat } from '../src/platform/nodes/heartbeat-store.ts'
import { OTHER_NODE } from '../src/records/calls.fixture.ts'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { GatedDatabase } from './harness/gated-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const RESUME = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
const POLICY = 1008
const TRY_AGAIN = 1013
/** So often it is looked whether a guessed end is written. */
const LOOK_MS = 50
const LATER =
  /<Response><Pause length="2"\/><Redirect method="POST">[^<]*call-resume\?again=\d#rc=3&amp;rp=all<\/Redirect><\/Response>$/

// An embedded database has no other node: whose call is not here is nobody's.
describe.runIf(inject('databaseTemplate').kind === 'server')('a call that was taken from this node', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  beforeEach(() => {
    gate.isAway = false
  })
  const app = useCallApp(test, { database: async () => gate.of(test.database) })

  const resume = async (path = '/api/v1/call-resume') => (await app.post(path, { form: RESUME })).text
  const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  const ends = () => app.rest.requests.filter(({ form }) => form['Status'] === 'completed')

  async function isTold(text: string): Promise<void> {
    await until(() => app.served.logLines().some(({ msg }) => msg === text), { what: text })
  }

  async function phase(): Promise<string | null> {
    const { body } = await app.served.call<{ sessions: { state: string }[] }>('acme', 'GET', '/sessions/active')
    return body.sessions[0]?.state ?? null
  }

  async function streamOf(document: string, streamSid: string): Promise<StreamClient> {
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid: 'CA1', streamSid, parameters: { stream_token: streamTokenIn(document) } })
    return client
  }

  it('is not ended by it, though it was about to have a stream of the same epoch itself', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    client.terminate()
    await app.pass(async () => (await phase()) === 'detached', 'the session to notice')
    const document = await resume()
    gate.refuse()
    expect(await (await streamOf(document, 'MZ2')).closed()).toBe(TRY_AGAIN)
    await beat(test.db, OTHER_NODE, '1')
    await test.db.updateTable('call_directory').set({ owner: OTHER_NODE, epoch: 2 }).execute()
    await test.db.updateTable('call_resumes').set({ promised_at: null }).execute()
    await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', { action: 'end_call' })
    // By the database's clock, by which the other node is gone once it was not heard for three seconds.
    const heard = () => beat(test.db, OTHER_NODE, '1').then(phase)
    await app.pass(async () => (await heard()) === null, 'the session here to be over')
    await isTold('a call was left to the stream that has taken it')
    expect([ends(), (await session()).ended_at]).toEqual([[], null])
  })

  /** Another node has claimed the call of this one, which it could not hear, and has its carrier ask what comes next. */
  async function claimed(): Promise<StreamClient> {
    const client = await app.talk({ CallSid: 'CA1' })
    await beat(test.db, OTHER_NODE, '1')
    const rescueAt = new Date(Date.now() + 60_000)
    await test.db.updateTable('call_directory').set({ owner: null, epoch: 2, rescue_at: rescueAt }).execute()
    return client
  }

  const stop = (client: StreamClient) => client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
  const begun = (sessions: number) => until(() => app.model.sessions.length === sessions, { what: 'the session' })

  it('goes on when its carrier, whose stop was no end, asks this one', async () => {
    const client = await claimed()
    // It waits for these words.
    app.model.last.tell({ type: 'speech_started', itemId: 't1', audioStartMs: 0 })
    stop(client)
    await until(async () => (await phase()) === 'draining', { what: 'the stop to be taken for an end' })
    await streamOf(await resume(), 'MZ2')
    await begun(2)
    expect([await phase(), ends(), (await session()).ended_at]).toEqual(['talking', [], null])
  })

  it('is followed by a client that watches it', async () => {
    const client = await claimed()
    app.model.last.tell({ type: 'speech_started', itemId: 't1', audioStartMs: 0 })
    const told: SessionEvent[] = []
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const parley = createParley({ baseUrl: app.served.address, apiKey: app.served.tokenOf('acme') })
    const read = async () => {
      for await (const event of parley.watchSession('MZCA1', { signal: leaving.signal })) told.push(event)
    }
    void read().catch(() => {})
    await until(() => told.length > 0, { what: 'the first event' })
    stop(client)
    await until(async () => (await phase()) === 'draining', { what: 'the stop to be taken for an end' })
    const next = await streamOf(await resume(), 'MZ2')
    await begun(2)
    const after = (name: string) => told.slice(told.findIndex(({ event }) => event === name) + 1)
    const isThere = () => told.some(({ event }) => event === 'moved') && after('moved').length > 0
    await until(isThere, { what: 'what comes there' })
    expect(after('moved')[0]).toMatchObject({ id: '1', event: 'state' })
    next.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
    await app.pass(() => told.at(-1)?.event === 'ended', 'the end of the call')
    expect(told.filter(({ event }) => event === 'ended')).toHaveLength(1)
  })

  it('goes on when the end of its session was dropped', async () => {
    stop(await claimed())
    await app.pass(async () => (await phase()) === null, 'the end of the session')
    await isTold('call ended')
    await until(async () => (await resume()).includes('<Connect>'), { what: 'the carrier to be answered' })
  })

  it('goes on when its carrier asks before it stops the stream', async () => {
    const client = await claimed()
    const document = await resume()
    stop(client)
    await until(async () => (await phase()) === 'detached', { what: 'the session to wait' })
    await streamOf(document, 'MZ2')
    await until(async () => (await phase()) === 'talking', { what: 'the session to go on' })
    expect([app.model.sessions.length, ends(), (await session()).ended_at]).toEqual([1, [], null])
  })

  it('is asked for again while the records cannot be asked, five times and never hung up before', async () => {
    const client = await claimed()
    gate.isAway = true
    stop(client)
    await isTold('call ended')
    let path = '/api/v1/call-resume'
    for (let times = 1; times <= 5; times += 1) {
      expect(await resume(path)).toMatch(LATER)
      path = `/api/v1/call-resume?again=${times}`
    }
    expect(await resume(path)).toMatch(/<Say>[^<]*sorry[^<]*<\/Say><Hangup\/>/)
    gate.isAway = false
    expect(await resume()).toContain('<Connect>')
  })

  it('is over when the caller has hung up after all, once that is written', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    app.model.last.tell({ type: 'speech_started', itemId: 't1', audioStartMs: 0 })
    stop(client)
    await until(async () => (await phase()) === 'draining', { what: 'the end' })
    let text: string | null = null
    void resume().then((document) => {
      text = document
    })
    await app.pass(async () => (await phase()) === null, 'the end of the session')
    // Time stands still while the database works: who asks is not made to wait for longer than that takes.
    await until(async () => (await session()).ended_at, { what: 'the end to be written' })
    const looked = async () => {
      await app.clock.advance(LOOK_MS)
      return text
    }
    const answered = await until(looked, { what: 'the answer', everyMs: LOOK_MS, timeoutMs: 10_000 })
    expect(answered).toContain('<Response><Hangup/></Response>')
    expect(await session()).toMatchObject({ end_reason: 'caller_hangup' })
  })

  it('is ended once when its carrier says that it is over while its next stream is let in', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    client.terminate()
    await app.pass(async () => (await phase()) === 'detached', 'the session to notice')
    const document = await resume()
    const { reached, release } = gate.hold()
    const next = await streamOf(document, 'MZ2')
    await reached()
    await app.post('/api/v1/call-status', { form: { ...RESUME, CallStatus: 'completed' } })
    release()
    expect(await next.closed()).toBe(POLICY)
    await app.pass(async () => (await session()).ended_at, 'the end to be written')
    expect(app.served.logLines().filter(({ msg }) => msg === 'call ended')).toHaveLength(1)
  })
})
