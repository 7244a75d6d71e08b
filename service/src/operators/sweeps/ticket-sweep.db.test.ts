import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../../test/harness/admin-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import { makeTicketSystems } from '../../platform/ticketing/registry.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import { claim, complete, reopen, snooze } from '../callback-task-moves.ts'
import { makeDoNotCall } from '../do-not-call.ts'
import { ACME, sweepBench } from './sweeps.fixture.ts'
import { beginCheck, listTicketedTasks } from './ticket-store.ts'
import { sweepTickets, type TicketSweepResult } from './ticket-sweep.ts'

type Answer = { ok: boolean; result: TicketSweepResult; code: string }

const PATH = '/operator-queues/external-reconciliation/sweep'
const EMIT = '?emit_webhooks=true'
const GLOBEX = 'globex' as TenantId

const test = useDatabase()
let clock = new TestClock()
/** What the ticket system says of each ticket; what it does not have is a 404. */
let tickets: Record<string, unknown> = {}
let asked: string[] = []
let answer: (request: IncomingMessage) => { status: number; body: string } | null
let system: Server
let baseUrl = ''
let driver: 'generic' | 'zendesk' = 'generic'

const { desk, known, create, read, told, newestChange, routes } = sweepBench(test, () => clock)
const tenants = {
  get: async (id: TenantId) => ({
    ...tenantTold(id),
    ticketing: { driver, base_url: `${baseUrl}/of-${id}`, token: 'secret-token' },
  }),
}
const systems = makeTicketSystems(makeOutbound({ clock: systemClock, allowPrivate: true }))
const needs = (db = test.db) => ({ ...known(db), tenants, systems })
const admin = useAdminServer(() => [routes({ tickets: (ask) => sweepTickets(needs(), ask) })])

