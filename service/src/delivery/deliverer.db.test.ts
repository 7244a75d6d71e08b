import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { passing } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import type { Received } from '../../test/harness/webhook-target.ts'
import type { TenantId } from '../kernel/ids.ts'
import { DeliveryStage, ofCall } from './deliveries.fixture.ts'
import { makeDeliveries } from './deliveries.ts'
import { enqueue } from './enqueue.ts'

const test = useDatabase()
let stage: DeliveryStage

beforeEach(async () => {
  stage = new DeliveryStage(() => test.db)
  for (const id of ['acme', 'globex', 'initech']) await makeTenant(test.db, id)
})

function idOf({ headers }: Received): string {
  return String(headers['webhook-id'])
}

function sequenceOf({ headers }: Received): string {
  return String(headers['parley-sequence'])
}

/** It is looked each second for what is due, and what is found comes to its target before the next look. */
async function passLooks(count: number): Promise<void> {
  const untilMs = stage.clock.now() + count * 1_000
  await passing(stage.clock, () => stage.clock.now() >= untilMs, { what: 'some looks', stepMs: 1_000 })
}

function expectedSignature({ headers, body }: Received, key: Buffer): string {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

describe('an event', () => {
  it('is sent as soon as it is committed, signed, with its number, to the byte as it was written', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1'), ofCall('CA1', 2)])
    const [first, second] = await target.receive(2)
    const rows = await stage.all('delivered', ({ status }) => status === 'delivered')
    expect([first, second].map((each) => each && idOf(each))).toEqual(rows.map(({ id }) => id))
    expect([first, second].map((each) => each && sequenceOf(each))).toEqual(['1', '2'])
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-timestamp': String(stage.clock.now() / 1_000),
      'webhook-signature': first && expectedSignature(first, Buffer.alloc(24, 5)),
    })
    expect(Object.keys(JSON.parse(first?.body ?? ''))).toEqual([
      ...['event', 'tenant_id', 'call_sid', 'voice_session_id', 'created_at', 'payload'],
    ])
    expect(rows[0]).toMatchObject({ attempts: 1, last_status_code: 204, last_error: null, claim_token: null })
    expect(rows[0]?.attempt_log).toMatchObject([{ at: '2030-01-01T00:00:00.000Z', status_code: 204, error: null }])
  })

  it('is signed with both secrets while they are changed, and has no number without a call', async () => {
    const target = await stage.target()
    const previous = 'the secret before this one'
    stage.tell('acme', target.url, { secret_previous: previous })
    await stage.deliverer().start()
    await stage.happens('acme', [{ event: 'dnc.added', subject: null, payload: {} }])
    const [sent] = await target.receive(1)
    if (!sent) throw new Error('it was sent')
    const signatures = [Buffer.alloc(24, 5), Buffer.from(previous)].map((key) => expectedSignature(sent, key))
    expect(sent.headers['webhook-signature']).toBe(signatures.join(' '))
    expect(sent.headers['parley-sequence']).toBeUndefined()
  })

  it('of a transaction that is rolled back is never sent', async () => {
    const target = await stage.target()
    const acme = stage.tell('acme', target.url)
    await stage.deliverer().start()
    const undone = test.db.transaction().execute(async (tx) => {
      await enqueue(tx, acme, [ofCall('CA1')], new Date(stage.clock.now()))
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    await stage.happens('acme', [ofCall('CA2')])
    await stage.all('delivered', ({ status }) => status === 'delivered')
    expect(target.received.map(({ body }) => JSON.parse(body).call_sid)).toEqual(['CA2'])
  })

  it('that another process wrote down is found within a second', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1')])
    const deliverer = stage.deliverer()
    await deliverer.start()
    await target.receive(1)
    await stage.settled(1)
    await test.db.updateTable('webhook_outbox').set({ status: 'pending' }).execute()
    await stage.clock.advance(1_000)
    await target.receive(2)
  })

  it('that the database lets nobody claim waits, which is said once, and once that it goes on', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1')])
    await sql`create sequence claims`.execute(test.db)
    await sql`
      create function refuse() returns trigger language plpgsql as $$
      begin
        if nextval('claims') < 6 then raise exception 'read only' using errcode = '25006'; end if;
        return new;
      end $$`.execute(test.db)
    await sql`create trigger refuse before update on webhook_outbox for each row execute function refuse()`.execute(
      test.db,
    )
    await stage.deliverer().start()
    // Not until it is sent: ten steps are all the time that the target has.
    const isClaimed = async () => (await stage.rows())[0]?.attempts === 1
    await passing(stage.clock, isClaimed, { what: 'the claim', stepMs: 1_000 })
    await stage.all('delivered', ({ status }) => status === 'delivered')
    const said = () => stage.lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('deliveries'))
    // It may look for more behind the one that it has claimed.
    await until(() => said().length > 1, { what: 'it to go on' })
    expect(said()).toEqual(['deliveries wait for the database', 'deliveries go on'])
    await sql`drop function refuse cascade`.execute(test.db)
    await sql`drop sequence claims`.execute(test.db)
  })

  it('goes to the webhook that the tenant has when it is sent', async () => {
    const [old, next] = [await stage.target(), await stage.target()]
    stage.tell('acme', old.url)
    await stage.happens('acme', [ofCall('CA1')])
    stage.tell('acme', next.url)
    await stage.deliverer().start()
    await next.receive(1)
    expect(old.received).toEqual([])
  })

  it.each([
    ['has no webhook any more', null, {}],
    ['has its webhook disabled', 'http://127.0.0.1:9/', { disabled: true }],
  ])('of a tenant that %s is kept as failed', async (_what, url, webhook) => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await stage.happens('acme', [ofCall('CA1')])
    stage.tell('acme', url, webhook)
    await stage.deliverer().start()
    expect(await stage.settled(1)).toMatchObject({ status: 'failed', last_status_code: null })
  })
})

