import { describe, expect, it } from 'vitest'
import { makeCallStatuses } from '../src/calls/record-status.ts'
import type { TenantId } from '../src/kernel/ids.ts'
import { NODE, tenantTold } from '../src/records/calls.fixture.ts'
import { NUMBER, streamTokenIn, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { GatedDatabase } from './harness/gated-database.ts'
import { passing } from './harness/passing.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const TRY_AGAIN = 1013
const FALLBACK = '+12025550150'
const CALLEE = '+12025550124'
/** The load is looked at each second, five seconds together. */
const LOAD_SEEN_MS = 5_000
const ANSWER_WITHIN_MS = 8_000
const FORM = { AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }

describe('a call whose stream begins while its node is overloaded', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const app = useCallApp(test, { database: async () => gate.of(test.database) })

  async function busyBy(utilisation: number): Promise<void> {
    app.served.load.utilisation = utilisation
    await app.clock.advance(LOAD_SEEN_MS)
  }

  async function refused(callSid: string, document: string): Promise<void> {
    // Only a node that has calls sheds load when it has just begun.
    await app.talk({ CallSid: 'CA9', From: '+12025550188' })
    await busyBy(1)
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid, streamSid: `MZ${callSid}`, parameters: { stream_token: streamTokenIn(document) } })
    expect(await client.closed()).toBe(TRY_AGAIN)
  }

  async function resume(CallSid: string, more: Record<string, string> = {}): Promise<string> {
    return (await app.post('/api/v1/call-resume', { form: { ...FORM, CallSid, ...more } })).text
  }

  /** How the call stands: by its log, why, and how its session ended. */
  async function stand(callSid: string) {
    const { status, error_code, end_reason } = await test.db
      .selectFrom('call_logs as log')
      .innerJoin('voice_sessions as session', 'session.id', 'log.voice_session_id')
      .select(['log.status', 'log.error_code', 'session.end_reason'])
      .where('log.call_sid', '=', callSid)
      .executeTakeFirstOrThrow()
    return [status, error_code, end_reason]
  }

  async function document(telephony: object, more: object = {}): Promise<void> {
    const account = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const body = { tenant_id: 'acme', telephony: { ...account, ...telephony }, ...more }
    await app.served.administer('PUT', '/tenants/acme', body)
  }

  it('hears at once that all lines are busy, though it had a place', async () => {
    await refused('CA1', await app.ring({ CallSid: 'CA1' }))
    expect(await stand('CA1')).toEqual(['ringing', 'overloaded', null])
    expect(await resume('CA1')).toMatch(/<Say[^>]*>All our lines are busy[^<]*<\/Say><Hangup\/>/)
    expect(await stand('CA1')).toEqual(['busy', 'overloaded', 'rejected'])
  })

  it('is talked with where that is over when its carrier asks', async () => {
    await refused('CA1', await app.ring({ CallSid: 'CA1' }))
    await busyBy(0)
    const client = await StreamClient.open(app.served.address)
    const parameters = { stream_token: streamTokenIn(await resume('CA1')) }
    client.start({ callSid: 'CA1', streamSid: 'MZ2', parameters })
    await app.pass(async () => (await stand('CA1'))[0] === 'in-progress', 'the call to begin')
    expect(await stand('CA1')).toEqual(['in-progress', null, null])
  })

  it.each(['busy', 'no-answer'])('is called back where the fallback number says %s', async (DialCallStatus) => {
    await document({ fallback_number: FALLBACK }, { missed_calls: {} })
    await refused('CA1', await app.ring({ CallSid: 'CA1' }))
    expect(await resume('CA1')).toMatch(/<Response><Dial [^>]*action="[^"]+"[^>]*><Number>\+12025550150<\/Number>/)
    expect(await resume('CA1', { DialCallStatus })).toContain('<Response><Hangup/></Response>')
    await over('CA1')
    expect(await stand('CA1')).toEqual(['busy', 'overloaded', 'rejected'])
    await missed()
  })

  it('is called back, too, where its caller hangs up before it was told anything', async () => {
    await document({}, { missed_calls: {} })
    await refused('CA1', await app.ring({ CallSid: 'CA1' }))
    await over('CA1')
    expect(await stand('CA1')).toEqual(['busy', 'overloaded', 'rejected'])
    await missed()
  })

  it('was not missed where the fallback number answers, though it took too long to find out what comes next', async () => {
    await document({ fallback_number: FALLBACK }, { missed_calls: {} })
    await refused('CA1', await app.ring({ CallSid: 'CA1' }))
    const held = gate.hold()
    const told = resume('CA1')
    await held.reached()
    await app.clock.advance(ANSWER_WITHIN_MS)
    expect(await told).toMatch(/<Dial [^>]*action="[^"]+"[^>]*><Number>\+12025550150<\/Number>/)
    held.release()
    expect(await resume('CA1', { DialCallStatus: 'completed' })).toContain('<Response><Hangup/></Response>')
    await over('CA1')
    expect((await stand('CA1')).at(-1)).toBe('transferred')
  })

  /** The carrier tells that the call has ended. */
  async function over(CallSid: string): Promise<void> {
    await app.post('/api/v1/call-status', { form: { ...FORM, CallSid, CallStatus: 'completed', CallDuration: '9' } })
  }

  async function missed(): Promise<void> {
    // Who is with the fallback number talks for no longer than this.
    await app.clock.advance(300_000)
    const tasks = async () =>
      (await app.served.call<{ tasks: Record<string, unknown>[] }>('acme', 'GET', '/callback-tasks')).body.tasks
    // The call that keeps the node busy loses its model meanwhile, and is called back too.
    const ofCall = async () => (await tasks()).find(({ call_sid }) => call_sid === 'CA1')
    const task = await passing(app.clock, ofCall, { what: 'the task', stepMs: 5_000 })
    expect(task).toMatchObject({ metadata: { missed_call: 'missed' } })
  }

  /** A call that was asked for, and that somebody has answered; answers what its carrier is told. */
  async function answered(more: object = {}): Promise<string> {
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json') ? { status: 201, body: { sid: 'CA7', status: 'queued' } } : { status: 200, body: {} }
    await app.served.call('acme', 'POST', '/make-call', { to: CALLEE, from: NUMBER, agent_key: 'desk', ...more })
    const { Url = '' } = app.rest.requests.find(({ path }) => path.endsWith('/Calls.json'))?.form ?? {}
    const form = { ...FORM, CallSid: 'CA7', From: NUMBER, To: CALLEE }
    return (await app.post(new URL(Url).pathname, { form })).text
  }

  it.each([
    [
      'hears a sentence',
      null,
      /<Say[^>]*>[^<]*sorry[^<]*<\/Say><Hangup\/>/,
      ['completed', 'stream_lost', 'carrier_lost'],
    ],
    [
      'goes to the fallback number behind one',
      FALLBACK,
      /<Say[^>]*>[^<]*sorry[^<]*<\/Say><Dial[^>]*><Number>\+12025550150<\/Number>/,
      ['queued', 'stream_lost', 'transferred'],
    ],
  ])('and that was placed %s, and was not reached', async (_what, fallback_number, said, end) => {
    await document({ fallback_number })
    await refused('CA7', await answered())
    expect((await stand('CA7')).slice(1)).toEqual(['overloaded', null])
    expect(await resume('CA7', { Direction: 'outbound-api' })).toMatch(said)
    expect(await stand('CA7')).toEqual(end)
    // Why it found no room may be noted late.
    await notTaken('CA7')
    await over('CA7')
    expect(await stand('CA7')).toEqual(['completed', ...end.slice(1)])
  })

  it('and that was placed is talked with where that is over when its carrier asks, in the words that were asked for', async () => {
    await refused('CA7', await answered({ greeting: 'Your order is here.' }))
    await busyBy(0)
    const client = await StreamClient.open(app.served.address)
    const parameters = { stream_token: streamTokenIn(await resume('CA7', { Direction: 'outbound-api' })) }
    client.start({ callSid: 'CA7', streamSid: 'MZ2', parameters })
    await app.pass(async () => (await stand('CA7'))[0] === 'in-progress', 'the call to begin')
    expect(await stand('CA7')).toEqual(['in-progress', null, null])
    const greeting = () => app.model.last.commands.find(({ type }) => type === 'respond')
    expect(await until(greeting, { what: 'the greeting' })).toMatchObject({
      instructions: expect.stringContaining('Your order is here.'),
    })
  })

  it('and that was placed was not reached where whoever answered hangs up before they are told so', async () => {
    await refused('CA7', await answered())
    await over('CA7')
    expect(await stand('CA7')).toEqual(['completed', 'overloaded', 'rejected'])
  })

  async function notTaken(callSid: string): Promise<void> {
    const tenants = { get: async () => tenantTold('acme') }
    const statuses = makeCallStatuses({ db: test.db, clock: app.clock, nodeId: NODE, tenants, willEnd: () => false })
    const noted = { why: 'overloaded' as const, at: new Date(app.clock.now()) }
    await statuses.notTaken('acme' as TenantId, callSid, noted)
  }
})