beforeAll(async () => {
  system = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`)
    const said = answer(request)
    if (!said) return
    response.writeHead(said.status, { 'content-type': 'application/json' }).end(said.body)
  })
  await new Promise<void>((resolve) => system.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(system.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => system.close(resolve)))

beforeEach(async () => {
  clock = new TestClock()
  driver = 'generic'
  asked = []
  tickets = {}
  answer = ({ url = '' }) => {
    const ticket = tickets[url.split('/').at(-1) ?? '']
    return ticket === undefined ? { status: 404, body: '{}' } : { status: 200, body: JSON.stringify(ticket) }
  }
  for (const id of [ACME, GLOBEX]) await makeTenantWithToken(test.db, id)
  await name(ACME)
})

/** The stored document names a ticket system. */
async function name(tenant: TenantId): Promise<void> {
  const document = JSON.stringify({ tenant_id: tenant, ticketing: { driver: 'generic', base_url: baseUrl } })
  await test.db.updateTable('tenants').set({ document }).where('tenant_id', '=', tenant).execute()
}

async function sweep(query = EMIT): Promise<TicketSweepResult> {
  const { status, body } = await admin.call<Answer>('POST', `${PATH}${query}`)
  expect(status).toBe(200)
  return body.result
}

const ticketed = (id: string | number, tenant = ACME) => create({ metadata: { external_ticket: { id } } }, tenant)
const says = (id: string, status: string) => {
  tickets[id] = { id, status, url: `https://tickets.example.com/${id}`, updated_at: '2030-01-01T00:00:00Z' }
}

describe('POST operator-queues/external-reconciliation/sweep', () => {
  it('completes a task whose ticket was closed', async () => {
    const { id } = await ticketed('T-1')
    says('T-1', 'closed')
    await clock.advance(1)
    expect(await sweep()).toEqual({
      ...{ attempted_tenants: 1, evaluated_tenants: 1, failures: [], candidate_tasks: 1, reconciled_tasks: 1 },
      ...{ unchanged_tasks: 0, webhooks_enqueued: 1 },
      items: [
        {
          ...{ tenant_id: 'acme', task_id: id, queue_key: 'default', outcome: 'reconciled' },
          ...{ ticket_id: 'T-1', ticket_status: 'closed' },
        },
      ],
    })
    expect(asked).toEqual(['Bearer secret-token /of-acme/tickets/T-1'])
    expect(await read(id)).toMatchObject({ status: 'completed', disposition: 'resolved' })
    expect(await told('callback.task.reconciled')).toMatchObject([
      { body: { payload: { task: { id, status: 'completed' } } } },
    ])
    expect(await newestChange(id)).toMatchObject({ action: 'reconcile', details: { ticket_id: 'T-1' } })
  })

  it('does not ask for a task that was erased since it was found', async () => {
    const { id } = await ticketed('T-1')
    const now = new Date(clock.now())
    const page = { limit: 1, except: [], now, checkedBefore: now, completedAfter: now }
    const [found] = await listTicketedTasks(test.db, ACME, page)
    await test.db.deleteFrom('callback_tasks').where('id', '=', id).execute()
    expect(found && (await beginCheck(test.db, ACME, found, { now, until: now }))).toBe(false)
  })

  it('leaves a task alone whose ticket is open, and asks for no task without one', async () => {
    await create()
    await create({ metadata: { external_ticket: { id: null } } })
    const { id } = await ticketed(7)
    says('7', 'pending')
    expect(await sweep()).toMatchObject({
      ...{ candidate_tasks: 1, unchanged_tasks: 1, reconciled_tasks: 0 },
      items: [{ task_id: id, outcome: 'unchanged', ticket_id: '7', ticket_status: 'open' }],
    })
    expect(asked).toHaveLength(1)
  })

  it('tells of a ticket that there is not', async () => {
    const { id } = await ticketed('gone')
    expect(await sweep()).toMatchObject({
      ...{ candidate_tasks: 1, unchanged_tasks: 0, reconciled_tasks: 0, failures: [] },
      items: [{ task_id: id, outcome: 'ticket_missing', ticket_id: 'gone' }],
    })
    expect(await read(id)).toMatchObject({ status: 'open' })
  })

  it('follows a ticket from open, claimed and snoozed, and not during a dispatch', async () => {
    const [snoozed, dispatching] = [await ticketed('a'), await ticketed('b')]
    for (const id of ['a', 'b']) says(id, 'closed')
    await desk().move(ACME, snoozed.id, () => snooze(new Date(clock.now() + 60_000), null, null))
    await test.db
      .updateTable('callback_tasks')
      .set({ status: 'dispatching' })
      .where('id', '=', dispatching.id)
      .execute()
    expect((await sweep()).items).toMatchObject([{ task_id: snoozed.id, outcome: 'reconciled' }])
    expect(await read(snoozed.id)).toMatchObject({ status: 'completed', snoozed_until: null })
  })

  it('opens again what it completed itself, and nothing else', async () => {
    const [ours, theirs] = [await ticketed('a'), await ticketed('b')]
    says('a', 'closed')
    says('b', 'open')
    await desk().move(ACME, theirs.id, (now) => complete({ disposition: 'reached', notes: null, operator: 'x' }, now))
    expect(await sweep()).toMatchObject({ reconciled_tasks: 1 })
    says('a', 'open')
    await clock.advance(3_600_000)
    expect(await sweep()).toMatchObject({
      ...{ reconciled_tasks: 1, webhooks_enqueued: 1 },
      items: [{ task_id: ours.id, outcome: 'reopened', ticket_status: 'open' }],
    })
    const promise = new Date(clock.now() + 30 * 60_000)
    expect(await read(ours.id)).toMatchObject({
      status: 'open',
      disposition: null,
      completed_at: null,
      sla_due_at: promise,
    })
    says('a', 'closed')
    await clock.advance(1_000)
    expect(await sweep()).toMatchObject({ items: [{ outcome: 'reconciled' }] })
    await desk().move(ACME, ours.id, () => reopen({ operator: 'x', note: null }))
    await clock.advance(1_000)
    await desk().move(ACME, ours.id, (now) => complete({ disposition: 'reached', notes: null, operator: 'x' }, now))
    says('a', 'open')
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('opens nothing again of a number that was listed as not to be called while somebody was at it', async () => {
    const { id, customer_phone: phone } = await ticketed('a')
    await desk().move(ACME, id, (now) => claim('x', now))
    await makeDoNotCall(known(test.db)).add(ACME, { phone, reason: null, source: null })
    says('a', 'closed')
    expect(await sweep()).toMatchObject({ items: [{ outcome: 'reconciled' }] })
    says('a', 'open')
    await clock.advance(1_000)
    expect(await sweep()).toMatchObject({ items: [{ outcome: 'unchanged' }] })
    expect(await read(id)).toMatchObject({ status: 'completed' })
  })

  it('reads the tickets of Zendesk', async () => {
    driver = 'zendesk'
    for (const status of ['new', 'hold', 'solved', 'closed']) {
      await ticketed(status)
      tickets[`${status}.json`] = { ticket: { id: 1, status } }
    }
    const { items } = await sweep()
    expect(items.map(({ ticket_id, outcome }) => [ticket_id, outcome]).toSorted()).toEqual([
      ['closed', 'reconciled'],
      ['hold', 'unchanged'],
      ['new', 'unchanged'],
      ['solved', 'reconciled'],
    ])
    expect(asked).toContain('Bearer secret-token /of-acme/api/v2/tickets/hold.json')
  })

  it('tells what fails, and asks a system that does not answer no further', async () => {
    await ticketed('a')
    await ticketed('b')
    await name(GLOBEX)
    const other = await ticketed('c', GLOBEX)
    says('c', 'closed')
    const works = answer
    answer = (request) => (request.url?.includes('acme') ? { status: 503, body: '' } : works(request))
    const result = await sweep()
    expect(result).toMatchObject({
      failures: [{ tenant_id: 'acme', error: 'The ticket system answered 503.' }],
      items: [{ task_id: other.id, outcome: 'reconciled' }],
    })
    expect(asked.filter((line) => line.includes('acme'))).toHaveLength(1)
    for (const [said, error] of [
      [{ status: 401, body: '' }, 'The ticket system answered 401: mend ticketing.token.'],
      [{ status: 200, body: '{"status":"lost"}' }, 'The ticket system told a status that is not known.'],
      [{ status: 200, body: 'nonsense' }, 'The answer of the ticket system is no JSON.'],
      [{ status: 302, body: '' }, 'The ticket system answered 302.'],
    ] as const) {
      answer = () => said
      expect((await sweep()).failures).toContainEqual(expect.objectContaining({ tenant_id: 'acme', error }))
    }
  })

  it('holds up no tenant for the system of another', async () => {
    const waiting = Promise.withResolvers<void>()
    await ticketed('a')
    await name(GLOBEX)
    await ticketed('c', GLOBEX)
    says('c', 'closed')
    const works = answer
    answer = (request) => {
      if (!request.url?.includes('acme')) return works(request)
      waiting.resolve()
      return null
    }
    const swept = sweep()
    await waiting.promise
    await expect.poll(() => told('callback.task.reconciled')).toHaveLength(1)
    system.closeAllConnections()
    expect((await swept).failures).toMatchObject([{ tenant_id: 'acme' }])
  })

  it('asks once for each task, however many sweep at once', async () => {
    for (let count = 0; count < 10; count += 1) {
      await ticketed(`t${count}`)
      says(`t${count}`, 'closed')
    }
    const nodes = await Promise.all([test.anotherNode(), test.anotherNode()])
    const ask = { tenantId: null, limitRows: 100, emitWebhooks: true, minAgeMs: 60_000 }
    const results = await Promise.all(nodes.map(({ db }) => sweepTickets(needs(db), ask)))
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    expect(results.map(({ reconciled_tasks }) => reconciled_tasks).reduce((a, b) => a + b)).toBe(10)
    expect(await told('callback.task.reconciled')).toHaveLength(10)
  })

  it('leaves tickets alone about which was asked lately, when it is told to', async () => {
    await ticketed('a')
    says('a', 'open')
    const ask = { tenantId: null, limitRows: 100, emitWebhooks: true, minAgeMs: 60_000 }
    expect(await sweepTickets(needs(), ask)).toMatchObject({ unchanged_tasks: 1 })
    await clock.advance(59_999)
    expect(await sweepTickets(needs(), ask)).toMatchObject({ candidate_tasks: 0 })
    await clock.advance(1)
    expect(await sweepTickets(needs(), ask)).toMatchObject({ unchanged_tasks: 1 })
  })

  it('is for administrators, for one tenant if they want, and asked for as described', async () => {
    await ticketed('a')
    says('a', 'closed')
    expect(await sweep('?auth_token=bearer-token-of-globex')).toMatchObject({ items: [] })
    expect(await admin.call('POST', `${PATH}?auth_token=nobodys-token-here`)).toMatchObject({ status: 401 })
    expect(await admin.call('POST', `${PATH}?limit=10001`)).toMatchObject({ status: 400 })
    expect(await admin.call('POST', PATH, { adminKey: null })).toMatchObject({ status: 401 })
    expect(await sweep('?limit=1&auth_token=bearer-token-of-acme')).toMatchObject({
      ...{ reconciled_tasks: 1, webhooks_enqueued: 0 },
    })
  })
})