describe('a target at fault', () => {
  it('is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with the same id and body, then no more', async () => {
    const target = await stage.target()
    target.answer({ status: 500 })
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    const waitedSeconds: number[] = []
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const row = await stage.settled(attempt)
      waitedSeconds.push((row.due_at.getTime() - stage.clock.now()) / 1_000)
      // A look each second of 30 hours is more than a test needs: the last one counts.
      skip(row.due_at.getTime() - stage.clock.now() - 1_000)
      expect(target.received).toHaveLength(attempt)
      await stage.clock.advance(1_000)
    }
    expect(waitedSeconds).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 0])
    expect(await stage.settled(8)).toMatchObject({
      ...{ status: 'failed', last_status_code: 500, last_error: 'The target answered 500.', delivered_at: null },
    })
    skip(86_400_000)
    await stage.clock.advance(2_000)
    expect(target.received).toHaveLength(8)
    expect(new Set(target.received.map(idOf)).size).toBe(1)
    expect(new Set(target.received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(target.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(8)
    expect((await stage.settled(8)).attempt_log).toHaveLength(8)
    expect(stage.lines).toMatchObject([{ msg: 'a delivery was given up' }])
  })

  it('has a whole new schedule where it is sent again once that was over', async () => {
    const target = await stage.target()
    target.answer({ status: 500 })
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1')])
    const ended = { at: new Date(stage.clock.now()).toISOString(), status_code: 500, error: 'no', duration_ms: 1 }
    const log = Array.from({ length: 8 }, (_, n) => ({ ...ended, attempt: n + 1 }))
    const givenUp = { status: 'failed' as const, attempts: 8, attempt_log: JSON.stringify(log) }
    await test.db.updateTable('webhook_outbox').set(givenUp).execute()
    const deliveries = makeDeliveries({ db: test.db, clock: stage.clock })
    await deliveries.redeliver('acme' as TenantId, { status: 'failed' }, null)
    await stage.deliverer().start()
    const { status, due_at } = await stage.settled(9)
    expect([status, due_at.getTime() - stage.clock.now()]).toEqual(['pending', 5_000])
  })

  /** Time in which nothing is due passes at once: the looks in it would find nothing. */
  function skip(ms: number): void {
    if (ms > 0) stage.clock.skip(ms)
  }

  it('that answers 410 is sent nothing more', async () => {
    const target = await stage.target()
    target.answer({ status: 410 })
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    expect(await stage.settled(1)).toMatchObject({ status: 'failed', last_status_code: 410 })
    expect(stage.disabled).toEqual([`acme ${target.url}`])
  })

  it.each([429, 503])('that answers %d is left alone for as long as it asks', async (status) => {
    const target = await stage.target()
    target.answer({ status, headers: { 'retry-after': '90' } }, { status: 204 })
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    const row = await stage.settled(1)
    expect(row.due_at.getTime() - stage.clock.now()).toBe(90_000)
    await passLooks(3)
    skip(83_000)
    await passLooks(3)
    expect(target.received).toHaveLength(1)
    await stage.clock.advance(1_000)
    await stage.all('delivered', (each) => each.status === 'delivered')
  })

  it.each([
    ['resets the connection', 'reset' as const, /did not answer \(ECONNRESET\)/],
    ['does not speak HTTP', 'no http' as const, /did not answer/],
    ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, /redirects are not followed/],
    ['refuses', { status: 404 }, 'The target answered 404.'],
  ])('that %s is tried again', async (_what, behaviour, error) => {
    const target = await stage.target()
    target.answer(behaviour)
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    const row = await stage.settled(1)
    expect(row).toMatchObject({ status: 'pending', last_error: expect.stringMatching(error) })
  })

  it.each(['endless', 'reset after the head'] as const)(
    'that has taken it and goes on with this has it: %s',
    async (fault) => {
      const target = await stage.target()
      target.answer(fault)
      stage.tell('acme', target.url)
      await stage.deliverer().start()
      await stage.happens('acme', [ofCall('CA1')])
      expect(await stage.settled(1)).toMatchObject({ status: 'delivered', last_status_code: 200 })
      await until(() => target.waiting === 0, { what: 'the connection to end' })
    },
  )

  it('that has taken it and drips from then on has it, and is left after 10 s', async () => {
    const target = await stage.target()
    target.answer('drip')
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    await target.receive(1)
    await until(
      async () => {
        await stage.clock.advance(1_000)
        return target.waiting === 0
      },
      { what: 'the connection to end', everyMs: 5 },
    )
    expect(await stage.settled(1)).toMatchObject({ status: 'delivered', last_status_code: 200 })
  })

  it('that is silent is given up after 10 s and tried again', async () => {
    const target = await stage.target()
    target.answer('hang')
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    await stage.happens('acme', [ofCall('CA1')])
    await target.receive(1)
    await stage.clock.advance(10_000)
    const row = await stage.settled(1)
    expect(row).toMatchObject({ status: 'pending', last_error: 'There was no answer within 10000 ms.' })
    expect(row.attempt_log).toMatchObject([{ status_code: null, duration_ms: 10_000 }])
  })
})

