import { describe, expect, it } from 'vitest'
import type { RestFault } from '../../simulator/src/carrier/faults.ts'
import { type Carriers, makeCarriers } from '../src/platform/telephony/registry.ts'
import { OTHER_NODE, someCall, tenantTold } from '../src/records/calls.fixture.ts'
import { makeSessions } from '../src/records/sessions.ts'
import { useDatabase } from './harness/database.ts'
import { type DialApp, NUMBER, useDialApp } from './harness/dial-app.ts'
import { until } from './harness/wait.ts'

const DAY_MS = 86_400_000

describe('a repeated request for a call', () => {
  const test = useDatabase()
  const app = useDialApp(test)

  it('is answered as the first one was, and says so', async () => {
    const first = await app.dial({}, { key: 'k' })
    const second = await app.dial({}, { key: 'k' })
    expect([second.status, second.body]).toEqual([200, first.body])
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(app.calls).toHaveLength(1)
  })

  it('is answered so whatever has changed meanwhile, on another node too', async () => {
    const { body } = await app.dial({}, { key: 'k' })
    const telephony = { account_sid: null, auth_token: null }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    const node = await app.another()
    const second = await app.dial({}, { key: 'k', node })
    expect([second.status, second.body]).toEqual([200, body])
  })

  it('places one call, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.dial({}, { key: 'k' })))
    const shown = answers.map(({ status, body }) => (status === 200 ? body['call_sid'] : body['code']))
    expect(new Set(shown)).toEqual(
      new Set([app.calls[0]?.sid, 'request_in_flight'].filter((x) => shown.includes(x ?? ''))),
    )
    expect(shown).toContain(app.calls[0]?.sid)
    expect(app.calls).toHaveLength(1)
  })

  it('is a conflict while the first one is on its way', async () => {
    Object.assign(app.simulator.carrier.faults.rest, { create: 'accept-then-hang' })
    const first = app.dial({}, { key: 'k' })
    await until(() => app.calls.length === 1, { what: 'the request to the carrier' })
    const { status, headers, body } = await app.dial({}, { key: 'k' })
    expect([status, headers.get('retry-after'), body['code']]).toEqual([409, '1', 'request_in_flight'])
    expect((await app.pass(() => settled(first), 'the time-out')).status).toBe(503)
  })

  it('is refused with another body, not with the same one in another order', async () => {
    await app.dial({ metadata: { a: 1, b: 2 } }, { key: 'k' })
    expect((await app.dial({ metadata: { b: 2, a: 1 } }, { key: 'k' })).status).toBe(200)
    expect(await app.dial({ metadata: { a: 2 } }, { key: 'k' })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    })
    expect(app.calls).toHaveLength(1)
  })

  it('places another call after a day', async () => {
    await app.dial({}, { key: 'k' })
    // A day of heartbeats would take long: the key is made older instead.
    const age = (ms: number) =>
      test.db
        .updateTable('idempotency_keys')
        .set({ created_at: new Date(app.clock.now() - ms) })
        .execute()
    await age(DAY_MS - 1)
    expect((await app.dial({}, { key: 'k' })).headers.get('idempotent-replayed')).toBe('true')
    await age(DAY_MS)
    expect((await app.dial({}, { key: 'k' })).headers.get('idempotent-replayed')).toBeNull()
    expect(app.calls).toHaveLength(2)
  })

  it('of another tenant is another one', async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    await app.dial({}, { key: 'k' })
    const other = await app.dial({ from: '+12025550141' }, { key: 'k', tenant: 'other' })
    expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, null])
  })

  it('may be mended after a 400: nothing was done for it', async () => {
    expect((await app.dial({ agent_key: 'nobody' }, { key: 'k' })).status).toBe(400)
    expect((await app.dial({}, { key: 'k' })).status).toBe(200)
  })
})

