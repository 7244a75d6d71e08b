import {
  type Asking,
  BAD_PHONES,
  edits,
  find,
  instant,
  PHONES,
  person,
  promise,
  REOPENED,
  someTask,
  told,
} from './asking.ts'
import { isoOf, type Model, type Op, type Predicted, type Row, refused, rowIn, tenantOf } from './model.ts'
import type { Actor, Answer, Json } from './world.ts'

export function createTask({ draw, model, tenant, actor }: Asking): Op {
  const drawn = draw.body({
    customer_phone: { good: PHONES, bad: BAD_PHONES, isNeeded: true },
    ...edits(model),
    agent_name: { good: ['Desk', null], bad: ['', 'x'.repeat(201)] },
    call_sid: { good: ['CA1', 'CA2', null], bad: [''] },
  })
  const key = draw.random.chance(0.3) ? draw.random.pick(['k1', 'k2', 'k 3', 'k4']) : null
  const known = key === null ? undefined : tenantOf(model, tenant).taskKeys[key]
  const body = known && draw.random.chance(0.5) ? (JSON.parse(known.body) as Json) : drawn.body
  const isSound = body === drawn.body ? drawn.isSound : true
  return {
    ...{ route: 'POST /api/v1/callback-tasks', path: '/callback-tasks', body, tenant, actor },
    ...(key && { headers: { 'idempotency-key': key } }),
    predict: (later, answer) => (isSound ? created(later, answer, { tenant, actor, body, key }) : refused(400)),
  }
}

type Creation = { tenant: string; actor: Actor; body: Json; key: string | null }

function created(model: Model, answer: Answer, { tenant, actor, body, key }: Creation): Predicted {
  const of = tenantOf(model, tenant)
  const sent = JSON.stringify(body)
  const earlier = key === null ? undefined : of.taskKeys[key]
  if (earlier && canonical(earlier.body) !== canonical(sent)) return refused(422)
  if (earlier) return { status: 200, row: ['task', of.tasks.find(({ id }) => id === earlier.id) ?? null] }
  const { id } = rowIn(answer, 'task')
  const now = isoOf(model)
  const queue = body['queue_key'] ?? 'default'
  const due = instant(body['due_at'])
  const task: Row = {
    ...{
      id,
      tenant_id: tenant,
      stream_sid: null,
      call_sid: body['call_sid'] ?? null,
      agent_name: body['agent_name'] ?? null,
    },
    ...{
      customer_phone: body['customer_phone'],
      status: 'open',
      disposition: null,
      priority: body['priority'] ?? 'normal',
    },
    ...{
      queue_key: queue,
      summary: body['summary'] ?? null,
      notes: body['notes'] ?? null,
      metadata: body['metadata'] ?? {},
    },
    ...{ created_by: person(actor) ?? 'api', assigned_to: null, acknowledged_at: null, acknowledged_by: null },
    ...{ claimed_at: null, completed_at: null, due_at: due },
    sla_due_at: instant(body['sla_due_at']) ?? promise(model, tenant, queue, due),
    ...{ last_sla_alert_due_at: null, last_sla_alerted_at: null, snoozed_until: null, snooze_reason: null },
    ...{
      dispatch_attempt_count: 0,
      last_dispatch_attempted_at: null,
      last_dispatch_call_sid: null,
      last_dispatch_status: null,
    },
    ...{ created_at: now, updated_at: now },
  }
  of.tasks.push(task)
  if (key !== null) of.taskKeys[key] = { body: sent, id }
  return { status: 200, row: ['task', task], told: [told('callback.task.created', id)] }
}

/** Whether two bodies say the same is not a matter of the order of their members. */
const canonical = (text: string) => JSON.stringify(Object.entries(JSON.parse(text) as Json).sort())

export function editTask({ draw, model, tenant, actor }: Asking): Op {
  const id = someTask(draw, model, tenant)
  const { body, isSound } = draw.body(edits(model))
  return {
    ...{
      route: 'PATCH /api/v1/callback-tasks/:id',
      path: `/callback-tasks/${encodeURIComponent(id)}`,
      body,
      tenant,
      actor,
    },
    predict(later) {
      if (!isSound) return refused(400)
      const task = find(later, tenant, id)
      if (!task) return refused(404)
      if (Object.keys(body).length === 0) return { status: 200, row: ['task', task] }
      const before = { ...task }
      Object.assign(task, body, { updated_at: isoOf(later) })
      if ('due_at' in body) task['due_at'] = instant(body['due_at'])
      const isMoved = task['queue_key'] !== before['queue_key'] || task['due_at'] !== before['due_at']
      const from = task['due_at'] ?? before[REOPENED] ?? before['created_at']
      if (typeof body['sla_due_at'] === 'string') task['sla_due_at'] = instant(body['sla_due_at'])
      else if (isMoved || 'sla_due_at' in body) task['sla_due_at'] = promise(later, tenant, task['queue_key'], from)
      else task['sla_due_at'] = before['sla_due_at']
      return { status: 200, row: ['task', task] }
    },
  }
}
