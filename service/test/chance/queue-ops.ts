import { at, audited, ROUTE } from './administering.ts'
import { type Asking, QUEUES } from './asking.ts'
import { type Op, refused, tenantOf } from './model.ts'
import type { Json } from './world.ts'

const QUEUE_DEFAULTS: Json = {
  ...{
    name: null,
    sla_minutes: 30,
    timezone: null,
    business_hours: [],
    auto_dispatch: false,
    dispatch_agent_key: null,
  },
  ...{ max_attempts: 3, retry_minutes: 30, reminder_minutes: 15, escalate_after_minutes: 60, escalation_target: null },
}

export function putQueue({ draw, tenant, actor }: Asking): Op {
  const key = draw.random.pick([...QUEUES, 'Sales'])
  const minutes = { good: [1, 45], bad: [0, 1.5, null, '5'] }
  const { body, isSound } = draw.body({
    ...{ name: { good: ['Sales', null], bad: ['', 'x'.repeat(201)] }, sla_minutes: minutes, retry_minutes: minutes },
    ...{ reminder_minutes: minutes, escalate_after_minutes: minutes, max_attempts: { good: [1, 100], bad: [0, 101] } },
    ...{
      timezone: { good: ['Europe/Berlin', null], bad: ['Mars', ''] },
      auto_dispatch: { good: [true, false], bad: [null] },
    },
    ...{
      dispatch_agent_key: { good: ['desk', null], bad: ['nobody', ''] },
      queue_key: { good: [key], bad: ['other'] },
    },
    escalation_target: { good: ['ann@acme.example', null], bad: [''] },
  })
  return {
    route: `PUT ${ROUTE}/operator-queues/:queue_key`,
    ...{ path: at(tenant, `operator-queues/${key}`), body, tenant, actor },
    predict(model) {
      if (!isSound || key === 'Sales') return refused(400)
      const queue = { ...QUEUE_DEFAULTS, ...body, queue_key: key }
      tenantOf(model, tenant).queues[key] = queue
      return { status: 200, row: ['queue', queue], told: [audited('operator_queue.changed', key)] }
    },
  }
}

export function deleteQueue({ draw, tenant, actor }: Asking): Op {
  const key = draw.random.pick(QUEUES)
  return {
    route: `DELETE ${ROUTE}/operator-queues/:queue_key`,
    ...{ path: at(tenant, `operator-queues/${key}`), tenant, actor },
    predict(model) {
      const { queues } = tenantOf(model, tenant)
      const queue = queues[key]
      if (!queue) return refused(404)
      delete queues[key]
      return { status: 200, row: ['queue', queue], told: [audited('operator_queue.deleted', key)] }
    },
  }
}