type Expected = {
  status: number
  code: string
  retryAfter: string | null
  /** How often the carrier was asked, and how many calls it has taken. */
  asked: number
  calls: number
  log: Record<string, unknown>
}
const UNKNOWN = { status: 'queued', call_sid: null, error_code: 'submission_unknown', ended_at: null }
/** Nothing was placed, and another time the same request may be. */
const MENDED_BY_TIME: RestFault[] = ['rate-limited', 'unauthorized']
const failed = (error_code: string) => ({ status: 'failed', call_sid: null, error_code, ended_at: expect.any(String) })

describe('a carrier that does not take a call', () => {
  const test = useDatabase()
  const app = useDialApp(test)
  const rest = () => app.simulator.carrier.faults.rest

  it.each<[string, RestFault, Expected]>([
    [
      'F15: it has too much to do',
      'rate-limited',
      { status: 503, code: 'carrier_busy', retryAfter: '30', asked: 3, calls: 0, log: failed('carrier_busy') },
    ],
    [
      'F16: it is in trouble',
      'internal-error',
      { status: 503, code: 'submission_unknown', retryAfter: '120', asked: 1, calls: 0, log: UNKNOWN },
    ],
    [
      'F17: the answer is cut off',
      'accept-then-reset',
      { status: 503, code: 'submission_unknown', retryAfter: '120', asked: 1, calls: 1, log: UNKNOWN },
    ],
    [
      'F18: no answer comes',
      'accept-then-hang',
      { status: 503, code: 'submission_unknown', retryAfter: '120', asked: 1, calls: 1, log: UNKNOWN },
    ],
    [
      'F19: it does not know the account',
      'unauthorized',
      {
        status: 503,
        code: 'carrier_credentials',
        retryAfter: null,
        asked: 1,
        calls: 0,
        log: failed('carrier_credentials'),
      },
    ],
    [
      'F20: it knows no such number',
      'invalid-number',
      { status: 400, code: 'carrier_rejected', retryAfter: null, asked: 1, calls: 0, log: failed('carrier_rejected') },
    ],
  ])('%s, which is told apart', async (_what, create, expected) => {
    const answers = [await refused(create)]
    if (!MENDED_BY_TIME.includes(create)) answers.push(await app.dial({}, { key: 'k' }))
    for (const { status, headers, body } of answers) {
      expect([status, body['code'], headers.get('retry-after')]).toEqual([
        expected.status,
        expected.code,
        expected.retryAfter,
      ])
    }
    const isReplay = answers.map(({ headers }) => headers.get('idempotent-replayed'))
    expect(isReplay).toEqual([null, 'true'].slice(0, answers.length))
    expect([app.asked, app.calls.length]).toEqual([expected.asked, expected.calls])
    expect(await app.newestLog()).toMatchObject(expected.log)
  })

  it.each(MENDED_BY_TIME)('because of %s is asked anew by the same key, with another body too', async (create) => {
    const before = await refused(create)
    expect(before.status).toBe(503)
    expect((await refused(create)).headers.get('idempotent-replayed')).toBeNull()
    const placed = await app.dial({ metadata: { order: 2 } }, { key: 'k' })
    expect([placed.status, placed.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect((await app.dial({ metadata: { order: 2 } }, { key: 'k' })).body).toEqual(placed.body)
    expect(app.calls).toHaveLength(1)
    const logs = await test.db.selectFrom('call_logs').select('status').execute()
    expect(logs.map(({ status }) => status).sort()).toEqual(['failed', 'failed', 'queued'])
  })

  /** The answer to a request by the key `k`, while the carrier does so. */
  async function refused(create: RestFault) {
    Object.assign(rest(), { create, strikes: Number.POSITIVE_INFINITY })
    const answer = await answered(app, create, () => app.dial({}, { key: 'k' }))
    Object.assign(rest(), { create: 'normal' })
    return answer
  }

  it.each([
    ['F22: its name is not known', 'https://carrier.invalid'],
    // Nobody listens there, and it is none of the ports that `fetch` refuses to ask.
    ['nothing listens at its address', 'http://127.0.0.1:2'],
  ])('%s, so nothing was placed, and the same key may be sent again', async (_what, TELEPHONY_API_BASE_URL) => {
    const node = await app.another({ settings: { TELEPHONY_API_BASE_URL } })
    const { status, body, headers } = await app.dial({}, { key: 'k', node })
    expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'carrier_unreachable', '30'])
    expect(await app.newestLog()).toMatchObject(failed('carrier_unreachable'))
    const placed = await app.dial({}, { key: 'k' })
    expect([placed.status, placed.headers.get('idempotent-replayed'), app.calls.length]).toEqual([200, null, 1])
  })

  it('F23: its certificate cannot be had', async () => {
    // It is not known then what it did. The carrier of these tests speaks no TLS.
    const TELEPHONY_API_BASE_URL = app.simulator.carrier.baseUrl.replace('http:', 'https:')
    const node = await app.another({ settings: { TELEPHONY_API_BASE_URL } })
    const { status, body, headers } = await app.dial({}, { node })
    expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'submission_unknown', '120'])
    expect(await app.newestLog()).toMatchObject(UNKNOWN)
    expect(app.calls).toEqual([])
  })

  it('tells the reason of its refusal', async () => {
    const { body } = await app.dial({ to: '+15005550003' })
    const error = expect.stringMatching(/may not call.*21215/)
    expect(body).toMatchObject({ code: 'carrier_rejected', error, details: [{ path: '', message: error }] })
  })

  it('is asked again when it only was too busy', async () => {
    Object.assign(rest(), { create: 'rate-limited', strikes: 2 })
    expect((await answered(app, 'rate-limited', () => app.dial())).status).toBe(200)
    expect(app.calls).toHaveLength(1)
  })
})

