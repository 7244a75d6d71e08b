import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { makePutThrough } from '../src/calls/put-through.ts'
import { makeCallStatuses } from '../src/calls/record-status.ts'
import type { TenantId } from '../src/kernel/ids.ts'
import { OTHER_NODE, tenantTold } from '../src/records/calls.fixture.ts'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const TRY_AGAIN = 1013
const FALLBACK = '+12025550150'

// An embedded database has no other node: only an overload turns a stream away there.
describe.runIf(inject('databaseTemplate').kind === 'server')('a call whose stream comes to a node without room', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  let full: ServedApp

  beforeEach(async () => {
    const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl, MAX_CALLS: '1' }
    full = await ServedApp.start(test, { clock: app.clock, model: new ScriptedModel(), settings, besides: app.served })
    await streamed('CA9')
    await until(async () => (await log('CA9')).status === 'in-progress', { what: 'the call that takes its room' })
    return async () => {
      let isClosed = false
      void full.app.close().then(() => {
        isClosed = true
      })
      await app.pass(() => isClosed, 'the node to stop')
    }
  })

  async function streamed(callSid: string): Promise<StreamClient> {
    const token = streamTokenIn(await app.ring({ CallSid: callSid }))
    const client = await StreamClient.open(full.address)
    client.start({ callSid, streamSid: `MZ${callSid}`, parameters: { stream_token: token } })
    return client
  }

  async function refused(): Promise<void> {
    const client = await streamed('CA1')
    expect(await client.closed()).toBe(TRY_AGAIN)
  }

  const form = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
  /** By default the node without room is asked what comes next, too. */
  async function resume(more: Record<string, string> = {}, { node = full, query = '' } = {}): Promise<string> {
    const path = `/api/v1/call-resume${query}`
    const told = { ...form, ...more }
    const headers = { 'x-twilio-signature': sign(node.app.publicUrl() + path, told, ACCOUNT.token) }
    return (await fetch(node.address + path, { method: 'POST', headers, body: new URLSearchParams(told) })).text()
  }

  const log = (callSid: string) =>
    test.db.selectFrom('call_logs').selectAll().where('call_sid', '=', callSid).executeTakeFirstOrThrow()
  const endReason = async () =>
    (await test.db.selectFrom('voice_sessions').selectAll().where('call_sid', '=', 'CA1').executeTakeFirstOrThrow())
      .end_reason

  it('hears that all lines are busy, and is written down so, whatever its carrier tells of the sentence', async () => {
    await refused()
    expect(await resume()).toMatch(/<Say[^>]*>All our lines are busy[^<]*<\/Say><Hangup\/>/)
    // Again, to a carrier that did not get our answer.
    expect(await resume()).toMatch(/All our lines are busy/)
    const busy = { status: 'busy', error_code: 'process_full' }
    expect([await log('CA1'), await endReason()]).toMatchObject([busy, 'rejected'])
    await app.post('/api/v1/call-status', { form: { ...form, CallStatus: 'completed', CallDuration: '4' } })
    expect(await log('CA1')).toMatchObject(busy)
  })

  it('hears so, too, where its end cannot be written down in time', async () => {
    await refused()
    const answers: string[] = []
    await test.db.transaction().execute(async (tx) => {
      await tx.selectFrom('call_directory').selectAll().where('call_sid', '=', 'CA1').forUpdate().execute()
      await tx.selectFrom('call_logs').selectAll().where('call_sid', '=', 'CA1').forUpdate().execute()
      void resume().then((answer) => answers.push(answer))
      await app.pass(() => answers.length > 0, 'the carrier to be answered')
    })
    expect(answers).toEqual([expect.stringMatching(/All our lines are busy/)])
    await until(async () => (await log('CA1')).status === 'busy', { what: 'its end to be written down' })
  })

  it('is over behind its fallback number, where its end cannot be written down in time either', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    await app.clock.advance(5_000)
    await refused()
    const answers: string[] = []
    const ask = async (more: Record<string, string> = {}) => {
      const before = answers.length
      void resume(more).then((answer) => answers.push(answer))
      await app.pass(() => answers.length > before, 'the carrier to be answered')
    }
    await test.db.transaction().execute(async (tx) => {
      await tx.selectFrom('call_directory').selectAll().where('call_sid', '=', 'CA1').forUpdate().execute()
      await tx.selectFrom('call_logs').selectAll().where('call_sid', '=', 'CA1').forUpdate().execute()
      await ask()
      await ask({ DialCallStatus: 'no-answer' })
    })
    expect(answers).toEqual([
      expect.stringContaining(FALLBACK),
      expect.stringContaining('<Response><Hangup/></Response>'),
    ])
    await until(async () => (await log('CA1')).status === 'busy', { what: 'its end to be written down' })
  })

  /** Both nodes have just been heard from, by the database's clock. */
  async function heard(): Promise<void> {
    const { rows } = await sql<{ at: Date }>`select now() as at`.execute(test.db)
    const alive = test.db
      .selectFrom('nodes')
      .select('node_id')
      .where('heartbeat_at', '>', rows[0]?.at ?? new Date())
    await app.pass(async () => (await alive.execute()).length === 2, 'both nodes to be heard from')
  }

  /** The first node has room, and the call goes on there as if nothing had been. */
  async function takenBy(document: string): Promise<void> {
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(document) } })
    await until(() => app.model.sessions.at(-1)?.commands.length === 1, { what: 'the greeting' })
    expect(await log('CA1')).toMatchObject({ status: 'in-progress', error_code: null, error_message: null })
    client.send({ event: 'stop', streamSid: 'MZ2', stop: {} })
    await app.post('/api/v1/call-status', { form: { ...form, CallStatus: 'completed', CallDuration: '4' } })
    await app.pass(async () => (await endReason()) !== null, 'the end of the session')
    expect([await log('CA1'), await endReason()]).toMatchObject([
      { status: 'completed', error_code: null },
      'caller_hangup',
    ])
  }

  it('gets another stream where the node that is asked what comes next has room', async () => {
    await refused()
    await takenBy(await resume({}, { node: app.served }))
  })

  it('is asked about at another node where the one that had no room is about to stop', async () => {
    void full.app.drain()
    await refused()
    expect((await log('CA1')).error_code).toBe('stopping')
    await heard()
    expect(await resume()).toContain('call-resume?again=1#')
    await takenBy(await resume({}, { node: app.served, query: '?again=1' }))
  })

  it('is not sent on for ever: after five streams that found no room it hears that all lines are busy', async () => {
    await refused()
    for (let times = 1; times <= 5; times += 1) {
      const client = await StreamClient.open(full.address)
      const token = streamTokenIn(await resume({}, { node: app.served }))
      client.start({ callSid: 'CA1', streamSid: `MZ${times}`, parameters: { stream_token: token } })
      expect(await client.closed()).toBe(TRY_AGAIN)
    }
    expect(await resume({}, { node: app.served })).toMatch(/All our lines are busy/)
    expect([(await log('CA1')).error_code, await endReason()]).toEqual(['process_full', 'rejected'])
  })

  it('hears that all lines are busy where it comes to a node that is about to stop, as all others are', async () => {
    void full.app.drain()
    await refused()
    await test.db.updateTable('nodes').set({ stopping: true }).execute()
    expect(await resume()).toMatch(/All our lines are busy[^<]*<\/Say><Hangup\/>/)
    expect([await log('CA1'), await endReason()]).toMatchObject([
      { status: 'busy', error_code: 'stopping' },
      'rejected',
    ])
  })

  it('is left as it is where it has begun before, and goes on at a node with room', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    client.terminate()
    const lost = streamTokenIn(await resume({}, { node: app.served }))
    const before = await log('CA1')
    const other = await StreamClient.open(full.address)
    other.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: lost } })
    expect(await other.closed()).toBe(TRY_AGAIN)
    expect(await log('CA1')).toEqual(before)
    expect([before.status, before.error_code]).toEqual(['in-progress', null])
    // Its next stream is still of the second epoch.
    await again(await resume({}, { node: app.served }))
    expect([await log('CA1'), await endReason()]).toMatchObject([{ status: 'in-progress', error_code: null }, null])
  })

  /** Another stream of the call begins at the first node. */
  async function again(document: string): Promise<void> {
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid: 'CA1', streamSid: 'MZ3', parameters: { stream_token: streamTokenIn(document) } })
    const session = () => test.db.selectFrom('voice_sessions').selectAll().where('call_sid', '=', 'CA1')
    await app.pass(async () => (await session().executeTakeFirstOrThrow()).resumed_count === 1, 'the call to go on')
  }

  it('stays as it has ended where why it found no room is noted late', async () => {
    await refused()
    await test.db
      .updateTable('call_logs')
      .set({ error_code: null, error_message: null })
      .where('call_sid', '=', 'CA1')
      .execute()
    expect(await resume()).toMatch(/sorry/)
    const statuses = makeCallStatuses({
      ...{ db: test.db, clock: app.clock, nodeId: OTHER_NODE, willEnd: () => false },
      tenants: { get: async () => tenantTold('acme') },
    })
    await statuses.notTaken('acme' as TenantId, 'CA1', { why: 'process_full', at: new Date(app.clock.now()) })
    expect(await log('CA1')).toMatchObject({ status: 'completed', error_code: 'stream_lost' })
  })

  it('is over with the call where it was put through before that was written down', async () => {
    await refused()
    await makePutThrough({ db: test.db, clock: app.clock })(tenantTold('acme'), 'CA1')
    await app.post('/api/v1/call-status', { form: { ...form, CallStatus: 'completed', CallDuration: '40' } })
    expect([await log('CA1'), await endReason()]).toMatchObject([{ status: 'completed' }, 'transferred'])
  })

  it('goes to the fallback number without a word, and was not missed where somebody answers there', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    // The other node has to have heard of it.
    await app.clock.advance(5_000)
    await refused()
    expect(await resume()).toMatch(/<Response><Dial [^>]*action="[^"]+"[^>]*><Number>\+12025550150<\/Number>/)
    expect([(await log('CA1')).status, await endReason()]).toEqual(['busy', 'rejected'])
    expect(await resume({ DialCallStatus: 'completed', DialCallDuration: '9' })).toContain(
      '<Response><Hangup/></Response>',
    )
    expect(await endReason()).toBe('transferred')
  })
})