describe('a fault of ours', () => {
  it('uses up no attempt, and is tried again after a minute', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    stage.isAtFault = true
    await stage.happens('acme', [ofCall('CA1')])
    for (let tries = 0; tries < 25; tries += 1) {
      const dueMs = stage.clock.now() + 60_000
      await stage.all('put off', ({ due_at }) => due_at.getTime() >= dueMs)
      expect(await stage.rows()).toMatchObject([{ status: 'pending', attempts: 0, claim_token: null, attempt_log: [] }])
      stage.clock.skip(59_000)
      await stage.clock.advance(1_000)
    }
    stage.isAtFault = false
    stage.clock.skip(60_000)
    await stage.clock.advance(1_000)
    await stage.all('delivered', ({ status, attempts }) => status === 'delivered' && attempts === 1)
  })

  it('that ends the process costs none of the schedule', async () => {
    const target = await stage.target()
    target.answer({ status: 500 })
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1')])
    await test.db.updateTable('webhook_outbox').set({ attempts: 12, attempts_before: 5 }).execute()
    await stage.deliverer().start()
    const row = await stage.settled(13)
    expect([row.status, row.due_at.getTime() - stage.clock.now()]).toEqual(['pending', 5_000])
  })

  it('that ends the process again and again is not tried for ever', async () => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await stage.happens('acme', [ofCall('CA1')])
    await test.db.updateTable('webhook_outbox').set({ attempts: 20 }).execute()
    await stage.deliverer().start()
    expect(await stage.settled(21)).toMatchObject({
      status: 'failed',
      last_error: expect.stringContaining('cut short'),
    })
  })
})

