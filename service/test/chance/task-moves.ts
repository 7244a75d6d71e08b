import {
  type Asking,
  DISPOSITIONS,
  find,
  instant,
  MAYBE_TEXT,
  OPERATORS,
  PRIORITIES,
  person,
  promise,
  QUEUES,
  REOPENED,
  someTask,
  told,
  UNWANTED,
} from './asking.ts'
import type { Drawn, Field } from './draw.ts'
import { isoOf, type Model, type Op, type Predicted, type Row, refused, tenantOf } from './model.ts'
import { cancelUnwanted, list } from './number-lists.ts'
import type { Actor, Json } from './world.ts'

type Move = {
  from: string[]
  set(task: Row, body: Json, model: Model): Json
  event: string | null
  who: 'operator' | 'by'
}

const NOBODYS = { assigned_to: null, claimed_at: null }
const AWAKE = { snoozed_until: null, snooze_reason: null }
const MOVES: Record<string, Move> = {
  acknowledge: {
    ...{ from: ['open', 'claimed', 'snoozed'], event: null, who: 'operator' },
    set: (_task, { operator }, model) => ({ acknowledged_at: isoOf(model), acknowledged_by: operator }),
  },
  claim: {
    ...{ from: ['open'], event: 'claimed', who: 'operator' },
    set: (_task, { operator }, model) => ({
      status: 'claimed',
      assigned_to: operator,
      claimed_at: isoOf(model),
      [UNWANTED]: undefined,
    }),
  },
  assign: {
    ...{ from: ['open', 'claimed'], event: 'claimed', who: 'by' },
    set: (_task, { operator }, model) => ({ status: 'claimed', assigned_to: operator, claimed_at: isoOf(model) }),
  },
  release: { from: ['claimed'], event: null, who: 'operator', set: () => ({ status: 'open', ...NOBODYS }) },
  snooze: {
    ...{ from: ['open', 'claimed'], event: 'snoozed', who: 'operator' },
    set: (_task, { until, reason }) => ({
      status: 'snoozed',
      snoozed_until: instant(until),
      snooze_reason: reason ?? null,
    }),
  },
  wake: { from: ['snoozed'], event: 'woken', who: 'operator', set: () => ({ status: 'open', ...NOBODYS, ...AWAKE }) },
  complete: {
    ...{ from: ['open', 'claimed'], event: 'completed', who: 'operator' },
    set: ({ notes: old }, { disposition, notes }, model) => ({
      ...{ status: 'completed', disposition, completed_at: isoOf(model) },
      notes: typeof notes === 'string' ? (notes.trim() ? notes : null) : old,
    }),
  },
  cancel: {
    from: ['open', 'claimed', 'snoozed'],
    event: 'cancelled',
    who: 'operator',
    set: () => ({ status: 'cancelled', ...AWAKE }),
  },
  reopen: {
    ...{ from: ['completed', 'cancelled'], event: 'reopened', who: 'operator' },
    set: (_task, _body, model) => ({
      ...{ status: 'open', disposition: null, completed_at: null, ...NOBODYS, due_at: null },
      ...{ [UNWANTED]: undefined, [REOPENED]: isoOf(model) },
    }),
  },
}

/** Who acts: of a person, they themselves; now and then one says that they are somebody else. */
function actingFields({ draw, actor }: Asking, isNeeded: boolean): Field {
  const name = person(actor)
  if (name !== null) return { good: draw.random.chance(0.1) ? ['bob'] : [name, null] }
  const others = isNeeded ? [] : [null]
  return { good: [...OPERATORS, ...others], bad: ['', ' ', 5, 'x'.repeat(255)], isNeeded }
}

const words = { good: [...MAYBE_TEXT, ''], bad: [5, 'x'.repeat(2_001)] }

