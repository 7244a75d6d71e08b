import { beforeEach, describe, expect, it } from 'vitest'
import { streamTokenIn, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'

const POLICY = 1008
const TRY_AGAIN = 1013
const BUSY = 'lines are busy'

describe('the beginning of a call', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const app = useCallApp(test, { settings: { MAX_CALLS: '1' }, database: async () => gate.of(test.database) })
  beforeEach(() => {
    gate.isAway = false
  })

  const open = (headers: Record<string, string> = {}) => StreamClient.open(app.served.address, '/media-stream', headers)

  async function streamOf(callSid: string): Promise<{ start: () => void; client: StreamClient }> {
    const token = streamTokenIn(await app.ring({ CallSid: callSid }))
    const client = await open()
    return { client, start: () => client.start({ callSid, parameters: { stream_token: token } }) }
  }

  async function internal(tenant: string, callSid: string): Promise<StreamClient> {
    const client = await open({ authorization: `Bearer ${app.served.tokenOf(tenant)}` })
    client.start({ callSid, streamSid: `MZ${tenant}`, parameters: { agent_key: 'desk' } })
    return client
  }

  function post(path: 'status' | 'resume', callSid: string, callStatus: string) {
    const form = { CallSid: callSid, AccountSid: ACCOUNT.sid, CallStatus: callStatus }
    return app.post(`/api/v1/call-${path}`, { form })
  }

  async function takeFallback(): Promise<void> {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: '+12025550150' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
  }

  async function session(callSid: string) {
    const sessions = test.db.selectFrom('voice_sessions').selectAll()
    return sessions.where('call_sid', '=', callSid).executeTakeFirstOrThrow()
  }

  /** A service that is to stop waits five seconds for calls that have a place and have not begun. */
  async function expectNoPlaceTaken(): Promise<void> {
    const startMs = app.clock.monotonicMs()
    let isDrained = false
    void app.served.app.drain().then(() => {
      isDrained = true
    })
    await app.pass(() => isDrained, 'the service to be without calls')
    expect(app.clock.monotonicMs() - startMs).toBeLessThan(5_000)
  }

  it('that fails once the records have the stream comes again when the carrier goes on with it', async () => {
    const { client, start } = await streamOf('CA1')
    gate.loseAnswer()
    start()
    expect(await client.closed()).toBe(TRY_AGAIN)
    expect((await session('CA1')).started_at).not.toBeNull()
    const again = await post('resume', 'CA1', 'in-progress')
    expect(app.model.sessions).toEqual([])
    const next = await open()
    next.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(again.text) } })
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    expect(await session('CA1')).toMatchObject({ resumed_count: 1, stream_sid: 'MZ2', ended_at: null })
    await until(() => app.model.last.commands.length === 1, { what: 'the greeting' })
    expect(app.model.last.commands).toMatchObject([{ type: 'respond' }])
  })

  it('that fails so for a page, of which no carrier tells, is ended at once', async () => {
    const { body } = await app.served.call<{ stream_token: string; call_sid: string }>(
      ...(['acme', 'POST', '/browser-calls', { agent_key: 'desk' }] as const),
    )
    const client = await StreamClient.open(app.served.address, `/media-stream/${body.stream_token}`)
    gate.loseAnswer()
    client.start({ callSid: 'page' })
    expect(await client.closed()).toBe(TRY_AGAIN)
    await until(async () => (await session(body.call_sid)).ended_at, { what: 'the end of the session' })
    expect(await session(body.call_sid)).toMatchObject({ end_reason: 'carrier_lost', call_status: 'completed' })
  })

  it("is the carrier's start, however long it takes to let the stream in", async () => {
    const { client, start } = await streamOf('CA1')
    const startedAt = new Date(app.clock.now())
    const { reached, release } = gate.hold()
    start()
    await reached()
    await app.clock.advance(3_000)
    release()
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    await app.pass(() => app.model.last.commands.some(({ type }) => type === 'respond'), 'the greeting to be asked for')
    app.model.last.tell({ type: 'response_started', responseId: 'r1' })
    app.model.last.speak('r1', 'i1', '/'.repeat(800))
    const { body } = await app.served.call<{ sessions: { started_at: string }[] }>('acme', 'GET', '/sessions/active')
    client.send({ event: 'stop' })
    await app.pass(async () => (await session('CA1')).ended_at, 'the end of the session')
    const stored = await session('CA1')
    expect([body.sessions[0]?.started_at, stored.started_at]).toEqual([startedAt.toISOString(), startedAt])
    expect(stored.latency.greeting_ms).toBeGreaterThanOrEqual(3_000)
  })

  it('does not come once the carrier has said that the call is over', async () => {
    const { client, start } = await streamOf('CA1')
    const { reached, release } = gate.hold()
    start()
    await reached()
    await post('status', 'CA1', 'completed')
    release()
    expect(await client.closed()).toBe(POLICY)
    await until(async () => (await session('CA1')).ended_at, { what: 'the end of the session' })
    expect([app.model.sessions, (await session('CA1')).end_reason]).toEqual([[], 'caller_hangup'])
    expect(await app.ring({ CallSid: 'CA2' })).toContain('<Connect>')
  })

  it('does not come after five seconds, so that the carrier can go on with the call', async () => {
    const { client, start } = await streamOf('CA1')
    const { reached, release } = gate.hold()
    start()
    await reached()
    // In steps: who is ended too early hears of it meanwhile.
    const lastMs = app.clock.now() + 4_750
    await app.pass(() => app.clock.now() >= lastMs, 'most of five seconds to pass')
    expect(client.closeCode).toBeNull()
    await app.clock.advance(250)
    expect(await client.closed()).toBe(TRY_AGAIN)
    release()
    await expectNoPlaceTaken()
    expect([app.model.sessions, app.rest.requests]).toEqual([[], []])
    await post('status', 'CA1', 'completed')
    expect(await session('CA1')).toMatchObject({ end_reason: 'carrier_lost' })
  })

  it('is not waited for longer than eight seconds: the fallback number is rung, and its room given to the next', async () => {
    await takeFallback()
    const { reached, release } = gate.hold()
    const answer = app.ring({ CallSid: 'CA1' })
    await reached()
    await app.clock.advance(8_000)
    expect(await answer).toMatch(/<Response><Dial [^>]*><Number>\+12025550150<\/Number>/)
    release()
    await expectNoPlaceTaken()
  })

  it('is not waited for longer than eight seconds by a carrier that asks what comes next', async () => {
    await app.ring({ CallSid: 'CA1' })
    const { reached, release } = gate.hold()
    const answer = post('resume', 'CA1', 'in-progress')
    await reached()
    await app.clock.advance(8_000)
    expect(await answer).toMatchObject({ status: 200, text: expect.stringMatching(/sorry/) })
    release()
  })

  it('of a page takes no room before it comes, and it is not waited for for ever', async () => {
    const opened = Array.from({ length: 3 }, () =>
      app.served.call<{ call_sid: string }>('acme', 'POST', '/browser-calls', { agent_key: 'desk' }),
    )
    const [first] = await Promise.all(opened)
    expect(await app.ring({ CallSid: 'CA1' })).toContain('<Connect>')
    await app.clock.advance(131_000)
    const end = await until(async () => (await session(String(first?.body.call_sid))).ended_at, { what: 'the end' })
    expect([end !== null, (await session(String(first?.body.call_sid))).call_status]).toEqual([true, 'canceled'])
    expect((await session('CA1')).ended_at).toBeNull()
  })

  it('is not for an internal client that names a call which a carrier has brought', async () => {
    const { start } = await streamOf('CA1')
    expect(await (await internal('acme', 'CA1')).closed()).toBe(POLICY)
    expect(await app.ring({ CallSid: 'CA2' })).toContain(BUSY)
    start()
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    expect(await session('CA1')).toMatchObject({ direction: 'inbound', stream_sid: 'MZ1' })
  })

  it('is not for one whose call lost its place meanwhile either', async () => {
    await takeFallback()
    await app.ring({ CallSid: 'CA1' })
    expect((await post('resume', 'CA1', 'in-progress')).text).toContain('<Dial')
    expect(await (await internal('acme', 'CA1')).closed()).toBe(POLICY)
    expect([app.model.sessions, (await session('CA1')).started_at]).toEqual([[], null])
  })

  it("leaves another tenant's call its place, whatever a client calls its own", async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    await app.talk({ CallSid: 'CA1' })
    expect(await (await internal('other', 'CA1')).closed()).toBe(TRY_AGAIN)
    expect(await app.ring({ CallSid: 'CA2' })).toContain(BUSY)
  })
})

describe('the beginning of a call of which another tenant knows the id', () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const app = useCallApp(test, { database: async () => gate.of(test.database) })

  it('is not kept up by a client of that tenant which names it', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
    const theirs = await StreamClient.open(app.served.address, '/media-stream', {
      authorization: `Bearer ${app.served.tokenOf('other')}`,
    })
    const ours = await StreamClient.open(app.served.address)
    const { reached, release } = gate.hold()
    theirs.start({ callSid: 'CA1', streamSid: 'MZother', parameters: { agent_key: 'desk' } })
    await reached()
    ours.start({ callSid: 'CA1', parameters: { stream_token: token } })
    await until(() => app.model.sessions.length === 1 || ours.closeCode !== null, { what: 'the session' })
    release()
    expect(await theirs.closed()).toBe(POLICY)
    expect([app.model.sessions.length, ours.closeCode]).toEqual([1, null])
  })
})