describe('a call of which it is not known whether the carrier took it', () => {
  const test = useDatabase()
  const app = useDialApp(test, { document: { compliance: { calling_hours: { start: '00:00', end: '24:00' } } } })
  const rest = () => app.simulator.carrier.faults.rest

  async function inDoubt(create: RestFault, body: object = {}): Promise<void> {
    Object.assign(rest(), { create })
    expect((await app.dial({ ...body }, { key: 'k' })).body).toMatchObject({ code: 'submission_unknown' })
    Object.assign(rest(), { create: 'normal' })
  }

  async function newTask(): Promise<string> {
    const wanted = { customer_phone: app.callee }
    const { body } = await app.served.call<{ task: { id: string } }>('acme', 'POST', '/callback-tasks', wanted)
    return body.task.id
  }

  /** The task is dispatched from the number of the outbound default. */
  async function dispatchedInDoubt(create: RestFault = 'internal-error'): Promise<void> {
    const path = '/tenants/acme/phone-routes'
    const { phone_routes: routes } = await app.served.administer<{ phone_routes: { id: string }[] }>('GET', path)
    const route = { phone_number: NUMBER, agent_key: 'desk', outbound_default: true }
    await app.served.administer('PUT', `${path}/${routes[0]?.id}`, route)
    Object.assign(rest(), { create })
    await app.served.call('acme', 'POST', `/callback-tasks/${await newTask()}/dispatch`, {})
    Object.assign(rest(), { create: 'normal' })
  }

  const stateOfLog = async () => {
    const { call_sid, status, error_code } = await app.newestLog()
    return { call_sid, status, error_code }
  }

  it('is found at the carrier within half a minute, and what the request asked for is known', async () => {
    await inDoubt('accept-then-reset')
    await app.clock.advance(25_000)
    expect(await stateOfLog()).toMatchObject({ call_sid: null })
    await app.pass(async () => (await stateOfLog()).call_sid !== null, 'the call to be found')
    const [call] = app.calls
    expect(await app.newestLog()).toMatchObject({ call_sid: call?.sid, error_code: null, error_message: null })
    const { status, body } = await app.dial({}, { key: 'k' })
    expect([status, body]).toEqual([
      200,
      { ok: true, call_sid: call?.sid, status: expect.stringMatching(/queued|ringing/), to: app.callee, from: NUMBER },
    ])
    expect(app.calls).toHaveLength(1)
  })

  it('that would be placed again stays so while the carrier cannot be asked, for an hour at most', async () => {
    await dispatchedInDoubt()
    expect(await stateOfLog()).toMatchObject({ status: 'queued', error_code: 'submission_unknown' })
    Object.assign(rest(), { fetch: 'internal-error' })
    const laterMs = app.clock.now() + 180_000
    await app.pass(() => app.clock.now() >= laterMs, 'three minutes to pass', 1_000)
    expect(await stateOfLog()).toMatchObject({ status: 'queued', error_code: 'submission_unknown' })
    Object.assign(rest(), { fetch: 'normal' })
    await app.pass(async () => (await stateOfLog()).status === 'failed', 'the call to be given up', 1_000)
  })

  it('that would be placed again stays so while the carrier has calls of which one may be it', async () => {
    await dispatchedInDoubt('accept-then-reset')
    await app.clock.advance(1)
    await inDoubt('accept-then-reset')
    expect(app.calls).toHaveLength(2)
    const laterMs = app.clock.now() + 180_000
    await app.pass(() => app.clock.now() >= laterMs, 'three minutes to pass', 1_000)
    const dispatched = test.db.selectFrom('call_logs').where('callback_task_id', 'is not', null)
    expect(await dispatched.select(['call_sid', 'status', 'error_code']).execute()).toEqual([
      { call_sid: null, status: 'queued', error_code: 'submission_unknown' },
    ])
  })

  it('that names a task, and is not its dispatch, failed within two minutes like any other', async () => {
    await inDoubt('internal-error', { callback_task_id: await newTask() })
    Object.assign(rest(), { fetch: 'internal-error' })
    const laterMs = app.clock.now() + 120_000
    await app.pass(() => app.clock.now() >= laterMs, 'two minutes to pass', 1_000)
    expect(await stateOfLog()).toEqual({ call_sid: null, status: 'failed', error_code: 'not_confirmed' })
  })

  it.each<[string, RestFault]>([
    ['does not have it', 'normal'],
    ['cannot be asked', 'internal-error'],
  ])('failed when the carrier %s within two minutes, and is not placed again by its key', async (_what, fetch) => {
    await inDoubt('internal-error')
    Object.assign(rest(), { fetch })
    await app.clock.advance(105_000)
    expect(await stateOfLog()).toMatchObject({ status: 'queued' })
    await app.pass(async () => (await stateOfLog()).status === 'failed', 'the call to be given up', 1_000)
    expect(await stateOfLog()).toEqual({ call_sid: null, status: 'failed', error_code: 'not_confirmed' })
    const { status, body } = await app.dial({}, { key: 'k' })
    expect([status, body]).toMatchObject([200, { call_sid: null, status: 'failed' }])
  })

  it('is no other call to the same number', async () => {
    await app.dial()
    await app.clock.advance(1)
    await inDoubt('internal-error')
    await app.pass(async () => (await stateOfLog()).status === 'failed', 'the call to be given up', 1_000)
    const logs = await test.db.selectFrom('call_logs').select('call_sid').execute()
    expect(logs.filter(({ call_sid }) => call_sid !== null)).toHaveLength(1)
  })

  it('is not guessed while another one may have made the call: the carrier says which is which', async () => {
    await inDoubt('accept-then-reset')
    await app.clock.advance(1)
    Object.assign(rest(), { create: 'internal-error' })
    await app.dial()
    Object.assign(rest(), { create: 'normal' })
    const laterMs = app.clock.now() + 90_000
    await app.pass(() => app.clock.now() >= laterMs, 'looks to pass', 1_000)
    const logs = () => test.db.selectFrom('call_logs').select('call_sid').orderBy('created_at').execute()
    expect(await logs()).toMatchObject([{ call_sid: null }, { call_sid: null }])
    const [call] = app.calls
    if (!call) throw new Error('the carrier did not take the call')
    call.faults.callbacks.delivery = 'normal'
    call.hangUp()
    await until(async () => (await logs())[0]?.call_sid === call.sid, { what: 'the callback of the first one' })
    expect((await logs())[1]).toMatchObject({ call_sid: null })
  })

  it('is not guessed among several calls', async () => {
    for (let times = 0; times < 2; times += 1) {
      await inDoubt('accept-then-reset')
      await test.db.deleteFrom('idempotency_keys').execute()
    }
    const laterMs = app.clock.now() + 90_000
    await app.pass(() => app.clock.now() >= laterMs, 'looks to pass', 1_000)
    const logs = await test.db.selectFrom('call_logs').select('call_sid').execute()
    expect([logs, app.calls.length]).toEqual([[{ call_sid: null }, { call_sid: null }], 2])
  })

  it('whose id was taken for that of another call is told as in doubt while the phone rings', async () => {
    await app.served.administer('PUT', '/tenants/other', { tenant_id: 'other' })
    const { twilio } = makeCarriers({ apiBaseUrl: app.simulator.carrier.baseUrl })
    const createCall: typeof twilio.createCall = async (...args) => {
      const callSid = await twilio.createCall(...args)
      const sessions = makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE })
      await sessions.open(tenantTold('other'), someCall(callSid))
      return callSid
    }
    const node = await app.another({ carriers: { twilio: { ...twilio, createCall } } })
    const answer = await app.dial({}, { key: 'k', node })
    expect([answer.status, answer.body['code'], app.calls.length]).toEqual([503, 'submission_unknown', 1])
  })

  it('is found by another node when its own was lost between the request and its commit', async () => {
    const node = await app.another({ database: app.gate.of(test.database), carriers: lossy() })
    const lost = await app.dial({}, { key: 'k', node })
    expect(lost).toMatchObject({ status: 503, body: { code: 'submission_unknown' } })
    expect(app.calls).toHaveLength(1)
    const [left] = await test.db.selectFrom('dials').select(['state', 'call_sid']).execute()
    expect(left).toEqual({ state: 'dialing', call_sid: null })

    app.gate.isAway = false
    expect((await app.dial({}, { key: 'k' })).body).toMatchObject({ code: 'request_in_flight' })
    await app.pass(async () => (await stateOfLog()).call_sid === app.calls[0]?.sid, 'the call to be found')
    expect(await app.dial({}, { key: 'k' })).toMatchObject({ status: 200, body: { call_sid: app.calls[0]?.sid } })
    expect(app.calls).toHaveLength(1)
  })

  /** A carrier after whose answer the database is away. */
  function lossy(): Carriers {
    const { twilio } = makeCarriers({ apiBaseUrl: app.simulator.carrier.baseUrl })
    const createCall: typeof twilio.createCall = async (...args) => {
      const sid = await twilio.createCall(...args)
      app.gate.isAway = true
      return sid
    }
    return { twilio: { ...twilio, createCall } }
  }
})

