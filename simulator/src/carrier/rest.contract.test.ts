import { describe, expect, it } from 'vitest'
import { connectStream } from './bridge.fixture.ts'
import { ACCOUNT, eventually, SILENT, startPair } from './carrier.fixture.ts'

const TO = '+14155550123'
const FROM = '+14155550199'
const HANG_UP = '<Response><Pause length="60"/></Response>'

async function startRest(options: Parameters<typeof startPair>[0] = {}) {
  const pair = await startPair({ callsPerSecond: 100, ...options, faults: { ...options.faults } })
  pair.carrier.subscribe(TO, { ...SILENT, ringMs: 200 })
  const create = (form: Record<string, string> = {}) =>
    pair.rest('/Calls.json', { To: TO, From: FROM, Twiml: HANG_UP, ...form })
  return { ...pair, create }
}

describe('the REST surface', () => {
  it('answers 201 with the call, queued, and carries it to its end', async () => {
    const { create, rest, carrier } = await startRest()
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body).toMatchObject({
      sid: expect.stringMatching(/^CA[0-9a-f]{32}$/),
      account_sid: ACCOUNT.accountSid,
      to: TO,
      from: FROM,
      status: 'queued',
      direction: 'outbound-api',
      duration: null,
      start_time: null,
      end_time: null,
      date_created: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/),
      uri: `/2010-04-01/Accounts/${ACCOUNT.accountSid}/Calls/${body.sid}.json`,
    })
    await eventually(() => carrier.calls[0]?.status === 'in-progress')
    expect((await rest(`/Calls/${body.sid}.json`)).body).toMatchObject({ status: 'in-progress', duration: null })
    expect(await rest(`/Calls/${body.sid}.json`, { Status: 'completed' })).toMatchObject({ status: 200 })
    const ended = await rest(`/Calls/${body.sid}.json`)
    expect(ended.body).toMatchObject({ status: 'completed', duration: expect.stringMatching(/^\d+$/) })
  })

  it('lets one call a second out, and says how long the others waited', async () => {
    const { create, carrier, clock } = await startRest({ callsPerSecond: 1 })
    const asked: { beforeMs: number; afterMs: number }[] = []
    for (let i = 0; i < 3; i++) {
      const beforeMs = clock.nowMs()
      await create()
      asked.push({ beforeMs, afterMs: clock.nowMs() })
    }
    await eventually(() => carrier.calls.every(({ status }) => status === 'in-progress'))
    // Counted from when the call began to exist, somewhere between the question and its answer.
    const rangMs = carrier.calls.map(
      ({ events }) => events.find((event) => event.kind === 'status' && event.status === 'ringing')?.atMs ?? 0,
    )
    const latestMs = (index: number) => (asked[index]?.afterMs ?? 0) + (rangMs[index] ?? 0)
    const earliestMs = (index: number) => (asked[index]?.beforeMs ?? 0) + (rangMs[index] ?? 0)
    // One that is told late on a busy machine is nearer to the next.
    expect(latestMs(1) - earliestMs(0)).toBeGreaterThan(500)
    expect(latestMs(2) - earliestMs(1)).toBeGreaterThan(500)
  })

  it.each<[number, number, Record<string, string>]>([
    [21201, 400, { To: '' }],
    [21213, 400, { From: '' }],
    [21211, 400, { To: '4155550123' }],
    [21212, 400, { From: 'agent' }],
    [21212, 400, { From: '+15005550001' }],
    [21217, 400, { To: '+15005550001' }],
    [21214, 400, { To: '+15005550002' }],
    [21215, 400, { To: '+15005550003' }],
    [21216, 400, { To: '+15005550004' }],
    [21205, 400, { Twiml: '' }],
    [21205, 400, { Url: 'ftp://nowhere/' }],
    [21234, 400, { MachineDetection: 'Always' }],
    [21234, 400, { MachineDetection: 'Enable', MachineDetectionTimeout: '60' }],
    [21218, 400, { SendDigits: 'x' }],
    [20001, 400, { Twiml: `<Response>${' '.repeat(4000)}</Response>` }],
    [20001, 400, { Timeout: '0' }],
  ])('refuses with %i and %i what is wrong in %j', async (code, status, form) => {
    const { create, carrier } = await startRest()
    const refusal = await create(form)
    expect(refusal).toEqual({
      status,
      body: { code, message: expect.any(String), more_info: `https://www.twilio.com/docs/errors/${code}`, status },
    })
    expect(carrier.calls).toEqual([])
  })

  it('refuses a caller’s number that the account does not own (21210)', async () => {
    const { create } = await startRest({ numbers: ['+14155550000'] })
    expect(await create()).toMatchObject({ status: 400, body: { code: 21210 } })
    expect(await create({ From: '+14155550000' })).toMatchObject({ status: 201 })
  })

  it('refuses wrong credentials (20003), another account and an unknown path (20404)', async () => {
    const { carrier, rest } = await startRest()
    const url = `${carrier.baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}/Calls.json`
    const basic = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } })
    for (const init of [{}, basic(`${ACCOUNT.accountSid}:wrong`), basic('nobody:'), basic('no colon')]) {
      const response = await fetch(url, init)
      expect([response.status, await response.json()]).toMatchObject([401, { code: 20003, status: 401 }])
    }
    const good = basic(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`)
    expect((await fetch(url.replace('0001/', '0002/'), good)).status).toBe(404)
    expect(await rest('/Nothing.json')).toMatchObject({ status: 404, body: { code: 20404 } })
    expect(await rest('/Calls/CA0.json')).toMatchObject({ status: 404, body: { code: 20404 } })
    expect(await rest('.json')).toMatchObject({ status: 200, body: { status: 'active' } })
  })

  it('takes an API key in place of the account', async () => {
    const { carrier } = await startRest({ apiKeys: { SK1: 'secret' } })
    const authorization = `Basic ${Buffer.from('SK1:secret').toString('base64')}`
    const url = `${carrier.baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}/Calls.json`
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200)
  })

  it('places no call for test credentials, and takes magic numbers alone', async () => {
    const test = { accountSid: 'AC00000000000000000000000000000009', authToken: 'a test secret' }
    const { carrier } = await startRest({ testCredentials: test })
    const create = async (From: string) => {
      const response = await fetch(`${carrier.baseUrl}/2010-04-01/Accounts/${test.accountSid}/Calls.json`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${test.accountSid}:${test.authToken}`).toString('base64')}` },
        body: new URLSearchParams({ To: TO, From, Twiml: HANG_UP }),
      })
      return { status: response.status, body: await response.json() }
    }
    expect(await create('+15005550006')).toMatchObject({ status: 201, body: { status: 'queued' } })
    expect(await create(FROM)).toMatchObject({ status: 400, body: { code: 21210 } })
    expect(carrier.calls).toEqual([])
  })

  it('ends, cancels and redirects; 20404 for a call that is over, 21220 for one in the wrong state', async () => {
    const { create, rest, carrier, bridge } = await startRest()
    carrier.subscribe(TO, { ...SILENT, ringMs: 60_000 })
    const ringing = `/Calls/${(await create()).body.sid}.json`
    await eventually(() => carrier.calls[0]?.status === 'ringing')
    const redirect = { Twiml: '<Response><Hangup/></Response>' }
    expect(await rest(ringing, redirect)).toMatchObject({ status: 400, body: { code: 21220 } })
    expect(await rest(ringing, { Status: 'canceled' })).toMatchObject({ status: 200, body: { status: 'canceled' } })
    expect(await rest(ringing, { Status: 'completed' })).toMatchObject({ status: 404, body: { code: 20404 } })
    expect(await rest(ringing, redirect)).toMatchObject({ status: 404, body: { code: 20404 } })

    carrier.subscribe(TO, { ...SILENT, ringMs: 20 })
    const live = `/Calls/${(await create({ Twiml: connectStream(bridge) })).body.sid}.json`
    await eventually(() => (bridge.streams[0]?.of('start').length ?? 0) > 0)
    expect(await rest(live, { Status: 'canceled' })).toMatchObject({ status: 400, body: { code: 21220 } })
    bridge.answer('/next', '<Response><Pause length="60"/></Response>')
    expect(await rest(live, { Url: `${bridge.url}/next` })).toMatchObject({ status: 200 })
    await eventually(() => bridge.formsOf('/next').length === 1 && bridge.streams[0]?.closeCode() === 1000)
    expect(bridge.streams[0]?.of('stop')).toHaveLength(1)
    expect(await rest(live, { Status: 'completed' })).toMatchObject({ status: 200, body: { status: 'completed' } })
  })

  it('ends a call at its TimeLimit, and at the one that an update gives it instead', async () => {
    // Three real seconds, in which a busy machine has made both calls and changed one.
    const { create, rest, carrier } = await startRest({ speed: 5 })
    const limit = (sid: string | undefined, form: Record<string, string>) => rest(`/Calls/${sid}.json`, form)
    const [kept, changed] = [await create({ TimeLimit: '15' }), await create({ TimeLimit: '15' })]
    await eventually(() => carrier.calls.length === 2 && carrier.calls.every(({ status }) => status === 'in-progress'))
    expect(await limit(changed.body.sid, { TimeLimit: 'soon' })).toMatchObject({ status: 400, body: { code: 20001 } })
    expect(await limit(changed.body.sid, { Twiml: HANG_UP, TimeLimit: '14400' })).toMatchObject({ status: 200 })
    const [first, second] = carrier.calls
    expect(await first?.ended).toEqual({ status: 'completed', by: 'time-limit' })
    expect(first?.sid).toBe(kept.body.sid)
    await second?.until(({ kind }) => kind === 'hang-up', 3_000)
    expect(second?.status).toBe('in-progress')
    // From the answer on: it has lasted for longer.
    expect(await limit(changed.body.sid, { TimeLimit: '2' })).toMatchObject({ status: 200 })
    expect(await second?.ended).toEqual({ status: 'completed', by: 'time-limit' })
  })

  it('lists calls, newest first, by filter and page, and seconds late', async () => {
    const { create, rest, clock } = await startRest({ faults: { rest: { listLagMs: 2000 } } })
    // Behind midnight it is another one.
    const day = clock.date().toISOString().slice(0, 10)
    const first = (await create()).body.sid
    const createdMs = clock.nowMs()
    expect((await rest('/Calls.json')).body.calls).toEqual([])
    await eventually(() => clock.nowMs() > createdMs + 2100)
    const second = (await create({ From: '+14155550198' })).body.sid
    const secondMs = clock.nowMs()
    await eventually(() => clock.nowMs() > secondMs + 2100)
    const sids = async (query: string) => (await rest(`/Calls.json?${query}`)).body.calls?.map(({ sid }) => sid)
    expect(await sids('')).toEqual([second, first])
    expect(await sids(`To=${encodeURIComponent(TO)}&From=${encodeURIComponent(FROM)}`)).toEqual([first])
    expect(await sids('Status=busy')).toEqual([])
    expect(await sids(`StartTime>=${day}`)).toEqual([second, first])
    expect(await sids('StartTime>=2999-01-01')).toEqual([])
    const page = (await rest('/Calls.json?PageSize=1')).body
    expect(page).toMatchObject({ page: 0, page_size: 1, next_page_uri: expect.stringContaining('Page=1') })
    expect(await sids('PageSize=1&Page=1')).toEqual([first])
  })

  it('sets the addresses of a number, and uses them when it is rung', async () => {
    const { rest, carrier, bridge } = await startRest({ numbers: [FROM, '+14155550198'] })
    const listed = await rest(`/IncomingPhoneNumbers.json?PhoneNumber=${encodeURIComponent(FROM)}`)
    const [number] = listed.body['incoming_phone_numbers'] as { sid: string; voice_url: string }[]
    expect(number).toMatchObject({ voice_url: '', phone_number: FROM })
    const path = `/IncomingPhoneNumbers/${number?.sid}.json`
    expect(await rest(path, { VoiceUrl: 'nonsense' })).toMatchObject({ status: 400, body: { code: 21402 } })
    const form = { VoiceUrl: `${bridge.url}/set`, VoiceMethod: 'POST', StatusCallback: `${bridge.url}/told` }
    expect(await rest(path, form)).toMatchObject({ status: 200, body: { voice_url: `${bridge.url}/set` } })
    expect((await rest(path)).body).toMatchObject({ voice_url: `${bridge.url}/set` })
    expect(await rest('/IncomingPhoneNumbers/PN0.json', form)).toMatchObject({ status: 404 })
    await carrier.ring({ from: '+14155550100', to: FROM, caller: SILENT }).settled
    expect(bridge.formsOf('/set')).toHaveLength(1)
    expect(bridge.formsOf('/told')).toHaveLength(1)
    expect(() => carrier.ring({ from: '+1', to: '+14155550198', caller: SILENT })).toThrow('nothing is set')
  })

  it('refuses by switch, as often as asked, without doing anything: 429, 500, 401, 400', async () => {
    const { create, carrier } = await startRest()
    for (const [fault, status, code] of [
      ['rate-limited', 429, 20429],
      ['internal-error', 500, 20500],
      ['unauthorized', 401, 20003],
      ['invalid-number', 400, 21211],
    ] as const) {
      Object.assign(carrier.faults.rest, { create: fault, strikes: 1 })
      expect(await create()).toMatchObject({ status, body: { code, status } })
    }
    expect(carrier.calls).toEqual([])
    expect((await create()).status).toBe(201)
  })

  it('accepts, and then resets the connection or hangs: the call exists', async () => {
    const { create, carrier, clock } = await startRest({ faults: { rest: { listLagMs: 0 } } })
    carrier.faults.rest.create = 'accept-then-reset'
    await expect(create()).rejects.toThrow('fetch failed')
    expect(carrier.calls).toHaveLength(1)
    Object.assign(carrier.faults.rest, { create: 'accept-then-hang', hangMs: 5000 })
    const beforeMs = clock.nowMs()
    expect((await create()).status).toBe(201)
    expect(clock.nowMs() - beforeMs).toBeGreaterThan(4900)
    expect(carrier.calls).toHaveLength(2)
  })

  it('answers an end with 20404 by switch, and does nothing', async () => {
    const { create, rest, carrier } = await startRest()
    const { sid } = (await create()).body
    await eventually(() => carrier.calls[0]?.status === 'in-progress')
    carrier.faults.rest.endedOnModify = true
    expect(await rest(`/Calls/${sid}.json`, { Status: 'completed' })).toMatchObject({ status: 404 })
    expect(carrier.calls[0]?.status).toBe('in-progress')
  })
})
