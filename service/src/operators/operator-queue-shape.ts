import { Type } from 'typebox'
import { nullable, strict, Timestamp } from '../platform/http/schemas.ts'
import { TimeOfDay } from '../tenancy/tenant-values.ts'
import { QUEUE_DEFAULTS, WEEKDAYS } from './operator-queue-store.ts'

const minutes = (minimum: number, maximum: number, byDefault: number, description: string) =>
  Type.Integer({ minimum, maximum, default: byDefault, description })
const maybe = (maxLength: number, description: string) =>
  nullable(Type.String({ minLength: 1, maxLength, description }))

const BusinessHours = strict({
  days: Type.Array(Type.Enum(WEEKDAYS), {
    minItems: 1,
    maxItems: 7,
    uniqueItems: true,
  }),
  start: TimeOfDay,
  end: TimeOfDay,
})

/** A month, and a year. */
const [MONTH, YEAR] = [43_200, 525_600]

/** What can be set of a queue, with the defaults. */
export const queueFields = {
  name: maybe(200, 'For people.'),
  sla_minutes: minutes(1, MONTH, QUEUE_DEFAULTS.sla_minutes, 'How soon after due_at a task is to be done.'),
  timezone: maybe(64, "An IANA time zone. Default: the tenant's, else UTC."),
  business_hours: Type.Array(BusinessHours, {
    maxItems: 50,
    description: 'When the queue is open; a span that ends before it begins goes over midnight. Empty: always.',
  }),
  auto_dispatch: Type.Boolean({ default: false, description: 'Whether agents call for its open tasks by themselves.' }),
  dispatch_agent_key: maybe(63, 'Who speaks then.'),
  max_attempts: Type.Integer({ minimum: 1, maximum: 100, default: QUEUE_DEFAULTS.max_attempts }),
  retry_minutes: minutes(1, MONTH, QUEUE_DEFAULTS.retry_minutes, 'How long after a call in vain the next is due.'),
  reminder_minutes: minutes(1, MONTH, QUEUE_DEFAULTS.reminder_minutes, 'How often who claimed a task is reminded.'),
  escalate_after_minutes: minutes(
    1,
    YEAR,
    QUEUE_DEFAULTS.escalate_after_minutes,
    'How long after sla_due_at a task is escalated.',
  ),
  escalation_target: maybe(320, 'Who is told then.'),
}

/** The settings of a queue as the API shows them. */
export const Queue = Type.Object({ queue_key: Type.String(), ...queueFields })

/** A queue as operators see it: its settings and what waits in it. */
export const LoadedQueue = Type.Object({
  queue_key: Type.String(),
  ...queueFields,
  depth: Type.Integer({ minimum: 0, description: 'Open tasks.' }),
  oldest: nullable(Timestamp),
  breached: Type.Integer({ minimum: 0, description: 'Tasks that should be done by now; snoozed ones do not count.' }),
  next_breach: nullable(Timestamp),
})