function bodyOf(asking: Asking, action: string): Drawn {
  const { draw, model } = asking
  const later = [1_000, 60_000, 86_400_000].map((ms) => new Date(model.nowMs + ms).toISOString())
  const over = [0, -60_000].map((ms) => new Date(model.nowMs + ms).toISOString())
  const maybe = actingFields(asking, false)
  if (['acknowledge', 'claim'].includes(action)) return draw.body({ operator: actingFields(asking, true) })
  if (action === 'assign')
    return draw.body({ operator: { good: OPERATORS, bad: ['', null, 5], isNeeded: true }, by: maybe })
  if (action === 'snooze')
    return draw.body({
      reason: words,
      operator: maybe,
      until: { good: [...later, ...over], bad: ['later', null], isNeeded: true },
    })
  if (action === 'complete') {
    const disposition = { good: DISPOSITIONS, bad: ['done', null, 'resolved '], isNeeded: true }
    return draw.body({ disposition, notes: { good: ['Done.', '', ' ', null], bad: [5] }, operator: maybe })
  }
  return draw.body({ [['cancel', 'reopen'].includes(action) ? 'reason' : 'note']: words, operator: maybe })
}

/** Whether somebody says that they are somebody else, which is refused before anything is looked at. */
function isFalse(actor: Actor, said: unknown): boolean {
  return person(actor) !== null && said !== undefined && said !== null && said !== person(actor)
}

export function moveTask(asking: Asking): Op {
  const { draw, model, tenant, actor } = asking
  const action = draw.random.pick(Object.keys(MOVES))
  const id = someTask(draw, model, tenant)
  const { body, isSound } = bodyOf(asking, action)
  const { who } = MOVES[action] as Move
  const acting = { ...body, [who]: person(actor) ?? body[who] }
  return {
    ...{
      route: `POST /api/v1/callback-tasks/:id/${action}`,
      path: `/callback-tasks/${encodeURIComponent(id)}/${action}`,
    },
    ...{ body, tenant, actor },
    predict(later) {
      if (isFalse(actor, body[who])) return refused(403)
      return isSound ? moved(later, { tenant, id, action, body: acting }) : refused(400)
    },
  }
}

type Moving = { tenant: string; id: string; action: string; body: Json }

function moved(model: Model, { tenant, id, action, body }: Moving): Predicted {
  const task = find(model, tenant, id)
  if (!task) return refused(404)
  // What is over is known by the time at which the task is at hand.
  if (action === 'snooze' && Date.parse(String(body['until'])) <= model.nowMs) return refused(400)
  const { from, set, event } = MOVES[action] as Move
  if (!from.includes(String(task['status']))) return refused(409)
  Object.assign(task, set(task, body, model), { updated_at: isoOf(model) })
  if (action === 'reopen') task['sla_due_at'] = promise(model, tenant, task['queue_key'], null)
  const all = event === null ? [] : [told(`callback.task.${event}`, id)]
  all.push(...cancelUnwanted(model, tenant, task))
  if (task['disposition'] === 'do_not_call' && action === 'complete') {
    const wish = 'Whoever was called back does not want to be called.'
    all.push(
      ...list(model, {
        tenant,
        phone: String(task['customer_phone']),
        reason: wish,
        source: body['operator'] ?? null,
        isWish: true,
      }),
    )
  }
  return { status: 200, row: ['task', task], told: all }
}

export function claimNext(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const queue = draw.random.pick(QUEUES)
  const { body, isSound } = draw.body({ operator: actingFields(asking, true) })
  return {
    route: 'POST /api/v1/operator-queues/:queue_key/claim-next',
    ...{ path: `/operator-queues/${queue}/claim-next`, body, tenant, actor },
    predict(later) {
      if (isFalse(actor, body['operator'])) return refused(403)
      if (!isSound) return refused(400)
      const next = nextOf(later, tenant, queue)
      if (!next) return { status: 200, row: ['task', null] }
      return moved(later, {
        tenant,
        id: next.id,
        action: 'claim',
        body: { operator: person(actor) ?? body['operator'] },
      })
    },
  }
}

/** The most urgent open task that is due, then the one that should be done first, then the oldest. */
function nextOf(model: Model, tenant: string, queue: string): Row | undefined {
  const rank = ({ priority, sla_due_at, created_at, id }: Row) =>
    [PRIORITIES.indexOf(String(priority)), sla_due_at, created_at, id].join(' ')
  const isDue = ({ due_at }: Row) => due_at === null || String(due_at) <= isoOf(model)
  const open = tenantOf(model, tenant).tasks.filter(({ status, queue_key }) => status === 'open' && queue_key === queue)
  return open.filter(isDue).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0]
}
