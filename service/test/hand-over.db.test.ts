import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import type { TenantId } from '../src/kernel/ids.ts'
import { beat, removeNode, saysStopping } from '../src/platform/nodes/heartbeat-store.ts'
import { OTHER_NODE } from '../src/records/calls.fixture.ts'
import { makeResuming } from '../src/records/resuming.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { watchEvents } from './harness/event-watcher.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { startTalking } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const PUBLIC_URL = 'https://voice.example.com'
const TARGET = '+12025550103'
const { kind } = inject('databaseTemplate')

describe('a call that another node takes', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    settings: { DRAIN_SECONDS: '5', PUBLIC_URL },
    document: { transfer_targets: [TARGET] },
  })

  function session() {
    return test.db.selectFrom('voice_sessions').select(['end_reason', 'ended_at']).executeTakeFirstOrThrow()
  }

  /** What the carrier was told to do: whether a call goes on it may be asked meanwhile, too. */
  function told() {
    return app.rest.requests.filter(({ method }) => method === 'POST')
  }

  function entry() {
    return test.db.selectFrom('call_directory').select(['owner', 'epoch']).executeTakeFirstOrThrow()
  }

  async function states(): Promise<string[]> {
    const { body } = await app.served.call<{ sessions: { state: string }[] }>('acme', 'GET', '/sessions/active')
    return body.sessions.map(({ state }) => state)
  }

  /** The node stops with a call on it, which it ends or gives away a second from now. */
  async function draining(): Promise<() => boolean> {
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.clock.advance(4_000)
    return () => isOver
  }

  /** It does, and the other node is heard until then. */
  async function drained(isOver?: () => boolean): Promise<void> {
    const isDone = isOver ?? (await draining())
    await app.pass(() => beat(test.db, OTHER_NODE, '1').then(isDone), 'the end of the calls')
  }

  it.runIf(kind === 'server')('is sent there at the end of a drain, and is not ended here', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const events = `${app.served.address}/api/v1/sessions/MZCA1/events`
    const watcher = await watchEvents(events, app.served.tokenOf('acme'))
    await beat(test.db, OTHER_NODE, '1')
    await drained()
    expect(await client.closed()).toBe(1000)
    await until(() => watcher.isOver(), { what: 'the end of the events' })
    expect(watcher.told.at(-1)).toMatchObject({ event: 'moved', data: { call_sid: 'CA1' } })
    expect(watcher.told.filter(({ event, data }) => event === 'ended' || data['state'] === 'ended')).toEqual([])
    expect(told()).toMatchObject([
      { path: expect.stringContaining('/Calls/CA1.json'), form: { Twiml: expect.stringContaining(PUBLIC_URL) } },
    ])
    expect(await entry()).toEqual({ owner: null, epoch: 2 })
    expect(await session()).toEqual({ end_reason: null, ended_at: null })
    const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
    // It was heard by the database's clock, which goes on while a busy machine comes this far.
    await beat(test.db, OTHER_NODE, '1')
    const { text } = await app.post('/api/v1/call-resume?again=4', { form })
    expect(text).toMatch(/<Response><Pause length="2"\/><Redirect method="POST">[^<]*\?again=5#/)
    expect((await app.post('/api/v1/call-resume?again=5', { form })).text).toMatch(/sorry/)
  })

  it.runIf(kind === 'server')('is sent there when its tools are done and the caller has spoken out', async () => {
    await startTalking(app, ['CA1'])
    const { last: model } = app.model
    model.tell({ type: 'speech_started', itemId: 't1', audioStartMs: 2_000 })
    await beat(test.db, OTHER_NODE, '1')
    const isOver = await draining()
    const isSilent = () => beat(test.db, OTHER_NODE, '1').then(states)
    await app.pass(async () => (await isSilent())[0] === 'detached', 'the session to fall silent')
    const untilMs = app.clock.now() + 1_000
    await app.pass(() => isSilent().then(() => app.clock.now() >= untilMs), 'the caller to speak on')
    expect(told()).toEqual([])
    model.tell({ type: 'speech_stopped', itemId: 't1', audioEndMs: 2_900 })
    model.tell({ type: 'committed', itemId: 't1', previousItemId: 'a0' })
    model.tell({ type: 'caller_transcript', itemId: 't1', text: 'The small one.' })
    await drained(isOver)
    expect(told()).toMatchObject([{ form: { Twiml: expect.stringContaining(PUBLIC_URL) } }])
    const turns = await test.db.selectFrom('transcript_turns').select('text').orderBy('seq').execute()
    expect(turns).toEqual([{ text: 'CA1 is greeted.' }, { text: 'The small one.' }])
  })

  it.runIf(kind === 'server')('is sent there when all keys are there that its caller presses', async () => {
    const [call] = await startTalking(app, ['CA1'])
    const press = (digit: string) => call?.client.send({ event: 'dtmf', streamSid: 'MZCA1', dtmf: { digit } })
    await beat(test.db, OTHER_NODE, '1')
    const isOver = await draining()
    press('1')
    const isSilent = () => beat(test.db, OTHER_NODE, '1').then(states)
    await app.pass(async () => (await isSilent())[0] === 'detached', 'the session to fall silent')
    expect(told()).toEqual([])
    press('2')
    press('#')
    const areTold = () =>
      app.model.last.commands.some((one) => one.type === 'system_message' && one.text.endsWith(': 12'))
    await until(areTold, { what: 'the keys to be told' })
    await drained(isOver)
    expect(told()).toMatchObject([{ form: { Twiml: expect.stringContaining(PUBLIC_URL) } }])
    const turns = await test.db.selectFrom('transcript_turns').select('text').orderBy('seq').execute()
    expect(turns).toEqual([{ text: 'CA1 is greeted.' }, { text: 'The caller pressed these keys: 12' }])
  })

  /** The stream is lost while the node stops, and the session waits for another one. */
  async function detached(): Promise<() => boolean> {
    const [call] = await startTalking(app, ['CA1'])
    await beat(test.db, OTHER_NODE, '1')
    const isOver = await draining()
    app.model.last.tell({ type: 'speech_started', itemId: 't1', audioStartMs: 2_000 })
    call?.client.terminate()
    await app.pass(async () => (await states())[0] === 'detached', 'the session to notice')
    return isOver
  }

  it.runIf(kind === 'server')('is sent there, too, when it has no stream, with what was said last', async () => {
    const isOver = await detached()
    expect(told()).toEqual([])
    await app.clock.advance(1_000)
    app.model.last.tell({ type: 'committed', itemId: 't1', previousItemId: 'a0' })
    app.model.last.tell({ type: 'caller_transcript', itemId: 't1', text: 'The small one.' })
    await drained(isOver)
    expect(told()).toMatchObject([{ form: { Twiml: expect.stringContaining(PUBLIC_URL) } }])
    expect(await entry()).toEqual({ owner: null, epoch: 2 })
    expect(await session()).toEqual({ end_reason: null, ended_at: null })
    const turns = await test.db.selectFrom('transcript_turns').select('text').orderBy('seq').execute()
    expect(turns).toEqual([{ text: 'CA1 is greeted.' }, { text: 'The small one.' }])
  })

  it.runIf(kind === 'server')('is left to who looks next when it has no stream, and no carrier answers', async () => {
    app.rest.reply = ({ form }) => (form['Twiml'] ? { status: 401, body: {} } : { status: 200, body: {} })
    await drained(await detached())
    expect(await entry()).toEqual({ owner: null, epoch: 2 })
    const due = test.db.selectFrom('call_directory').select('call_sid').where('rescue_at', '<=', sql<Date>`now()`)
    expect(await due.execute()).toEqual([{ call_sid: 'CA1' }])
  })

  it.runIf(kind === 'server')(
    'is left to the stream that another node has promised its carrier meanwhile',
    async () => {
      const isOver = await detached()
      await makeResuming({ db: test.db, clock: app.clock }).promise('acme' as TenantId, 'CA1')
      await drained(isOver)
      expect(told()).toEqual([])
      expect(await entry()).toEqual({ owner: null, epoch: 2 })
      // Should that not come, others look.
      const due = test.db.selectFrom('call_directory').select('call_sid').where('rescue_at', '>', sql<Date>`now()`)
      expect(await due.execute()).toEqual([{ call_sid: 'CA1' }])
      expect(await session()).toEqual({ end_reason: null, ended_at: null })
    },
  )

  it.runIf(kind === 'server')(
    'is left to that stream, too, where the old one is not known to be gone yet',
    async () => {
      const [call] = await startTalking(app, ['CA1'])
      await beat(test.db, OTHER_NODE, '1')
      const isOver = await draining()
      await makeResuming({ db: test.db, clock: app.clock }).promise('acme' as TenantId, 'CA1')
      await drained(isOver)
      expect(await call?.client.closed()).toBe(1000)
      await app.clock.advance(1_000)
      expect(told()).toEqual([])
      // Nobody is told goodbye who talks elsewhere.
      const asked = app.model.last.commands.flatMap((command) => (command.type === 'respond' ? [command] : []))
      expect(asked.filter(({ instructions }) => instructions?.includes('goodbye'))).toEqual([])
      expect(await entry()).toEqual({ owner: null, epoch: 2 })
      expect(await session()).toEqual({ end_reason: null, ended_at: null })
    },
  )

  it.runIf(kind === 'server').each([
    ['lets go of it', 'old.owner is not null and new.owner is null', []],
    [
      'has had its carrier told',
      'old.rescue_at is not null and new.rescue_at is null',
      [{ form: { Twiml: expect.stringContaining(PUBLIC_URL) } }],
    ],
  ])('is not ended here where the database fails as this node %s', async (_when, condition, asked) => {
    const [call] = await startTalking(app, ['CA1'])
    await beat(test.db, OTHER_NODE, '1')
    await sql`
      create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '53300'; end $$`.execute(test.db)
    try {
      await sql`
        create trigger refuse before update on call_directory
          for each row when (${sql.raw(condition)}) execute function refuse()`.execute(test.db)
      await drained()
      expect(await call?.client.closed()).toBe(1000)
    } finally {
      await sql`drop function refuse cascade`.execute(test.db)
    }
    expect(told()).toMatchObject(asked)
    expect(await session()).toEqual({ end_reason: null, ended_at: null })
    // By whichever node its carrier asks.
    const goesOn = await makeResuming({ db: test.db, clock: app.clock }).promise('acme' as TenantId, 'CA1')
    expect(goesOn).toMatchObject({ epoch: 2 })
  })

  it.runIf(kind === 'server')('is left to its carrier while that rings who it is put through to', async () => {
    const [call] = await startTalking(app, ['CA1'])
    await beat(test.db, OTHER_NODE, '1')
    const body = { action: 'transfer', target: TARGET }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await states())[0] === 'detached', 'the stream to end')
    const isOver = await draining()
    const ringsUntilMs = app.clock.now() + 10_000
    await app.pass(() => beat(test.db, OTHER_NODE, '1').then(() => app.clock.now() > ringsUntilMs), 'the ringing')
    expect(told()).toMatchObject([{ form: { Twiml: expect.stringContaining(TARGET) } }])
    const [, callback = ''] = /statusCallback="([^"]+)"/.exec(told()[0]?.form['Twiml'] ?? '') ?? []
    const form = { CallSid: 'CA-target', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
    const answer = app.post(new URL(callback.replaceAll('&amp;', '&')).pathname, { form })
    await drained(isOver)
    expect((await answer).status).toBe(200)
    expect(told()).toHaveLength(1)
    expect(await session()).toMatchObject({ end_reason: 'transferred' })
  })

  it.runIf(kind === 'server')('is waited for no longer once its carrier has brought it back to that node', async () => {
    const [call] = await startTalking(app, ['CA1'])
    await beat(test.db, OTHER_NODE, '1')
    const body = { action: 'transfer', target: TARGET }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await states())[0] === 'detached', 'the stream to end')
    const isOver = await draining()
    const ringsUntilMs = app.clock.now() + 5_000
    await app.pass(() => beat(test.db, OTHER_NODE, '1').then(() => app.clock.now() > ringsUntilMs), 'the ringing')
    await test.db.updateTable('call_directory').set({ owner: OTHER_NODE, epoch: 2 }).execute()
    const backAtMs = app.clock.now()
    await drained(isOver)
    expect(app.clock.now() - backAtMs).toBeLessThan(10_000)
    expect(told()).toHaveLength(1)
    expect(await entry()).toEqual({ owner: OTHER_NODE, epoch: 2 })
    expect(await session()).toEqual({ end_reason: null, ended_at: null })
  })

  it('is left to its carrier, too, while that rings, where there is no other node', async () => {
    const [call] = await startTalking(app, ['CA1'])
    const body = { action: 'transfer', target: TARGET }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await states())[0] === 'detached', 'the stream to end')
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.clock.advance(15_000)
    expect(told()).toMatchObject([{ form: { Twiml: expect.stringContaining(TARGET) } }])
    const [, callback = ''] = /statusCallback="([^"]+)"/.exec(told()[0]?.form['Twiml'] ?? '') ?? []
    const form = { CallSid: 'CA-target', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
    expect((await app.post(new URL(callback.replaceAll('&amp;', '&')).pathname, { form })).status).toBe(200)
    await app.pass(() => isOver, 'the end of the drain')
    expect(told().filter(({ form }) => form['Status'])).toEqual([])
    expect(await session()).toMatchObject({ end_reason: 'transferred' })
  })

  it('holds up no other one then, for which nobody is rung any more', async () => {
    const [call] = await startTalking(app, ['CA1', 'CA2'])
    const body = { action: 'transfer', target: TARGET }
    const transfer = (callSid: string) => app.served.call('acme', 'POST', `/sessions/MZ${callSid}/actions`, body)
    expect((await transfer('CA1')).status).toBe(200)
    call?.client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await states()).includes('detached'), 'the stream to end')
    const beganMs = app.clock.now()
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.pass(async () => !(await states()).includes('talking'), 'the other call to be ended')
    // Not when the first one is through, or back.
    expect(app.clock.now() - beganMs).toBeLessThan(20_000)
    expect((await transfer('CA2')).status).not.toBe(200)
    const [, callback = ''] = /statusCallback="([^"]+)"/.exec(told()[0]?.form['Twiml'] ?? '') ?? []
    const form = { CallSid: 'CA-target', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
    expect((await app.post(new URL(callback.replaceAll('&amp;', '&')).pathname, { form })).status).toBe(200)
    await app.pass(() => isOver, 'the end of the drain')
    const ended = told()
      .filter(({ form }) => form['Status'])
      .map(({ path }) => path)
    expect(ended).toEqual([expect.stringContaining('CA2')])
  })

  it.runIf(kind === 'server')('is ended here, with a goodbye, when its carrier does not take it there', async () => {
    app.rest.reply = ({ form }) => (form['Twiml'] ? { status: 401, body: {} } : { status: 200, body: {} })
    await startTalking(app, ['CA1'])
    await beat(test.db, OTHER_NODE, '1')
    await drained()
    const asked = app.model.last.commands.flatMap((command) => (command.type === 'respond' ? [command] : []))
    expect(asked.at(-1)?.instructions).toContain('goodbye')
    await until(async () => (await session()).ended_at, { what: 'the end to be written down' })
    expect(await session()).toMatchObject({ end_reason: 'shutdown' })
    await app.pass(() => told().at(-1)?.form['Status'] === 'completed', 'its carrier to be told')
  })

  it.each(['stops too', 'is of a version that does not say that it brings calls back'])(
    'is ended here when the other one %s',
    async (why) => {
      await app.talk({ CallSid: 'CA1' })
      await beat(test.db, OTHER_NODE, '1')
      if (why === 'stops too') await saysStopping(test.db, OTHER_NODE)
      else await test.db.updateTable('nodes').set({ resumes: false }).where('node_id', '=', OTHER_NODE).execute()
      await drained()
      await until(async () => (await session()).ended_at, { what: 'the end to be written down' })
      await app.pass(() => told().length > 0, 'its carrier to be told')
      expect(told()).toMatchObject([{ form: { Status: 'completed' } }])
      await removeNode(test.db, OTHER_NODE)
    },
  )

  // An embedded database has no other node: whose call is not here is nobody's.
  it.runIf(kind === 'server')(
    'is let go of by a node that was away, which neither ends it nor writes of it',
    async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      await beat(test.db, OTHER_NODE, '1')
      await test.db.updateTable('call_directory').set({ owner: OTHER_NODE, epoch: 2 }).execute()
      const heard = () => beat(test.db, OTHER_NODE, '1')
      await app.pass(() => heard().then(() => client.closeCode), 'the end of the stream')
      expect(told()).toEqual([])
      expect(await session()).toEqual({ end_reason: null, ended_at: null })
      const lines = app.served.logLines().filter(({ msg }) => msg === 'a call was taken by another node')
      expect(lines).toMatchObject([{ tenant_id: 'acme', call_sid: 'CA1' }])
    },
  )
})
