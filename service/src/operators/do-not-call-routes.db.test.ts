import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { TENANT_KEY } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { openServer } from '../platform/db/server.ts'
import { storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { cancelTasksLeft } from './cancel-tasks-of.ts'
import { makeDoNotCall } from './do-not-call.ts'
import { doNotCallRoutes } from './do-not-call-routes.ts'

type List = { entries: { phone: string }[]; count: number; next_cursor: string | null }

const ANN = '+12025550101'
const BEN = '+12025550102'
const CY = '+12025550103'

const test = useDatabase()
// Nobody listens there.
const unreachable = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
const clock = new TestClock()
const lines: unknown[] = []
const log = { warn: (...told: unknown[]) => void lines.push(told) }
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const server = useTenantServer(
  () => test.db,
  () => [doNotCallRoutes(makeDoNotCall({ db: test.db, clock, log, tenants }))],
)
const downServer = useTenantServer(
  () => test.db,
  () => [doNotCallRoutes(makeDoNotCall({ db: unreachable.db, clock, log, tenants }))],
)

afterAll(() => unreachable.close())
beforeEach(async () => {
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

function add(phone: string, facts: Record<string, unknown> = {}, tenant = 'acme') {
  return server.call(tenant, 'POST', '/dnc', { phone, ...facts })
}

async function listed(query = '', tenant = 'acme'): Promise<string[]> {
  const { status, body } = await server.call<List>(tenant, 'GET', `/dnc${query}`)
  expect(status).toBe(200)
  return body.entries.map(({ phone }) => phone)
}

function instant(): string {
  return new Date(clock.now()).toISOString()
}

it('tell in the log that tasks of a listed number may still wait, which nobody else is told', async () => {
  const unwanted = { phone: ANN as PhoneNumber, operator: null, listedAt: new Date(clock.now()) }
  await cancelTasksLeft({ db: unreachable.db, clock, log }, tenantTold('acme'), unwanted)
  const err = expect.objectContaining({ code: 'unavailable' })
  expect(lines).toEqual([[{ tenant_id: 'acme', err }, 'callback tasks of a listed number were not cancelled']])
})

describe('POST dnc', () => {
  it('lists a number and tells the tenant', async () => {
    const entry = { phone: ANN, reason: 'Asked in a letter.', source: 'letter', created_at: instant() }
    const answer = await add(ANN, { reason: 'Asked in a letter.', source: 'letter' })
    expect(answer).toEqual({ status: 200, body: { ok: true, entry } })
    expect(await storedEvents(test.db)).toEqual([
      {
        ...{ event: 'dnc.added', call_sid: null, sequence: null },
        body: {
          ...{ event: 'dnc.added', tenant_id: 'acme', call_sid: '', voice_session_id: '' },
          ...{ created_at: instant(), payload: { entry } },
        },
      },
    ])
  })

  it('takes a number alone', async () => {
    expect(await add(ANN)).toMatchObject({ status: 200, body: { entry: { reason: null, source: null } } })
  })

  it('keeps of a listed number since when it is, takes what is said anew, and tells nobody', async () => {
    const created_at = instant()
    await add(ANN, { reason: 'Asked.', source: 'letter' })
    await clock.advance(1_000)
    expect(await add(ANN, { reason: 'Asked again.' })).toMatchObject({
      status: 200,
      body: { entry: { phone: ANN, reason: 'Asked again.', source: 'letter', created_at } },
    })
    expect(await add(ANN)).toMatchObject({ status: 200, body: { entry: { reason: 'Asked again.', created_at } } })
    expect(await listed()).toEqual([ANN])
    expect(await storedEvents(test.db)).toHaveLength(1)
  })

  it('at the same time lists a number once and tells it once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => add(ANN)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await listed()).toEqual([ANN])
    expect(await storedEvents(test.db)).toHaveLength(1)
  })

  it.each([
    [{}, '/body/phone'],
    [{ phone: '12025550101' }, '/body/phone'],
    [{ phone: '+1202' }, '/body/phone'],
    [{ phone: ANN, reason: '' }, '/body/reason'],
    [{ phone: ANN, reason: 'x'.repeat(2_001) }, '/body/reason'],
    [{ phone: ANN, source: 7 }, '/body/source'],
    [{ phone: ANN, until: 'tomorrow' }, '/body/until'],
  ])('refuses %j and names %s', async (body, path) => {
    expect(await server.call('acme', 'POST', '/dnc', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path }] },
    })
  })
})

