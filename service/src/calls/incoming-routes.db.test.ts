import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLER, NUMBER, streamTokenIn, useCallApp } from '../../test/harness/call-app.ts'
import { sign } from '../../test/harness/carrier-signature.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { passing } from '../../test/harness/passing.ts'
import { ACCOUNT, ServedApp } from '../../test/harness/served-app.ts'
import { StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'
import { beat } from '../platform/nodes/heartbeat-store.ts'
import { OTHER_NODE, someCall, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions } from '../records/sessions.ts'

const PATH = '/api/v1/incoming-call'
const RESUME = '/api/v1/call-resume'
const FORM = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
const SECOND_TOKEN = 'the-second-token-of-the-account'
const FALLBACK = '+12025550150'

describe('POST /api/v1/incoming-call', () => {
  const test = useDatabase()
  const app = useCallApp(test)
  const logs = () => test.db.selectFrom('call_logs').selectAll().execute()

  /** Changes what the tenant's document says beside its account. */
  async function document(changes: Record<string, unknown>, telephony: Record<string, unknown> = {}): Promise<void> {
    const account = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, ...telephony }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony: account, ...changes })
  }

  /** Of a request that is signed as its test likes. */
  async function statusOf(path: string, signature: string, fields: [string, string][]): Promise<number> {
    const headers = { 'x-twilio-signature': signature }
    const sent = { method: 'POST', headers, body: new URLSearchParams(fields) }
    return (await fetch(app.served.address + path, sent)).status
  }

  describe('connects a call to its agent', () => {
    it('by a stream with a token of its own, and says who is asked what comes next', async () => {
      const { status, headers, text } = await app.post(PATH, { form: FORM })
      expect([status, headers.get('content-type')]).toEqual([200, 'text/xml; charset=utf-8'])
      const publicUrl = app.served.app.publicUrl()
      expect(text).toContain(`<Stream url="${publicUrl.replace('http', 'ws')}/media-stream"`)
      expect(text).toContain(`statusCallback="${publicUrl}/api/v1/call-status"`)
      expect(text).toContain(`<Redirect method="POST">${publicUrl}/api/v1/call-resume#rc=3&amp;rp=all</Redirect>`)
      expect(streamTokenIn(text).split('.')).toHaveLength(3)
    })

    it('and writes the call down', async () => {
      await app.post(PATH, { form: FORM })
      expect(await logs()).toMatchObject([
        {
          tenant_id: 'acme',
          call_sid: 'CA1',
          direction: 'inbound',
          from: CALLER,
          to: NUMBER,
          status: 'ringing',
          agent_key: 'desk',
        },
      ])
    })

    it('at the old address too, which says where the new one is', async () => {
      const { status, headers, text } = await app.post('/incoming-call', { form: FORM })
      expect([status, text]).toEqual([200, expect.stringContaining('<Connect>')])
      expect(headers.get('deprecation')).toBe('true')
      expect(headers.get('link')).toBe(`<${PATH}>; rel="successor-version"`)
    })

    it('once however often the carrier asks, each time with a new token', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => app.post(PATH, { form: FORM })))
      expect(new Set(answers.map(({ text }) => streamTokenIn(text))).size).toBe(10)
      expect(await logs()).toHaveLength(1)
    })

    it.each([PATH, '/incoming-call?of=acme'])(
      'that the carrier got no answer about from %s, and asks about where calls are gone on with',
      async (path) => {
        const failed = { ErrorCode: '11200', ErrorUrl: app.served.app.publicUrl() + path }
        const { text } = await app.post(RESUME, { form: { ...FORM, ...failed } })
        expect(text).toContain('<Connect>')
        expect(await logs()).toMatchObject([{ call_sid: 'CA1', from: CALLER, to: NUMBER, agent_key: 'desk' }])
        expect((await app.post(RESUME, { form: { ...FORM, ...failed }, token: 'another-token' })).status).toBe(401)
        const unknown = { ...FORM, CallSid: 'CA2', ErrorUrl: app.served.app.publicUrl() + RESUME }
        expect((await app.post(RESUME, { form: unknown })).text).toContain('<Response><Hangup/></Response>')
      },
    )

    it.each(['anonymous', 'sip:"><Hangup/>@example.com', '', '+266696687', 'x'.repeat(1_000), `${'x'.repeat(199)}😀`])(
      'whoever calls: %.30s',
      async (from) => {
        const { text } = await app.post(PATH, { form: { ...FORM, From: from } })
        expect(text).toContain('<Connect>')
        expect((await logs())[0]?.from).toBe(from.slice(0, 200).toWellFormed())
      },
    )

    it('of a caller whom the carrier names with the prefix of their country, by the number that is dialled', async () => {
      await app.post(PATH, { form: { ...FORM, From: '+4402079460000' } })
      expect(await logs()).toMatchObject([{ from: '+442079460000' }])
    })

    it.each([
      ['with the prefix of its country', '+442079460001', '+4402079460001'],
      ['as it was written down before, with that prefix', '+4402079460001', '+4402079460001'],
    ])('whose number the carrier names %s', async (_how, held, To) => {
      await app.served.administer('POST', '/tenants/acme/phone-routes', {
        phone_number: '+442079460001',
        agent_key: 'desk',
      })
      for (const table of ['phone_routes', 'phone_numbers'])
        await sql`update ${sql.table(table)} set phone_number = ${held}
                   where phone_number = '+442079460001'`.execute(test.db)
      expect((await app.post(PATH, { form: { ...FORM, To } })).text).toContain('<Connect>')
    })

    it('with fields that carriers add, empty and doubled ones among them', async () => {
      const form = { ...FORM, CallerName: '', FromCity: 'München', StirVerstat: 'TN-Validation-Passed-A' }
      expect((await app.post(PATH, { form })).text).toContain('<Connect>')
      const signature = sign(app.served.app.publicUrl() + PATH, { ...FORM, Added: 'oneAddedtwo' }, ACCOUNT.token)
      expect(await statusOf(PATH, signature, [...Object.entries(FORM), ['Added', 'one'], ['Added', 'two']])).toBe(200)
    })
  })

  describe('refuses with 401, and writes nothing down,', () => {
    /** Calls that are not taken are written down after twenty seconds. */
    async function expectNothingWritten(): Promise<void> {
      const untilMs = app.clock.now() + 22_000
      await passing(app.clock, () => app.clock.now() >= untilMs, { what: 'the time to be over', stepMs: 2_000 })
      expect(await logs()).toEqual([])
    }

    it.each([
      ['a request without a signature', { token: null }],
      ['one that another account signed', { token: 'another-token' }],
      ['one of an account that nobody has', { form: { ...FORM, AccountSid: 'AC99', To: '+12025550199' } }],
      [
        'one without an account, for a number that nobody has',
        { form: { CallSid: 'CA1', From: CALLER, To: '+12025550199' } },
      ],
      ['one whose signature comes twice', { headers: { 'x-provider-signature': 'again' } }],
      ['an empty one', { form: {}, token: null }],
    ])('%s', async (_what, sent) => {
      const { status, text } = await app.post(PATH, { form: FORM, ...sent })
      expect(status).toBe(401)
      expect(JSON.parse(text)).toMatchObject({
        ok: false,
        code: 'unauthorized',
        error: expect.stringMatching(/signature/),
      })
      await expectNothingWritten()
    })

    it('one that was changed on its way', async () => {
      const signature = sign(app.served.app.publicUrl() + PATH, FORM, ACCOUNT.token)
      const changed = { ...FORM, From: '+12025550124' }
      expect(await statusOf(PATH, signature, Object.entries(changed))).toBe(401)
      expect(await statusOf(`${PATH}?a=1`, signature, Object.entries(FORM))).toBe(401)
      await expectNothingWritten()
      expect(await statusOf(PATH, signature, Object.entries(FORM))).toBe(200)
    })

    it("one for a number of a tenant's that another tenant signed, whatever account it names as its own", async () => {
      const telephony = { account_sid: ACCOUNT.sid, auth_token: 'token-of-the-thief' }
      await app.served.administer('PUT', '/tenants/thief', { tenant_id: 'thief', telephony })
      const { status } = await app.post(PATH, { form: FORM, token: 'token-of-the-thief' })
      expect(status).toBe(401)
      await expectNothingWritten()
    })
  })

  it('takes the neutral name of the signature, and the second token while tokens are being changed', async () => {
    await document({}, { auth_token_secondary: SECOND_TOKEN })
    expect((await app.post(PATH, { form: FORM, token: SECOND_TOKEN })).status).toBe(200)
    const neutral = (signature: string) => ({ form: FORM, token: null, headers: { 'x-provider-signature': signature } })
    const signature = sign(app.served.app.publicUrl() + PATH, FORM, SECOND_TOKEN)
    expect((await app.post(PATH, neutral(signature))).status).toBe(200)
    const other = sign(app.served.app.publicUrl() + PATH, FORM, 'another-token')
    expect((await app.post(PATH, neutral(other))).status).toBe(401)
  })

  it('refuses what names no call with 400, once the signature is known to be right', async () => {
    const { status, text } = await app.post(PATH, { form: { ...FORM, CallSid: 'no id' } })
    expect([status, JSON.parse(text)]).toMatchObject([400, { details: [{ path: '/body/CallSid' }] }])
    expect((await app.post(PATH, { form: { ...FORM, CallSid: '' }, token: null })).status).toBe(401)
  })

  it('takes nothing but a form', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(app.served.address + PATH, { method: 'POST', headers, body: '{}' })
    const error = 'The body has a content type that is not taken here: send application/x-www-form-urlencoded.'
    expect([response.status, await response.json()]).toMatchObject([415, { error }])
  })

  it('refuses a form of more fields than any carrier sends, before it is known who sent it', async () => {
    const added = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`Added${n}`, 'x']))
    const ask = (count: number, token: string | null = ACCOUNT.token) =>
      app.post(PATH, { form: { ...FORM, ...added(count - Object.keys(FORM).length) }, token })
    expect((await ask(1_000)).status).toBe(200)
    const { status, text } = await ask(1_001)
    expect([status, JSON.parse(text)]).toMatchObject([400, { details: [{ path: '/body' }] }])
    expect((await ask(1_001, null)).status).toBe(400)
    expect((await ask(1_000, null)).status).toBe(401)
  })

  describe('says a sentence and hangs up', () => {
    const notInService = /<Say>[^<]*not in service[^<]*<\/Say><Hangup\/><\/Response>$/
    const untaken = /<Say>[^<]*cannot be taken[^<]*<\/Say><Hangup\/><\/Response>$/
    const busy = /<Say>[^<]*lines are busy[^<]*<\/Say><Hangup\/><\/Response>$/

    it('when nobody holds the number', async () => {
      expect((await app.post(PATH, { form: { ...FORM, To: '+12025550199' } })).text).toMatch(notInService)
      expect((await app.post(PATH, { form: { ...FORM, To: 'sip:nobody@example.com' } })).text).toMatch(notInService)
    })

    it('when the number has no route, or one that takes no calls', async () => {
      await document({}, { from_number: '+12025550142' })
      expect((await app.post(PATH, { form: { ...FORM, To: '+12025550142' } })).text).toMatch(notInService)
      const route = { phone_number: '+12025550143', agent_key: 'desk', inbound_enabled: false }
      await app.served.administer('POST', '/tenants/acme/phone-routes', route)
      expect((await app.post(PATH, { form: { ...FORM, To: '+12025550143' } })).text).toMatch(notInService)
    })

    it('when the agent has nothing published', async () => {
      await app.served.administer('POST', '/tenants/acme/agents', { agent_key: 'mute', name: 'Mute', description: '' })
      const route = { phone_number: '+12025550144', agent_key: 'mute' }
      await app.served.administer('POST', '/tenants/acme/phone-routes', route)
      expect((await app.post(PATH, { form: { ...FORM, To: '+12025550144' } })).text).toMatch(untaken)
    })

    it('when there is no room, exactly for the calls that are too many', async () => {
      await document({ limits: { max_concurrent_calls: 3 } })
      const sids = Array.from({ length: 20 }, (_, i) => `CA${i}`)
      const answers = await Promise.all(sids.map((CallSid) => app.post(PATH, { form: { ...FORM, CallSid } })))
      expect(answers.filter(({ text }) => text.includes('<Connect>'))).toHaveLength(3)
      expect(answers.filter(({ text }) => busy.test(text))).toHaveLength(17)
    })

    it.each([{ budget_per_day: 5 }, { minutes_per_day: 0 }])('when %j leaves nothing of the day', async (limits) => {
      await document({ limits: { ...limits, budget_per_day: 5 } })
      if (!('minutes_per_day' in limits)) {
        expect((await app.post(PATH, { form: FORM })).text).toContain('<Connect>')
        const cost = { started_at: sql<Date>`created_at`, cost_usd: 5 }
        await test.db.updateTable('voice_sessions').set(cost).execute()
      }
      expect((await app.post(PATH, { form: { ...FORM, CallSid: 'CA2' } })).text).toMatch(busy)
      expect((await logs()).map(({ call_sid }) => call_sid)).not.toContain('CA2')
    })

    it('when other processes have the calls that its tenant may have, and not any more when one is over', async () => {
      await document({ limits: { max_concurrent_calls: 2 } })
      await app.post(PATH, { form: FORM })
      const elsewhere = makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE })
      await elsewhere.open(tenantTold('acme'), someCall('CB1'))
      expect((await app.post(PATH, { form: { ...FORM, CallSid: 'CA2' } })).text).toMatch(/busy[^<]*<\/Say><Hangup\/>/)
      await test.db.updateTable('call_logs').set({ status: 'completed' }).where('call_sid', '=', 'CB1').execute()
      expect((await app.post(PATH, { form: { ...FORM, CallSid: 'CA3' } })).text).toContain('<Connect>')
      // One of this process's own that asks again has its place.
      expect((await app.post(PATH, { form: FORM })).text).toContain('<Connect>')
    })

    it('or connects the number that the tenant named for such cases', async () => {
      await document({ limits: { max_concurrent_calls: 1 } }, { fallback_number: FALLBACK })
      await app.post(PATH, { form: FORM })
      const { text } = await app.post(PATH, { form: { ...FORM, CallSid: 'CA2' } })
      // Nobody is told goodbye who is put through.
      expect(text).toMatch(/<Response><Dial timeout="30" timeLimit="14400" action="[^"]+\/call-resume#/)
      expect(text).toContain(`<Number>${FALLBACK}</Number></Dial>`)
      // Who is rung there sees whose call it is, and the number that was called where carriers ring nobody in the caller's name.
      expect(text).not.toContain('callerId')
      const withheld = await app.post(PATH, { form: { ...FORM, CallSid: 'CA3', From: 'anonymous' } })
      expect(withheld.text).toContain(` callerId="${NUMBER}"`)
    })
  })

  describe('writes down, later,', () => {
    const outcomes = async (count: number) => {
      await app.clock.advance(20_000)
      await until(async () => (await logs()).length >= count, { what: 'the calls that were not taken' })
      return (await logs()).map(({ call_sid, status, error_code }) => [call_sid, status, error_code]).toSorted()
    }

    it('the calls for which there is no room, here or elsewhere', async () => {
      await document({ limits: { max_concurrent_calls: 1 } })
      for (const CallSid of ['CA1', 'CA2']) await app.post(PATH, { form: { ...FORM, CallSid } })
      expect(await outcomes(2)).toEqual([
        ['CA1', 'ringing', null],
        ['CA2', 'busy', 'tenant_full'],
      ])
      expect((await logs()).find(({ call_sid }) => call_sid === 'CA2')).toMatchObject({
        agent_key: 'desk',
        from: CALLER,
      })
      await app.post('/api/v1/call-status', { form: { ...FORM, CallStatus: 'completed' } })
      await makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE }).open(
        tenantTold('acme'),
        someCall('CB1'),
      )
      await app.post(PATH, { form: { ...FORM, CallSid: 'CA3' } })
      expect(await outcomes(4)).toContainEqual(['CA3', 'busy', 'tenant_full'])
    })

    it.each([
      ['before', 'completed', 'transferred'],
      ['after', 'completed', 'transferred'],
      ['after', 'no-answer', 'rejected'],
    ])('who was with the fallback number %s that, which says %s, as %s', async (when, DialCallStatus, end_reason) => {
      await document({ limits: { minutes_per_day: 0 } }, { fallback_number: FALLBACK })
      await app.post(PATH, { form: FORM })
      const tell = () => app.post('/api/v1/call-resume', { form: { ...FORM, DialCallStatus } })
      const told = when === 'before' ? await tell() : null
      expect(await outcomes(1)).toEqual([['CA1', 'busy', 'minutes_exhausted']])
      expect((told ?? (await tell())).text).toContain('<Response><Hangup/></Response>')
      await app.post('/api/v1/call-status', { form: { ...FORM, CallStatus: 'completed', CallDuration: '90' } })
      expect(await logs()).toMatchObject([{ status: 'busy', duration_seconds: null }])
      expect(await test.db.selectFrom('voice_sessions').select('end_reason').execute()).toEqual([{ end_reason }])
    })

    it.each([
      ['nobody has claimed', false, 'cancelled'],
      ['somebody has claimed', true, 'claimed'],
    ])(
      'that the caller was with the fallback number, and nobody calls back who is to, where %s the task',
      async (_who, isClaimed, status) => {
        await document({ limits: { minutes_per_day: 0 }, missed_calls: {} }, { fallback_number: FALLBACK })
        await app.post(PATH, { form: FORM })
        const tasks = () =>
          app.served.call<{ tasks: { id: string; status: string }[] }>('acme', 'GET', '/callback-tasks')
        await outcomes(1)
        // They talk for longer than is waited for that.
        await app.clock.advance(300_000)
        // A sweep comes each half minute.
        const made = async () => (await tasks()).body.tasks[0]
        const task = await passing(app.clock, made, { what: 'the task', stepMs: 5_000 })
        if (isClaimed) await app.served.call('acme', 'POST', `/callback-tasks/${task.id}/claim`, { operator: 'ann' })
        await app.post('/api/v1/call-resume', { form: { ...FORM, DialCallStatus: 'completed' } })
        expect((await tasks()).body.tasks).toMatchObject([{ id: task.id, status }])
      },
    )

    it('a caller whom the carrier names with the prefix of their country, who is called back once', async () => {
      await document({ limits: { minutes_per_day: 0 }, missed_calls: {} })
      for (const CallSid of ['CA1', 'CA2', 'CA3'])
        await app.post(PATH, { form: { ...FORM, CallSid, From: '+4402079460000' } })
      await outcomes(3)
      const called = async () => {
        const { body } = await app.served.call<{ tasks: { customer_phone: string }[] }>(
          'acme',
          'GET',
          '/callback-tasks',
        )
        return body.tasks.map(({ customer_phone }) => customer_phone)
      }
      const sweep = (caller: string) =>
        passing(app.clock, async () => (await called()).includes(caller), { what: 'the task', stepMs: 5_000 })
      await sweep('+442079460000')
      await app.post(PATH, { form: { ...FORM, CallSid: 'CA4' } })
      await outcomes(4)
      await sweep(CALLER)
      expect(await called()).toEqual([CALLER, '+442079460000'])
    })

    it('those of a day that is spent', async () => {
      await document({ limits: { minutes_per_day: 0 } })
      await app.post(PATH, { form: FORM })
      expect(await outcomes(1)).toEqual([['CA1', 'busy', 'minutes_exhausted']])
    })

    it('those of an agent who cannot speak, and none of a number that nobody has or that has no route', async () => {
      await document({}, { from_number: '+12025550142' })
      await app.served.administer('POST', '/tenants/acme/agents', { agent_key: 'mute', name: 'Mute', description: '' })
      await app.served.administer('POST', '/tenants/acme/phone-routes', {
        phone_number: '+12025550144',
        agent_key: 'mute',
      })
      for (const [CallSid, To] of Object.entries({ CA1: '+12025550199', CA2: '+12025550142', CA3: '+12025550144' }))
        await app.post(PATH, { form: { ...FORM, CallSid, To } })
      expect(await outcomes(1)).toEqual([['CA3', 'failed', 'no_agent']])
    })
  })

  it('sends a call to another node when this one stops, five times at most', async () => {
    void app.served.app.drain()
    expect((await app.post(PATH, { form: FORM })).text).toMatch(/<Say>[^<]*busy[^<]*<\/Say><Hangup\/>/)
    const asked = async (query: string) => {
      await beat(test.db, OTHER_NODE, '1')
      return (await app.post(PATH + query, { form: FORM })).text
    }
    const again = `${app.served.app.publicUrl()}${PATH}?again`
    expect(await asked('')).toContain(
      `<Pause length="2"/><Redirect method="POST">${again}=1#rc=3&amp;rp=all</Redirect>`,
    )
    expect(await asked('?again=4')).toContain(`${again}=5#`)
    expect(await asked('?again=5')).toMatch(/<Say>[^<]*busy[^<]*<\/Say><Hangup\/>/)
    const unanswered = { ...FORM, ErrorCode: '11200', ErrorUrl: `${again}=5` }
    expect((await app.post(RESUME, { form: unanswered })).text).toMatch(/<Say>[^<]*busy[^<]*<\/Say><Hangup\/>/)
    expect(await logs()).toEqual([])
  })

  it('says again that it takes a call not, to a carrier that asks again once that is written down', async () => {
    await document({ limits: { minutes_per_day: 0 } })
    const { text } = await app.post(PATH, { form: FORM })
    await app.clock.advance(20_000)
    await until(async () => (await logs()).length > 0, { what: 'the call to be written down' })
    // There is room by now, as there may be elsewhere; what its tenant was told stands.
    await document({})
    expect((await app.post(PATH, { form: FORM })).text).toBe(text)
  })

  describe('brings a call back to its agent that could not be put through, and was refused at first, where it is taken', () => {
    /** Another process of the same service. */
    async function besides(): Promise<ServedApp> {
      const options = { clock: app.clock, model: app.model, besides: app.served }
      const other = await ServedApp.start(test, { ...options, settings: { TELEPHONY_API_BASE_URL: app.rest.baseUrl } })
      let isClosed = false
      onTestFinished(async () => {
        void other.app.close().then(() => {
          isClosed = true
        })
        await app.pass(() => isClosed, 'the other process to stop')
      })
      return other
    }

    async function takenAt({ app: node, address }: ServedApp): Promise<string> {
      const headers = { 'x-twilio-signature': sign(node.publicUrl() + PATH, FORM, ACCOUNT.token) }
      return (await fetch(address + PATH, { method: 'POST', headers, body: new URLSearchParams(FORM) })).text()
    }

    it.each([
      ['here', true, true],
      ['here, and its stream is elsewhere', true, false],
      ['elsewhere, and its stream is here', false, true],
    ])('%s', async (_where, isTakenHere, isStreamHere) => {
      await document({ limits: { minutes_per_day: 0 } })
      expect((await app.post(PATH, { form: FORM })).text).toContain('<Hangup/>')
      await document({})
      const other = isTakenHere && isStreamHere ? app.served : await besides()
      const stream_token = streamTokenIn(await takenAt(isTakenHere ? app.served : other))
      const client = await StreamClient.open((isStreamHere ? app.served : other).address)
      client.start({ callSid: 'CA1', streamSid: 'MZ1', parameters: { stream_token } })
      await until(() => app.model.sessions.length === 1, { what: 'the session to begin' })
      const { text } = await app.post('/api/v1/call-resume', { form: { ...FORM, DialCallStatus: 'busy' } })
      expect(text).toContain('<Connect>')
    })

    it('elsewhere, whatever another tenant that knows its id has signed for here', async () => {
      const [number, token, other] = ['+12025550141', 'token-of-the-thief', await besides()]
      await app.served.furnish('thief', { number, document: { telephony: { auth_token: token } } })
      const stream_token = streamTokenIn(await takenAt(other))
      const client = await StreamClient.open(other.address)
      client.start({ callSid: 'CA1', streamSid: 'MZ1', parameters: { stream_token } })
      await until(() => app.model.sessions.length === 1, { what: 'the session to begin' })
      expect((await app.post(PATH, { form: { ...FORM, To: number }, token })).text).toContain('<Hangup/>')
      const { status, text } = await app.post(RESUME, { form: { ...FORM, DialCallStatus: 'busy' } })
      expect([status, text]).toEqual([200, expect.stringContaining('<Connect>')])
    })
  })

  it.each([PATH, RESUME])('is answered at %s with a query of the number, too', async (path) => {
    const failed: Record<string, string> =
      path === RESUME ? { ErrorCode: '11200', ErrorUrl: app.served.app.publicUrl() + PATH } : {}
    const { status, text } = await app.post(`${path}?line=2&again=1`, { form: { ...FORM, ...failed } })
    expect([status, text]).toEqual([200, expect.stringContaining('<Connect>')])
  })

  it('hangs up when the call is over already', async () => {
    await app.post(PATH, { form: FORM })
    await app.post('/api/v1/call-status', { form: { ...FORM, CallStatus: 'completed' } })
    expect((await app.post(PATH, { form: FORM })).text).toContain('<Response><Hangup/></Response>')
  })
})

