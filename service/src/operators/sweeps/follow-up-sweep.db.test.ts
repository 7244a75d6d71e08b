import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../../test/harness/admin-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import { zonesAsked } from '../../../test/harness/zones-asked.ts'
import { claim, complete, release, reopen, snooze, wake } from '../callback-task-moves.ts'
import type { CallbackTaskId } from '../callback-task-store.ts'
import { type FollowUpSweepResult, type OperatorNotice, sweepFollowUps } from './follow-up-sweep.ts'
import { ACME, sweepBench } from './sweeps.fixture.ts'

type Answer = { ok: boolean; result: FollowUpSweepResult; code: string }

const MINUTE_MS = 60_000
const PATH = '/operator-queues/follow-up-notifications/sweep'
const NOTHING = {
  ...{ attempted_tenants: 0, evaluated_tenants: 0, items: [], failures: [], candidate_tasks: 0, snoozes_expired: 0 },
  ...{ notifications_sent: 0, escalations_applied: 0, webhooks_enqueued: 0 },
}
const EMIT = '?emit_webhooks=true'

const test = useDatabase()
let clock = new TestClock()
let notices: Pick<OperatorNotice, 'kind' | 'to'>[] = []
const { desk, known, create, read, setQueue, told, newestChange, routes } = sweepBench(test, () => clock)
const needs = (db = test.db) => ({
  ...known(db),
  notify: async (_tx: unknown, _tenant: unknown, { kind, to }: OperatorNotice) => notices.push({ kind, to }) > 0,
})
const admin = useAdminServer(() => [routes({ followUps: (ask) => sweepFollowUps(needs(), ask) })])

beforeEach(async () => {
  // A Tuesday in winter: 09:00 in Berlin.
  clock = new TestClock(Date.parse('2030-01-08T08:00:00.000Z'))
  notices = []
  await makeTenantWithToken(test.db, 'acme')
})

async function sweep(query = EMIT): Promise<FollowUpSweepResult> {
  const { status, body } = await admin.call<Answer>('POST', `${PATH}${query}`)
  expect(status).toBe(200)
  return body.result
}

const inMinutes = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS)
const pass = (minutes: number) => clock.advance(minutes * MINUTE_MS)
const claimed = async (facts = {}) => {
  const { id } = await create({ sla_due_at: inMinutes(10_000), ...facts })
  await desk().move(ACME, id, (now) => claim('ann@example.com', now))
  return id
}

/** It was done, and is to be done again. */
async function reopenDone(id: CallbackTaskId) {
  await desk().move(ACME, id, (now) => complete({ disposition: 'reached', notes: null, operator: null }, now))
  return desk().move(ACME, id, () => reopen({ operator: 'ann', note: null }))
}