describe('a call in doubt whose carrier tells of it', () => {
  const test = useDatabase()
  const app = useDialApp(test, { callbacks: 'normal' })

  it('is known from then on', async () => {
    Object.assign(app.simulator.carrier.faults.rest, { create: 'accept-then-reset' })
    await app.dial({}, { key: 'k' })
    const log = await until(
      async () => {
        const found = await app.newestLog()
        return found['call_sid'] === null ? null : found
      },
      { what: 'the callback' },
    )
    expect(log).toMatchObject({ call_sid: app.calls[0]?.sid, error_code: null })
    const answer = await app.dial({}, { key: 'k' })
    expect(answer).toMatchObject({ status: 200, body: { call_sid: app.calls[0]?.sid } })
  })

  it('is known also when it was given up before', async () => {
    const { carrier } = app.simulator
    Object.assign(carrier.faults.rest, { create: 'accept-then-reset', listLagMs: 3_600_000 })
    carrier.faults.callbacks.delivery = 'never'
    await app.dial({}, { key: 'k' })
    await app.pass(async () => (await app.newestLog())['status'] === 'failed', 'the call to be given up', 1_000)
    const [call] = app.calls
    if (!call) throw new Error('the carrier did not take the call')
    call.faults.callbacks.delivery = 'normal'
    call.hangUp()
    const log = await until(
      async () => {
        const found = await app.newestLog()
        return found['status'] === 'canceled' ? found : null
      },
      { what: 'the late callback' },
    )
    expect(log).toMatchObject({ call_sid: call.sid, error_code: null })
  })
})

