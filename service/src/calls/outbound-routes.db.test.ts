import { describe, expect, it } from 'vitest'
import { NUMBER, streamTokenIn, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'
import { beat } from '../platform/nodes/heartbeat-store.ts'
import { OTHER_NODE, storedEvents } from '../records/calls.fixture.ts'

const CALLEE = '+12025550123'
const OF_CALL = { CallSid: 'CA7', AccountSid: ACCOUNT.sid, From: NUMBER, To: CALLEE, CallStatus: 'in-progress' }
const MACHINE = {
  CallSid: 'CA7',
  AccountSid: ACCOUNT.sid,
  AnsweredBy: 'machine_start',
  MachineDetectionDuration: '2400',
}
/** As a carrier tells them. */
const STATUSES = ['initiated', 'ringing', 'in-progress', 'completed']
const HANG_UP = '<Response><Hangup/></Response>'

describe('a call that was asked for, to its carrier', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const app = useCallApp(test, {
    database: async () => gate.of(test.database),
    agent: { agent_name: 'Robin', greeting: 'Hello.' },
    document: { webhook: { url: 'https://hooks.example.com', events: ['voice.call.completed'] } },
  })

  /** Asks for a call, which this carrier takes without saying so; the reference that it was given. */
  async function dialled(body: Record<string, unknown> = {}): Promise<string> {
    const request = { to: CALLEE, from: NUMBER, agent_key: 'desk', ...body }
    const answer = await app.served.call('acme', 'POST', '/make-call', request)
    expect(answer.body).toMatchObject({ code: 'submission_unknown' })
    const { StatusCallback: status, Url: url } = app.rest.requests.at(-1)?.form ?? {}
    const publicUrl = app.served.app.publicUrl()
    const [, ref = ''] = /call-status\/([\w-]{32})$/.exec(status ?? '') ?? []
    expect([status, url]).toEqual([
      `${publicUrl}/api/v1/call-status/${ref}`,
      `${publicUrl}/api/v1/call-resume/${ref}#rc=3&rp=all`,
    ])
    return ref
  }

  const answer = (ref: string, sent = {}, query = '') =>
    app.post(`/api/v1/call-resume/${ref}${query}`, { form: OF_CALL, ...sent })
  const tell = (ref: string, form: Record<string, string>) => app.post(`/api/v1/call-status/${ref}`, { form })
  const logs = () => test.db.selectFrom('call_logs').selectAll().execute()

  /** The call is answered, and its stream has begun. */
  async function talking(ref: string): Promise<StreamClient> {
    const client = await StreamClient.open(app.served.address)
    const parameters = { stream_token: streamTokenIn((await answer(ref)).text) }
    client.start({ callSid: 'CA7', streamSid: 'MZ7', parameters })
    await until(() => app.model.sessions.length === 1, { what: 'the session to begin' })
    return client
  }

  it('is known by its first answer, which connects it to the agent', async () => {
    const ref = await dialled()
    const { status, text } = await answer(ref)
    const publicUrl = app.served.app.publicUrl()
    expect([status, text]).toEqual([200, expect.stringContaining('<Connect>')])
    expect(text).toContain(`<Redirect method="POST">${publicUrl}/api/v1/call-resume#rc=3&amp;rp=all</Redirect>`)
    expect(await logs()).toMatchObject([{ call_sid: 'CA7', direction: 'outbound', error_code: null }])
  })

  it('may last for as long as any call once it goes to the fallback number, however long its agent may have it', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    await answer(await dialled())
    // Its stream has not come.
    const form = { ...OF_CALL, Direction: 'outbound-api' }
    expect((await app.post('/api/v1/call-resume', { form })).text).toContain('<Number>+12025550150</Number>')
    const changes = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls/CA7.json'))
    await until(() => changes().length > 0, { what: 'the request' })
    expect(changes().map(({ form }) => form)).toEqual([{ TimeLimit: '14400' }])
  })

  it('is answered again with another token until its stream has begun, and then as any call', async () => {
    const ref = await dialled()
    const tokens = [streamTokenIn((await answer(ref)).text), streamTokenIn((await answer(ref)).text)]
    expect(new Set(tokens).size).toBe(2)
    const client = await talking(ref)
    client.send({ event: 'stop', streamSid: 'MZ7', stop: {} })
    // Whoever asks before that is heard promises another stream.
    await client.heard()
    await app.pass(async () => (await answer(ref)).text.includes(HANG_UP), 'the end of the call')
  })

  it('speaks the greeting that was asked for', async () => {
    await talking(await dialled({ greeting: 'Your chair is ready.' }))
    const said = await until(() => app.model.last.commands.find(({ type }) => type === 'respond'), {
      what: 'a greeting',
    })
    expect(said).toMatchObject({ instructions: expect.stringContaining('Your chair is ready.') })
  })

  const ended = async () => {
    const [session] = await test.db.selectFrom('voice_sessions').select('end_reason').execute()
    const [log] = await logs()
    return [log?.status, log?.error_code, session?.end_reason]
  }

  it('says a sentence when there is no room, and why in its log', async () => {
    const ref = await dialled()
    void app.served.app.drain()
    const { text } = await answer(ref)
    expect(text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    await tell(ref, { ...OF_CALL, CallStatus: 'completed', CallDuration: '4' })
    expect(await ended()).toEqual(['completed', 'stopping', 'rejected'])
    await tell(ref, { ...OF_CALL, CallStatus: 'completed', AnsweredBy: 'human' })
    expect(await logs()).toMatchObject([{ duration_seconds: 4, answered_by: 'human' }])
  })

  /** Whoever answers hears a sentence, for the database has nothing to say for eight seconds. */
  async function answeredInSilence(ref: string): Promise<void> {
    const silence = gate.hold()
    const answering = answer(ref)
    await silence.reached()
    let said: string | null = null
    void answering.then(({ text }) => {
      said = text
    })
    expect(await app.pass(() => said, 'the sentence')).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    silence.release()
  }

  it.each([
    ['before', true],
    ['after', false],
  ])('says a sentence while the database is silent, and why in its log, %s its end is told', async (_when, isFirst) => {
    const ref = await dialled()
    await answeredInSilence(ref)
    const noted = () => app.pass(async () => (await logs())[0]?.error_code === 'too_slow', 'why it was not connected')
    if (isFirst) await noted()
    await tell(ref, { ...OF_CALL, CallStatus: 'completed', CallDuration: '12' })
    if (!isFirst) await noted()
    expect(await ended()).toEqual(['completed', 'too_slow', 'rejected'])
  })

  it('has no reason where its carrier did not hear that sentence, asked again, and an agent talks', async () => {
    const ref = await dialled()
    await answeredInSilence(ref)
    await app.pass(async () => (await logs())[0]?.error_code === 'too_slow', 'why it was not connected')
    await talking(ref)
    expect(await logs()).toMatchObject([{ status: 'in-progress', error_code: null, error_message: null }])
  })

  it('says a sentence while the database is away, and why in its log once it is back', async () => {
    const ref = await dialled()
    gate.isAway = true
    // It is looked at first.
    const forged = await answer(ref, { token: 'another', form: { ...OF_CALL, CallSid: 'CA8' } })
    expect(forged.text).toMatch(/<Say>We are sorry/)
    await app.clock.advance(1_000)
    expect((await answer(ref)).text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    await app.clock.advance(3_000)
    gate.isAway = false
    await app.pass(async () => (await logs())[0]?.error_code === 'too_slow', 'why it was not connected')
    expect(await logs()).toMatchObject([{ call_sid: 'CA7' }])
  })

  it('has a reason, too, where the database was away when its stream did not come', async () => {
    await answer(await dialled())
    gate.isAway = true
    const form = { ...OF_CALL, Direction: 'outbound-api' }
    expect((await app.post('/api/v1/call-resume', { form })).text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    gate.isAway = false
    await app.pass(async () => (await logs())[0]?.error_code === 'too_slow', 'why it was not connected')
  })

  it('was not hung up by who answered where its stream never comes', async () => {
    await answer(await dialled())
    const { text } = await app.post('/api/v1/call-resume', { form: OF_CALL })
    expect(text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    expect(await ended()).toEqual(['completed', 'stream_lost', 'carrier_lost'])
  })

  it('is sent to another node by one that stops, five times at most', async () => {
    const ref = await dialled()
    void app.served.app.drain()
    const asked = async (query: string) => {
      await beat(test.db, OTHER_NODE, '1')
      return (await answer(ref, {}, query)).text
    }
    const again = `${app.served.app.publicUrl()}/api/v1/call-resume/${ref}?again`
    expect(await asked('')).toContain(
      `<Pause length="2"/><Redirect method="POST">${again}=1#rc=3&amp;rp=all</Redirect>`,
    )
    expect(await asked('?again=4')).toContain(`${again}=5#`)
    expect(await asked('?again=5')).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    expect(await logs()).toMatchObject([{ call_sid: 'CA7', status: 'queued' }])
  })

  it('does not get the session of another dial that has this call', async () => {
    const [first, second] = [await dialled({ greeting: 'The first.' }), await dialled({ greeting: 'The second.' })]
    await answer(first)
    expect((await answer(second)).text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
    expect((await answer(first)).text).toContain('<Connect>')
    expect((await logs()).map(({ call_sid }) => call_sid).sort()).toEqual(['CA7', null])
  })

  it.each([
    ['while it goes on', false],
    ['before its stream began', true],
  ])('ends at once when a machine answers, told %s', async (_when, isEarly) => {
    const ref = await dialled()
    if (isEarly) await tell(ref, MACHINE)
    await talking(ref)
    if (!isEarly) await tell(ref, MACHINE)
    await app.pass(() => app.rest.requests.some(({ form }) => form['Status'] === 'completed'), 'the end')
    await app.pass(async () => (await logs())[0]?.status === 'completed', 'the end to be written down')
    expect(await logs()).toMatchObject([{ answered_by: 'machine_start' }])
    // What the carrier says of the call may be written down before its session is over.
    const reason = () => test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirst()
    await app.pass(async () => (await reason())?.end_reason === 'voicemail', 'the end of its session')
  })

  it.each([
    [
      'F24: its callbacks are taken once, though each comes five times',
      STATUSES.flatMap((status) => Array(5).fill(status)),
    ],
    ['F25: its callbacks are taken in reverse', STATUSES.toReversed()],
    [
      'F26: its callbacks are taken with the end before the beginning',
      ['completed', 'initiated', 'ringing', 'in-progress'],
    ],
  ])('%s: the call is the same, and is told to have ended once', async (_what, statuses) => {
    const ref = await dialled()
    for (const CallStatus of statuses) {
      const CallDuration = CallStatus === 'completed' ? '7' : undefined
      expect((await tell(ref, { ...OF_CALL, CallStatus, ...(CallDuration && { CallDuration }) })).status).toBe(200)
    }
    expect(await logs()).toMatchObject([{ call_sid: 'CA7', status: 'completed', duration_seconds: 7 }])
    const ends = (await storedEvents(test.db)).filter(({ event }) => event === 'voice.call.completed')
    expect(ends).toMatchObject([{ call_sid: 'CA7' }])
  })

  it('is not another one: what is told of a second id changes nothing', async () => {
    const ref = await dialled()
    await tell(ref, OF_CALL)
    expect((await tell(ref, { ...OF_CALL, CallSid: 'CA8', CallStatus: 'completed' })).status).toBe(200)
    expect(await logs()).toMatchObject([{ call_sid: 'CA7', status: 'in-progress' }])
  })

  it('is nobody else’s: a request that its account did not sign is refused', async () => {
    const ref = await dialled()
    const telephony = { account_sid: 'AC2', auth_token: 'token-of-the-thief' }
    await app.served.administer('PUT', '/tenants/thief', { tenant_id: 'thief', telephony })
    const form = { ...OF_CALL, AccountSid: 'AC2' }
    for (const sent of [{ token: null }, { token: 'another' }, { token: 'token-of-the-thief', form }]) {
      expect((await answer(ref, sent)).status).toBe(401)
      expect((await app.post(`/api/v1/call-status/${ref}`, { form: OF_CALL, ...sent })).status).toBe(401)
    }
    expect(await logs()).toMatchObject([{ call_sid: null }])
  })

  it('is unknown by another reference: the carrier hangs up', async () => {
    await dialled()
    expect((await answer('x'.repeat(32))).text).toContain(HANG_UP)
    expect((await tell('x'.repeat(32), OF_CALL)).status).toBe(200)
    expect(await logs()).toMatchObject([{ call_sid: null }])
  })
})

describe('calls that ring where there is room for one', () => {
  const test = useDatabase()
  const app = useCallApp(test, { agent: { agent_name: 'Robin' }, settings: { MAX_CALLS: '1' } })
  const ask = () => app.served.call('acme', 'POST', '/make-call', { to: CALLEE, from: NUMBER, agent_key: 'desk' })
  const paths = () => {
    const { Url: url = '', StatusCallback: status = '' } = app.rest.requests.at(-1)?.form ?? {}
    return { answer: new URL(url).pathname, status: new URL(status).pathname }
  }

  it('are no more than could be answered, until it is known that one is not', async () => {
    expect((await ask()).body).toMatchObject({ code: 'submission_unknown' })
    const { status } = paths()
    const full = await ask()
    expect([full.status, full.body]).toEqual([503, expect.objectContaining({ code: 'unavailable' })])
    expect(app.rest.requests).toHaveLength(1)
    await app.post(status, { form: { ...OF_CALL, CallStatus: 'no-answer' } })
    expect((await ask()).body).toMatchObject({ code: 'submission_unknown' })
    expect(app.rest.requests).toHaveLength(2)
  })

  it('ring no more when another node was told what became of them', async () => {
    await ask()
    await test.db.updateTable('call_logs').set({ status: 'ringing' }).execute()
    expect((await ask()).body).toMatchObject({ code: 'unavailable' })
    await test.db.updateTable('call_logs').set({ status: 'busy' }).execute()
    expect((await ask()).body).toMatchObject({ code: 'submission_unknown' })
  })

  it('do not ring when the gate has refused them', async () => {
    const costly = { to: '+19005550123', from: NUMBER, agent_key: 'desk' }
    expect((await app.served.call('acme', 'POST', '/make-call', costly)).body).toMatchObject({ code: 'premium_number' })
    expect((await ask()).body).toMatchObject({ code: 'submission_unknown' })
  })

  it('keep nobody out who calls, and are sent to another node when they are answered meanwhile', async () => {
    await ask()
    const { answer } = paths()
    expect(await app.ring()).toContain('<Connect>')
    await beat(test.db, OTHER_NODE, '1')
    expect((await app.post(answer, { form: OF_CALL })).text).toContain('?again=1#rc=3')
    expect((await app.post(`${answer}?again=5`, { form: OF_CALL })).text).toMatch(/<Say>We are sorry.*<Hangup\/>/)
  })
})