describe('POST operator-queues/follow-up-notifications/sweep', () => {
  it('does nothing where there is nothing to do', async () => {
    await create()
    expect(await sweep()).toEqual(NOTHING)
  })

  it('opens tasks whose snooze is over', async () => {
    const put = async (until: Date) => {
      const { id } = await create({ sla_due_at: inMinutes(10_000) })
      await desk().move(ACME, id, () => snooze(until, 'later', 'ann'))
      return id
    }
    const [id, other] = [await put(inMinutes(60)), await put(inMinutes(61))]
    const until = inMinutes(60).toISOString()
    await pass(60)
    expect(await sweep()).toEqual({
      ...{ ...NOTHING, attempted_tenants: 1, evaluated_tenants: 1, candidate_tasks: 1, snoozes_expired: 1 },
      webhooks_enqueued: 1,
      items: [{ tenant_id: 'acme', task_id: id, queue_key: 'default', outcome: 'woken', snoozed_until: until }],
    })
    expect(await read(id)).toMatchObject({ status: 'open', snoozed_until: null, snooze_reason: null })
    expect(await read(other)).toMatchObject({ status: 'snoozed' })
    expect(await told('callback.task.woken')).toMatchObject([{ body: { payload: { task: { id, status: 'open' } } } }])
    expect(await newestChange(id)).toMatchObject({ action: 'wake', operator: null })
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('reminds who claimed a task and has not done it, again and again', async () => {
    const id = await claimed()
    await pass(14)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({
      ...{ candidate_tasks: 1, notifications_sent: 1, webhooks_enqueued: 1 },
      items: [{ task_id: id, outcome: 'reminded', assigned_to: 'ann@example.com' }],
    })
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(15)
    expect(await sweep()).toMatchObject({ notifications_sent: 1 })
    expect(notices).toEqual([
      { kind: 'follow_up_due', to: 'ann@example.com' },
      { kind: 'follow_up_due', to: 'ann@example.com' },
    ])
    expect(await told('operator_queue.follow_up_due')).toHaveLength(2)
    expect(await newestChange(id)).toMatchObject({ action: 'remind' })
    await desk().move(ACME, id, (now) => complete({ disposition: 'reached', notes: null, operator: null }, now))
    await pass(15)
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('reminds from when the task was due', async () => {
    await setQueue({ reminder_minutes: 5 })
    await claimed({ due_at: inMinutes(60) })
    await pass(64)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({ notifications_sent: 1 })
  })

  it('leaves who has just claimed a task that was due long ago the time that others have', async () => {
    const id = await claimed({ due_at: inMinutes(-60) })
    await pass(14)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'reminded' }] })
    await pass(10)
    await desk().move(ACME, id, () => release({ operator: null, note: null }))
    await desk().move(ACME, id, (now) => claim('bob@example.com', now))
    await pass(14)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({
      items: [{ task_id: id, outcome: 'reminded', assigned_to: 'bob@example.com' }],
    })
  })

  it('reminds nobody outside the business hours', async () => {
    await setQueue({
      business_hours: [{ days: ['tue', 'wed'], start: '09:00', end: '17:00' }],
      timezone: 'Europe/Berlin',
    })
    const id = await claimed()
    clock = new TestClock(Date.parse('2030-01-08T16:00:00.000Z'))
    expect(await sweep()).toMatchObject({ items: [] })
    clock = new TestClock(Date.parse('2030-01-09T08:00:00.000Z'))
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'reminded' }] })
  })

  it('escalates once what is far too late, one step up', async () => {
    await setQueue({ escalation_target: 'boss@example.com', escalate_after_minutes: 20 })
    const { id } = await create()
    await pass(49)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({
      ...{ candidate_tasks: 1, escalations_applied: 1, notifications_sent: 1, webhooks_enqueued: 1 },
      items: [{ task_id: id, outcome: 'escalated', priority: 'high', escalation_target: 'boss@example.com' }],
    })
    expect(await read(id)).toMatchObject({ priority: 'high', status: 'open' })
    expect(notices).toEqual([{ kind: 'escalated', to: 'boss@example.com' }])
    expect(await told('operator_queue.escalated')).toMatchObject([
      { body: { payload: { task: { priority: 'high' } } } },
    ])
    expect(await newestChange(id)).toMatchObject({
      action: 'escalate',
      details: { before: 'normal', priority: 'high' },
    })
    await pass(1_000)
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it.each([
    ['reopened', (id: CallbackTaskId) => reopenDone(id)],
    ['edited', (id: CallbackTaskId) => desk().edit(ACME, id, { edit: { sla_due_at: inMinutes(30) } }, 'ann')],
  ])('escalates again what is far too late by the time that it has since it was %s', async (_how, promiseAnew) => {
    const { id } = await create()
    await pass(90)
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'escalated', priority: 'high' }] })
    await promiseAnew(id)
    await desk().edit(ACME, id, { edit: { notes: 'by noon' } }, 'ann')
    await pass(89)
    expect(await sweep()).toMatchObject({ items: [] })
    await pass(1)
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'escalated', priority: 'urgent' }] })
    await desk().edit(ACME, id, { edit: { notes: 'by tonight' } }, 'ann')
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('escalates to nobody where there is no target, and what is urgent stays so', async () => {
    const { id } = await create({ priority: 'urgent' })
    await pass(90)
    expect(await sweep()).toMatchObject({
      ...{ escalations_applied: 1, notifications_sent: 0 },
      items: [{ task_id: id, priority: 'urgent', escalation_target: null }],
    })
    expect(notices).toEqual([])
  })

  it('lets the time to an escalation stand still outside the business hours', async () => {
    const business_hours = [{ days: ['tue' as const, 'wed' as const], start: '09:00', end: '17:00' }]
    await setQueue({ business_hours, timezone: 'Europe/Berlin', escalate_after_minutes: 60 })
    const { id } = await create({ sla_due_at: new Date('2030-01-08T15:30:00.000Z') })
    clock = new TestClock(Date.parse('2030-01-09T08:29:59.000Z'))
    expect(await sweep()).toMatchObject({ items: [] })
    clock = new TestClock(Date.parse('2030-01-09T08:30:00.000Z'))
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'escalated' }] })
  })

  it('looks back once for all that waits in a queue which hardly ever opens, and lets calls go on meanwhile', async () => {
    const business_hours = [{ days: ['mon' as const], start: '09:00', end: '09:01' }]
    await setQueue({ business_hours, timezone: 'Europe/Berlin', escalate_after_minutes: 1_000 })
    const late = () => create({ sla_due_at: inMinutes(-1_000 * 24 * 60) })
    await late()
    const ofOne = await zonesAsked(async () => expect(await sweep()).toMatchObject({ items: [], failures: [] }))
    for (let count = 0; count < 5; count += 1) await late()
    const ofSix = await zonesAsked(async () => expect(await sweep()).toMatchObject({ items: [], failures: [] }))
    expect(ofSix.inAll).toBeLessThan(2 * ofOne.inAll)
    expect(ofSix.atOnce).toBeLessThan(100)
  })

  it('notes all as if it were told when nobody is to be told', async () => {
    await setQueue({ escalation_target: 'boss@example.com' })
    await create()
    await claimed()
    await pass(90)
    const result = await sweep('?send_notifications=false')
    expect(result).toMatchObject({ candidate_tasks: 2, notifications_sent: 2, webhooks_enqueued: 0 })
    expect(notices).toEqual([])
    expect(await told('operator_queue.escalated', 'operator_queue.follow_up_due')).toEqual([])
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('does each once, however many sweep at once', async () => {
    const ids: CallbackTaskId[] = []
    for (let count = 0; count < 4; count += 1) ids.push(await claimed({ sla_due_at: inMinutes(1) }))
    await pass(90)
    const nodes = await Promise.all([test.anotherNode(), test.anotherNode(), test.anotherNode()])
    const ask = { tenantId: null, limitRows: 100, emitWebhooks: true, sendNotifications: true }
    const results = await Promise.all(nodes.map(({ db }) => sweepFollowUps(needs(db), ask)))
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    expect(await told('operator_queue.follow_up_due')).toHaveLength(4)
    expect(await told('operator_queue.escalated')).toHaveLength(4)
    expect(await read(ids[0] ?? '')).toMatchObject({ priority: 'high' })
    await desk().move(ACME, ids[0] as CallbackTaskId, () => snooze(inMinutes(1), null, null))
    await pass(2)
    const again = await Promise.all(nodes.map(({ db }) => sweepFollowUps(needs(db), ask)))
    expect(again.map(({ snoozes_expired }) => snoozes_expired).toSorted()).toEqual([0, 0, 1])
  })

  it('leaves alone what was woken and put off again meanwhile', async () => {
    const { id } = await create({ sla_due_at: inMinutes(10_000) })
    await desk().move(ACME, id, () => snooze(inMinutes(1), null, null))
    await pass(2)
    await desk().move(ACME, id, () => wake({ operator: null, note: null }))
    await desk().move(ACME, id, () => snooze(inMinutes(60), null, null))
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('is for administrators, for one tenant if they want, and asked for as described', async () => {
    await claimed()
    await pass(15)
    await makeTenantWithToken(test.db, 'globex')
    expect(await sweep('?auth_token=bearer-token-of-globex')).toMatchObject({ items: [] })
    expect(await sweep('?limit=0')).toEqual(NOTHING)
    expect(await admin.call('POST', `${PATH}?auth_token=nobodys-token-here`)).toMatchObject({ status: 401 })
    expect(await admin.call('POST', `${PATH}?send_notifications=perhaps`)).toMatchObject({
      status: 400,
      body: { details: [{ path: '/query/send_notifications' }] },
    })
    expect(await admin.call('POST', PATH, { adminKey: null })).toMatchObject({ status: 401 })
    expect(await sweep('?auth_token=bearer-token-of-acme')).toMatchObject({ items: [{ outcome: 'reminded' }] })
  })
})