describe('calls without a model', () => {
  const test = useDatabase()
  const app = useCallApp(test, { hasModel: false })

  it('are told so', async () => {
    expect(await app.ring(FORM)).toMatch(/<Say>[^<]*sorry[^<]*<\/Say><Hangup\/>/)
    const { status } = await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })
    expect(status).toBe(503)
  })

  it('are not begun by internal clients either', async () => {
    const headers = { authorization: `Bearer ${app.served.tokenOf('acme')}` }
    const client = await StreamClient.open(app.served.address, '/media-stream', headers)
    client.start({ callSid: 'internal', parameters: { agent_key: 'desk' } })
    expect(await client.closed()).toBe(1013)
  })
})

describe.each([
  ['on, on this machine', { SIMULATOR: 'on' }, 200],
  ['on, with a public address', { SIMULATOR: 'on', PUBLIC_URL: 'https://voice.example.com' }, 401],
  ['off', {}, 401],
])('an unsigned call of a tenant without a token, the simulator being %s', (_what, settings, expected) => {
  const test = useDatabase()
  const app = useCallApp(test, { settings, document: { telephony: {} } })

  it(`is answered with ${expected}`, async () => {
    expect((await app.post(PATH, { form: FORM, token: null })).status).toBe(expected)
  })

  it('says nothing of those that have one', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    expect((await app.post(PATH, { form: { ...FORM, To: '+12025550141' }, token: null })).status).toBe(401)
  })
})