describe('tenants', () => {
  it('whose targets hang hold up no other one, and get one attempt at a time from then on', async () => {
    const [hanging, fine] = [await stage.target(), await stage.target()]
    hanging.answer('hang')
    stage.tell('acme', hanging.url)
    stage.tell('globex', fine.url)
    await stage.deliverer().start()
    const many = Array.from({ length: 40 }, (_, n) => ofCall(`CA${n}`))
    await stage.happens('acme', many)
    await until(() => hanging.waiting === 4, { what: 'four at a time' })
    await stage.happens('globex', many)
    await stage.all('delivered', ({ status }) => status === 'delivered', 'globex')
    expect(hanging.mostWaiting).toBe(4)
    await stage.clock.advance(10_000)
    await until(() => hanging.received.length === 5, { what: 'the fifth' })
    await stage.clock.advance(9_000)
    expect(hanging.received).toHaveLength(5)
    expect(fine.received).toHaveLength(40)
  })

  it('that hang, however many, leave half of the room to others', async () => {
    const [hanging, fine] = [await stage.target(), await stage.target()]
    hanging.answer('hang')
    const silent = ['acme', 'initech']
    for (const id of silent) stage.tell(id, hanging.url)
    stage.tell('globex', fine.url)
    await stage.deliverer({ perTenant: 1, total: 2 }).start()
    for (const id of silent) await stage.happens(id, [ofCall('CA1'), ofCall('CA2')])
    await until(() => hanging.waiting === 2, { what: 'both to hang' })
    await stage.clock.advance(10_000)
    await until(() => hanging.received.length === 3, { what: 'one of them to be tried' })
    await stage.happens('globex', [ofCall('CA1')])
    await fine.receive(1)
    expect(hanging.waiting).toBe(1)
  })

  it('that hang and are all due at one look get half of the room together', async () => {
    const [hanging, fine] = [await stage.target(), await stage.target()]
    hanging.answer('hang')
    const silent = ['acme', 'initech', 'hooli', 'umbrella']
    for (const id of ['hooli', 'umbrella']) await makeTenant(test.db, id)
    for (const id of silent) stage.tell(id, hanging.url)
    stage.tell('globex', fine.url)
    await stage.deliverer({ perTenant: 1, total: 4 }).start()
    for (const id of silent) await stage.happens(id, [ofCall('CA1')])
    await until(() => hanging.waiting === 4, { what: 'all to hang' })
    await stage.clock.advance(10_000)
    for (const id of silent) await stage.settled(1, id)
    stage.clock.skip(10_000)
    await stage.clock.advance(1_000)
    await until(() => hanging.received.length >= 6, { what: 'two of them to be tried' })
    await stage.happens('globex', [ofCall('CA1')])
    await fine.receive(1)
    expect(hanging.waiting).toBe(2)
  })

  it('are told what happens in a call one after another', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.deliverer().start()
    for (let n = 0; n < 5; n += 1) await stage.happens('acme', [ofCall('CA1'), ofCall('CA2'), ofCall('CA1')])
    await target.receive(15)
    for (const callSid of ['CA1', 'CA2']) {
      const numbers = target.received.filter(({ body }) => JSON.parse(body).call_sid === callSid).map(sequenceOf)
      expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)))
    }
    await stage.all('delivered', ({ status }) => status === 'delivered')
  })
})