describe('GET dnc', () => {
  it("lists the tenant's own numbers, newest first, page by page", async () => {
    await add(CY, {}, 'globex')
    for (const phone of [ANN, BEN, CY]) {
      await add(phone)
      await clock.advance(1)
    }
    expect(await listed()).toEqual([CY, BEN, ANN])
    const { body } = await server.call<List>('acme', 'GET', '/dnc?limit=2')
    expect(body).toMatchObject({ count: 2, entries: [{ phone: CY }, { phone: BEN }] })
    expect(await listed(`?limit=2&cursor=${body.next_cursor}`)).toEqual([ANN])
    expect(await listed('?offset=1&limit=1')).toEqual([BEN])
    expect(await listed('?limit=0')).toEqual([])
    expect(await listed('', 'globex')).toEqual([CY])
  })

  it.each([
    ['?limit=501', '/query/limit'],
    ['?cursor=mine', '/query/cursor'],
    ['?phone=1', '/query/phone'],
  ])('refuses %s', async (query, path) => {
    expect(await server.call('acme', 'GET', `/dnc${query}`)).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    })
  })
})

describe('GET and DELETE dnc/:phone', () => {
  it.each([ANN, encodeURIComponent(ANN)])('read an entry by %s', async (phone) => {
    await add(ANN, { reason: 'Asked.' })
    const answer = await server.call('acme', 'GET', `/dnc/${phone}`)
    expect(answer).toMatchObject({ status: 200, body: { ok: true, entry: { phone: ANN, reason: 'Asked.' } } })
  })

  it('take a number off the list, and tell the tenant', async () => {
    await add(BEN)
    await add(ANN, { reason: 'Asked.' })
    const { body } = await server.call<{ entry: unknown }>('acme', 'GET', `/dnc/${ANN}`)
    expect(await server.call('acme', 'DELETE', `/dnc/${ANN}`)).toEqual({ status: 200, body })
    expect(await listed()).toEqual([BEN])
    expect(await server.call('acme', 'DELETE', `/dnc/${ANN}`)).toMatchObject({ status: 404 })
    const events = await storedEvents(test.db)
    expect(events.map(({ event }) => event).toSorted()).toEqual(['dnc.added', 'dnc.added', 'dnc.removed'])
    expect(events.find(({ event }) => event === 'dnc.removed')?.body).toMatchObject({
      ...{ call_sid: '', voice_session_id: '', payload: { entry: body.entry } },
    })
  })

  it.each(['GET', 'DELETE'] as const)("%s finds no number that is not listed, nor another tenant's", async (method) => {
    await add(ANN, {}, 'globex')
    for (const phone of [ANN, BEN, 'nobody']) {
      expect(await server.call('acme', method, `/dnc/${phone}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
    expect(await listed('', 'globex')).toEqual([ANN])
  })

  it.each(['GET', 'DELETE'] as const)(
    '%s does not say of a number that is written otherwise that it is not listed',
    async (method) => {
      await add(ANN)
      for (const written of [ANN.slice(1), `00${ANN.slice(1)}`]) {
        const { status, body } = await server.call<{ error: string }>('acme', method, `/dnc/${written}`)
        expect([status, body.error]).toEqual([
          404,
          'Nothing written like this can be on the do-not-call list: it must be a phone number in E.164, like +14155550100.',
        ])
      }
      expect(await listed()).toEqual([ANN])
    },
  )
})

describe('the do-not-call routes', () => {
  it.each([
    ['GET', '/dnc'],
    ['POST', '/dnc'],
    ['GET', `/dnc/${ANN}`],
    ['DELETE', `/dnc/${ANN}`],
  ] as const)('let nobody without a credential %s %s', async (method, path) => {
    const body = method === 'POST' ? { phone: ANN } : undefined
    expect(await server.call(null, method, path, body)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await server.call('nobody', method, path, body)).toMatchObject({ status: 401 })
  })

  it.each([
    ['GET', '/dnc'],
    ['POST', '/dnc'],
    ['GET', `/dnc/${ANN}`],
    ['DELETE', `/dnc/${ANN}`],
  ] as const)('say of %s %s that the database is down', async (method, path) => {
    const body = method === 'POST' ? { phone: ANN } : undefined
    expect(await downServer.call('acme', method, path, body)).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    })
  })

  it('know a tenant that is gone no more', async () => {
    const gone = makeDoNotCall({ db: test.db, clock, log, tenants: { get: async () => null } })
    await expect(gone.remove('acme' as TenantId, ANN, TENANT_KEY)).rejects.toMatchObject({ code: 'not_found' })
  })
})