describe.each([
  ['on this machine', {}, 200],
  ['with a public address', { PUBLIC_URL: 'https://voice.example.com' }, 401],
])('a call of a tenant that goes by the account of the simulator, %s', (_where, settings, unsigned) => {
  const ACCOUNT_OF_SIMULATOR = { TELEPHONY_ACCOUNT_SID: ACCOUNT.sid, TELEPHONY_AUTH_TOKEN: ACCOUNT.token }
  const app = useCallApp(useDatabase(), {
    ...{ settings: { SIMULATOR: 'on', ...ACCOUNT_OF_SIMULATOR, ...settings }, isCarrierSimulated: true },
    document: { telephony: {} },
  })
  const statusOf = async (form: object, token: string | null) =>
    (await app.post(PATH, { form: { ...FORM, ...form }, token })).status

  it(`is answered with ${unsigned} when it is not signed, as if there were no token`, async () => {
    expect(await statusOf({}, null)).toBe(unsigned)
    expect(await statusOf({ CallSid: 'CA2', To: '+12025550199' }, null)).toBe(unsigned)
  })

  it('is checked when it is signed', async () => {
    expect([await statusOf({}, ACCOUNT.token), await statusOf({}, 'another-token')]).toEqual([200, 401])
    const headers = { 'x-provider-signature': 'junk' }
    expect((await app.post(PATH, { form: FORM, token: null, headers })).status).toBe(401)
  })

  it('is told of where its tenant names an account of its own', async () => {
    const document = { tenant_id: 'acme', telephony: { account_sid: 'AC1' } }
    const { warnings } = await app.served.administer<{ warnings?: string[] }>('PUT', '/tenants/acme', document)
    expect(warnings).toEqual([expect.stringContaining('telephony.account_sid has no auth token')])
  })

  it('is not taken unsigned of a tenant that has set a token', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: SECOND_TOKEN }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    expect([await statusOf({}, null), await statusOf({}, SECOND_TOKEN)]).toEqual([401, 200])
  })
})