describe('what comes by the thousand', () => {
  const listed = { event: 'dnc.added' as const, subject: null, payload: {} }

  /** The calls of what is sent, in its order; of a list of numbers there is none. */
  async function sentCalls(count: number): Promise<string[]> {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.deliverer({ perTenant: 1 }).start()
    return (await target.receive(count)).map((each) => `${JSON.parse(each.body).call_sid} ${sequenceOf(each)}`)
  }

  it.each([
    ['a list of numbers', async () => stage.happens('acme', [listed, listed, listed]), ' undefined'],
    ['a redelivery', async () => sentAgain(3), 'CA1'],
  ])('as %s lets other events of the tenant go first', async (_what, makeMany, theirs) => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await makeMany()
    stage.clock.skip(1_000)
    await stage.happens('acme', [ofCall('CA2'), ofCall('CA2')])
    const [first, second, ...others] = await sentCalls(5)
    expect([first, second]).toEqual(['CA2 1', 'CA2 2'])
    expect(others).toEqual(theirs === 'CA1' ? ['CA1 1', 'CA1 2', 'CA1 3'] : [theirs, theirs, theirs])
  })

  it('is not kept back for good: after a day it has its turn', async () => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await stage.happens('acme', [listed])
    stage.clock.skip(86_400_001)
    await stage.happens('acme', [ofCall('CA2')])
    expect(await sentCalls(2)).toEqual([' undefined', 'CA2 1'])
  })

  async function sentAgain(count: number): Promise<void> {
    await stage.happens(
      'acme',
      Array.from({ length: count }, () => ofCall('CA1')),
    )
    await test.db.updateTable('webhook_outbox').set({ status: 'failed', attempts: 8 }).execute()
    const filter = { status: 'failed' as const }
    expect(await makeDeliveries({ db: test.db, clock: stage.clock }).redeliver('acme' as TenantId, filter, null)).toBe(
      count,
    )
  }
})

describe('a sweep', () => {
  it('delivers so many due rows at once and says what came of them', async () => {
    const target = await stage.target()
    target.answer({ status: 204 }, { status: 500 }, { status: 204 })
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1'), ofCall('CA1'), ofCall('CA1')])
    const deliverer = stage.deliverer()
    expect(await deliverer.sweep(2)).toEqual({ attempted: 2, delivered: 1, failed: 0, rescheduled: 1 })
    expect(await deliverer.sweep(0)).toEqual({ attempted: 0, delivered: 0, failed: 0, rescheduled: 0 })
    expect(await deliverer.sweep(100)).toEqual({ attempted: 1, delivered: 1, failed: 0, rescheduled: 0 })
    expect(await deliverer.sweep(100)).toMatchObject({ attempted: 0 })
  })
  it('takes no lane that there is not, and waits for one', async () => {
    const target = await stage.target()
    target.answer('hang', 'hang', { status: 204 })
    stage.tell('acme', target.url)
    const deliverer = stage.deliverer({ total: 2 })
    await deliverer.start()
    await stage.happens('acme', [ofCall('CA1'), ofCall('CA2')])
    await target.receive(2)
    await stage.happens('acme', [ofCall('CA3')])
    const swept = deliverer.sweep(10)
    // Time for what should not happen: a look, and a way to the database and back.
    await stage.clock.advance(1_000)
    await stage.rows()
    const rows = await test.db.selectFrom('webhook_outbox').select('attempts').orderBy('call_sid').execute()
    expect(rows.map(({ attempts }) => attempts)).toEqual([1, 1, 0])
    expect(target.received).toHaveLength(2)
    await stage.clock.advance(10_000)
    await target.receive(3)
    await swept
  })
})
