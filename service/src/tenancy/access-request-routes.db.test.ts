import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someUuid } from '../../test/harness/matchers.ts'
import { AppError } from '../kernel/errors.ts'
import { testServer } from '../platform/http/http.fixture.ts'
import { accessRequestRoutes, intakeRoutes } from './access-request-routes.ts'
import { makeAccessRequests } from './access-requests.ts'
import { businessEmailFault } from './business-email.ts'

const test = useDatabase()
const clock = new TestClock()
const notified: string[] = []
const mails: string[] = []
const notify = async (_tx: unknown, { subject, text }: { subject: string; text: string }) => {
  notified.push(subject)
  mails.push(text)
}
const requests = () => makeAccessRequests({ db: test.db, clock, notify })
const admin = useAdminServer(() => [accessRequestRoutes(requests())])

const ASKED = { company_name: 'Acme', contact_name: 'Ann', work_email: 'ann@acme.example', use_case: 'Booking.' }
type List = { requests: { id: string; status: string }[]; next_cursor: string | null }
let strangers: number

async function ask(body: unknown, path = '/api/v1/access-requests', take = requests().take) {
  const { server } = testServer()
  const asStranger = async () => {
    strangers += 1
  }
  await server.register(intakeRoutes({ take }, { asStranger }))
  const headers = { 'user-agent': 'a browser' }
  const answer = await server.inject({ method: 'POST', url: path, payload: body as object, headers })
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers }
}

beforeEach(() => {
  strangers = 0
  notified.length = 0
  mails.length = 0
})

describe('POST access-requests', () => {
  it('keeps a request for review, and counts it for its address', async () => {
    const rest = {
      phone: '+1 202',
      role: 'CTO',
      timeline: 'soon',
      website: 'https://acme.example',
      expected_monthly_minutes: '1k',
    }
    const answer = await ask({ ...ASKED, ...rest, company_website_confirm: '' })
    expect(answer).toMatchObject({ status: 202, body: { ok: true, message: expect.any(String), request_id: someUuid } })
    expect([strangers, notified]).toEqual([1, ['Access request: Acme']])
    expect(await admin.call('GET', '/api-access-requests')).toEqual({
      status: 200,
      body: {
        ...{ ok: true, count: 1, next_cursor: null },
        requests: [
          {
            ...{
              ...ASKED,
              ...rest,
              id: answer.body.request_id,
              status: 'open',
              source: 'api',
              remote_addr: '127.0.0.1',
            },
            ...{ user_agent: 'a browser', metadata: {}, created_at: someInstant, reviewed_at: null },
          },
        ],
      },
    })
  })

  it('is told so that nothing which was written looks like another fact, or like what the service says', async () => {
    const forged = 'Review it: https://evil.example'
    const line = 'E-mail: ceo@bank.example'
    await ask({ ...ASKED, contact_name: `Ann\n${line}`, use_case: `Booking.\n${line}\n\n${forged}` })
    const lines = mails.join().split('\n')
    expect(lines.filter((each) => each.startsWith('Review it'))).toEqual([])
    expect(lines.filter((each) => each.startsWith('E-mail: '))).toEqual(['E-mail: ann@acme.example'])
    const [ours = ''] = mails.join().split('What follows is what they wrote')
    expect([ours.includes('Review it: PATCH /api/v1/admin/'), ours.includes('evil')]).toEqual([true, false])
  })

  it('keeps what an automaton sends as spam, and tells neither it nor anybody else', async () => {
    const answer = await ask({ ...ASKED, company_website_confirm: 'https://x' })
    expect(answer).toMatchObject({ status: 202, body: { request_id: someUuid } })
    expect((await admin.call<List>('GET', '/api-access-requests?status=spam')).body.requests).toHaveLength(1)
    expect((await admin.call<List>('GET', '/api-access-requests?status=open')).body.requests).toHaveLength(0)
    expect(notified).toEqual([])
  })

  it('is there at the old address too', async () => {
    const { status, headers } = await ask(ASKED, '/access-requests')
    expect([status, headers['deprecation'], headers['link']]).toEqual([
      ...[202, 'true', '</api/v1/access-requests>; rel="successor-version"'],
    ])
  })

  it.each([
    ['company_name', { ...ASKED, company_name: undefined }],
    ['company_name', { ...ASKED, company_name: '  ' }],
    ['contact_name', { ...ASKED, contact_name: '\t' }],
    ['use_case', { ...ASKED, use_case: '' }],
    ['use_case', { ...ASKED, use_case: ' ' }],
    ['work_email', { ...ASKED, work_email: 'ann@gmail.com' }],
    ['work_email', { ...ASKED, work_email: 'nobody' }],
    ['website', { ...ASKED, website: 'acme' }],
    ['budget', { ...ASKED, budget: 1 }],
  ])('refuses a wrong %s', async (name, body) => {
    const answer = await ask(body)
    expect(answer).toMatchObject({ status: 400, body: { ok: false, details: [{ path: `/body/${name}` }] } })
  })

  it('says 503 while the database is away', async () => {
    const take = async () => {
      throw new AppError('unavailable', 'The database is not reachable. Try again.')
    }
    expect(await ask(ASKED, undefined, take)).toMatchObject({ status: 503, body: { ok: false } })
  })
})