/** Every change runs some; the full run proves the figure that the documentation gives. */
const REQUESTS = process.env['PARLEY_TEST_FULL'] ? 300 : 30
const FAULTS: RestFault[] = [
  ...(['normal', 'rate-limited', 'internal-error', 'accept-then-reset'] as const),
  ...(['accept-then-hang', 'unauthorized', 'invalid-number'] as const),
]
const DOCUMENTED = [
  ...['200 undefined', '400 carrier_rejected', '409 request_in_flight', '503 carrier_busy'],
  // Of several at once one may still be at the database when the time of all is moved: nothing was dialled then.
  ...['503 carrier_credentials', '503 submission_unknown', '503 unavailable'],
]

describe(`${REQUESTS} requests to a carrier with every fault`, { timeout: 600_000 }, () => {
  const test = useDatabase()
  const app = useDialApp(test)

  it('place one call at most for each key, and each answer is one that is documented', async () => {
    const { rest } = app.simulator.carrier.faults
    const seen = new Set<string>()
    const numberOf = (i: number) => `+1202556${String(1_000 + i)}`
    const ask = async (i: number) => {
      const { status, body } = await app.dial({ to: numberOf(i) }, { key: `key-${i}` })
      seen.add(`${status} ${body['code']}`)
      return { status, callSid: body['call_sid'] }
    }
    for (let i = 0; i < REQUESTS; i += FAULTS.length) {
      for (const [at, create] of FAULTS.entries()) {
        Object.assign(rest, { create, strikes: Number.POSITIVE_INFINITY })
        // Three at once by one key, of which one goes on.
        await answered(app, create, () => Promise.all([ask(i + at), ask(i + at), ask(i + at)]))
      }
      Object.assign(rest, { create: 'normal' })
      await Promise.all(FAULTS.map((_, at) => ask(i + at)))
    }
    expect([...seen].filter((answer) => !DOCUMENTED.includes(answer))).toEqual([])
    const counts = Map.groupBy(app.calls, ({ to }) => to)
    expect([...counts.values()].filter(({ length }) => length > 1)).toEqual([])
    await app.pass(async () => (await openDials()).length === 0, 'all calls to be settled', 1_000)
    const asked = Math.ceil(REQUESTS / FAULTS.length) * FAULTS.length
    const told: unknown[] = []
    for (let i = 0; i < asked; i += 1) told.push((await ask(i)).callSid)
    expect(app.calls.map(({ sid }) => sid).filter((sid) => !told.includes(sid))).toEqual([])
    expect(new Set([...seen].map((answer) => answer.split(' ')[0]))).toEqual(new Set(['200', '400', '409', '503']))
  })

  const openDials = () =>
    test.db.selectFrom('dials').select('state').where('state', 'in', ['dialing', 'unknown']).execute()
})

/** Without these nothing waits for time, and time that is moved while the database works would be too much for it. */
const TAKES_TIME: RestFault[] = ['rate-limited', 'accept-then-hang']

/** Waits for the answer to a request, and moves time only while the carrier, which does so, makes it wait. */
async function answered<T>(app: DialApp, create: RestFault, request: () => Promise<T>) {
  const before = app.asked
  const answer = request()
  if (!TAKES_TIME.includes(create)) return answer
  await until(() => app.asked > before, { what: 'the carrier to be asked' })
  return app.pass(() => settled(answer), 'the answer')
}

/** The value of a promise that has one by now; else null. */
async function settled<T>(promise: Promise<T>): Promise<T | null> {
  return Promise.race([promise, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
}