describe('a call that is entered after its caller was told that it is not taken', () => {
  const gate = new GatedDatabase()
  const test = useDatabase()
  const app = useCallApp(test, { database: async () => gate.of(test.database) })

  it('ends as one that was not, whatever its carrier tells, and is told so again', async () => {
    const { reached, release } = gate.hold()
    const answer = app.post(PATH, { form: FORM })
    await reached()
    await app.clock.advance(8_000)
    const { text } = await answer
    expect(text).toContain('cannot be taken at the moment')
    release()
    const log = () => test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
    await until(async () => (await log()).status !== 'ringing', { what: 'the end of the call' })
    await app.post('/api/v1/call-status', { form: { ...FORM, CallStatus: 'completed', CallDuration: '9' } })
    await app.clock.advance(20_000)
    expect(await log()).toMatchObject({ status: 'failed', error_code: 'too_slow', duration_seconds: null })
    expect((await app.post(PATH, { form: FORM })).text).toBe(text)
  })
})

describe("POST /api/v1/incoming-call of the installation's account, while its tokens are being changed", () => {
  const TOKENS = {
    TELEPHONY_AUTH_TOKEN: 'the-first-token-of-the-account',
    TELEPHONY_AUTH_TOKEN_SECONDARY: SECOND_TOKEN,
  }
  const app = useCallApp(useDatabase(), { settings: { TELEPHONY_ACCOUNT_SID: ACCOUNT.sid, ...TOKENS } })
  const withOwnAccount = (telephony: object | null) =>
    app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
  const statusOf = async (form: object, token: string) =>
    (await app.post(PATH, { form: { ...FORM, ...form }, token })).status

  it('takes what either token has signed, of known numbers and of others', async () => {
    await withOwnAccount(null)
    for (const token of [TOKENS.TELEPHONY_AUTH_TOKEN, SECOND_TOKEN]) {
      expect(await statusOf({}, token)).toBe(200)
      expect(await statusOf({ CallSid: 'CA2', To: '+12025550199' }, token)).toBe(200)
    }
    expect(await statusOf({}, 'another-token')).toBe(401)
  })

  it('takes neither for a tenant with a token of its own', async () => {
    await withOwnAccount({ account_sid: `AC${'1'.repeat(32)}`, auth_token: ACCOUNT.token })
    expect(await statusOf({}, SECOND_TOKEN)).toBe(401)
  })
})