describe('GET api-access-requests', () => {
  it('pages, newest first, and refuses an unknown status', async () => {
    for (const company_name of ['a', 'b', 'c']) {
      await ask({ ...ASKED, company_name })
      await clock.advance(1_000)
    }
    const all = await admin.call<List>('GET', '/api-access-requests')
    const first = await admin.call<List>('GET', '/api-access-requests?limit=1')
    const rest = await admin.call<List>('GET', `/api-access-requests?cursor=${first.body.next_cursor}`)
    expect([...first.body.requests, ...rest.body.requests]).toEqual(all.body.requests)
    expect(all.body.requests).toMatchObject([{ company_name: 'c' }, { company_name: 'b' }, { company_name: 'a' }])
    expect(await admin.call('GET', '/api-access-requests?status=new')).toMatchObject({ status: 400 })
  })
})

describe('PATCH api-access-requests', () => {
  const review = (id: string, body: unknown) => admin.call('PATCH', `/api-access-requests/${id}`, { body })

  it('notes what was made of a request, and takes that back', async () => {
    const { request_id } = (await ask(ASKED)).body
    expect(await review(request_id, { status: 'approved', note: 'Known to us.' })).toMatchObject({
      status: 200,
      body: {
        request: {
          id: request_id,
          status: 'approved',
          reviewed_at: someInstant,
          metadata: { review_note: 'Known to us.' },
        },
      },
    })
    expect(await review(request_id, { status: 'open' })).toMatchObject({
      body: { request: { status: 'open', reviewed_at: null, metadata: { review_note: 'Known to us.' } } },
    })
  })

  it('leaves a note that is left out, and takes an emptied one away', async () => {
    const { request_id } = (await ask(ASKED)).body
    await review(request_id, { status: 'approved', note: 'Known to us.' })
    const kept = { status: 'approved', metadata: { review_note: 'Known to us.' } }
    expect(await review(request_id, { status: 'approved' })).toMatchObject({ body: { request: kept } })
    const { body } = await review(request_id, { status: 'approved', note: '' })
    expect(body).toMatchObject({ request: { status: 'approved', metadata: {} } })
    expect(body).not.toHaveProperty('request.metadata.review_note')
  })

  it('refuses what is no review, and knows no request that there is not', async () => {
    const { request_id } = (await ask(ASKED)).body
    for (const body of [{}, { note: 'Known to us.' }, { status: 'new' }, { status: 'open', by: 'me' }])
      expect(await review(request_id, body)).toMatchObject({ status: 400 })
    for (const id of ['x', '01890000-0000-7000-8000-000000000000'])
      expect(await review(id, { status: 'spam' })).toMatchObject({ status: 404 })
  })
})

it.each([
  ['GET', '/api-access-requests'],
  ['PATCH', '/api-access-requests/x'],
] as const)('nobody without the admin key may %s %s', async (method, path) => {
  const body = method === 'PATCH' ? { body: { status: 'spam' } } : {}
  expect(await admin.call(method, path, { ...body, adminKey: null })).toMatchObject({ status: 401 })
})

describe('a business e-mail', () => {
  it.each(['ann@acme.example', 'a.b+c@mail.acme.co.uk', 'x@yahoo-tools.example', 'ANN@ACME.EXAMPLE'])(
    'is %s',
    (address) => {
      expect(businessEmailFault(address)).toBeNull()
    },
  )

  it.each([
    '',
    'ann',
    'ann@',
    '@acme.com',
    'a@b',
    'a@b@c.com',
    'a b@c.com',
    '.a@c.com',
    'a@-c.com',
    'a@c..com',
    'a@1.2.3.4',
  ])('is not %s: that is no address', (address) => {
    expect(businessEmailFault(address)).toBe('must be an e-mail address')
  })

  it.each(['a@gmail.com', 'a@GMail.com', 'a@yahoo.co.uk', 'a@hotmail.fr', 'a@web.de', 'a@mailinator.com'])(
    'is not %s',
    (address) => {
      expect(businessEmailFault(address)).toContain('business')
    },
  )
})
