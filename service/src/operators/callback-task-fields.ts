import { type Static, Type } from 'typebox'
import { AnyId, forPeople, longRowsPageFields, nullable, strict } from '../platform/http/schemas.ts'
import { CallableNumber, QueueKey } from '../tenancy/tenant-values.ts'
import type { TaskFields } from './add-callback-task.ts'
import type { CallbackTaskId, TaskFilter } from './callback-task-store.ts'
import { DEFAULT_QUEUE, TASK_DISPOSITIONS, TASK_PRIORITIES, TASK_STATUSES } from './callback-task-values.ts'
import type { TaskEdit } from './edit-callback-task.ts'

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const maybe = (maxLength: number, description: string) => Type.Optional(nullable(text(maxLength, description)))
const instant = (description: string) => Type.Optional(nullable(Type.String({ format: 'date-time', description })))
const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

/** A task in an address. */
export const TaskParams = strict({ id: Type.Unsafe<CallbackTaskId>(AnyId) })

/** Who acts. */
export const Operator = forPeople(
  254,
  'Who acts, in words of yours: a name, an e-mail address, an id. Of a person who is logged in, they themselves.',
)

const editable = {
  queue_key: Type.Optional(QueueKey),
  summary: maybe(2_000, 'What the callback is about.'),
  notes: maybe(10_000, 'For operators.'),
  priority: Type.Optional(Type.Enum(TASK_PRIORITIES, { description: 'Default normal.' })),
  due_at: instant('When to call. Null: as soon as possible.'),
  sla_due_at: instant("By when it is to be done. Null: as the queue's settings tell."),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      maxProperties: 100,
      description: "The tenant's own; the call of a dispatch has it too.",
    }),
  ),
}

export const TaskBody = strict({
  customer_phone: CallableNumber,
  ...editable,
  agent_name: maybe(200, 'Who wants it.'),
  stream_sid: maybe(200, 'The stream of the call in which it was asked for.'),
  call_sid: maybe(
    200,
    'The call in which it was asked for. Without it: the one that has the stream, if it still goes on.',
  ),
})

export const TaskEditBody = strict(editable)

const filters = {
  status: Type.Optional(Type.Enum(TASK_STATUSES)),
  disposition: Type.Optional(Type.Enum(TASK_DISPOSITIONS)),
  stream_sid: filter('Exactly as stored.'),
}

export const TaskQuery = strict({
  ...longRowsPageFields,
  ...filters,
  order: Type.Optional(
    Type.Enum(['newest', 'due'], {
      default: 'newest',
      description:
        'newest: all of them, the last made first. due: those that are not done, by `sla_due_at`, the earliest first. ' +
        'A cursor goes on in the order that it was given in.',
    }),
  ),
  priority: Type.Optional(Type.Enum(TASK_PRIORITIES)),
  queue_key: filter('An unknown one finds nothing.'),
  assigned_to: filter('Exactly as stored.'),
  customer_phone: filter('In E.164; the + may be sent as it is.'),
  call_sid: filter('Exactly as stored.'),
})

export const AdminTaskQuery = strict({
  ...longRowsPageFields,
  ...filters,
  tenant_id: filter('An unknown one finds nothing.'),
})

/** The filter of a query: what of it is no paging and no order. */
export function readTaskFilter(query: Static<typeof TaskQuery> & Static<typeof AdminTaskQuery>): TaskFilter {
  const { limit: _limit, offset: _offset, cursor: _cursor, order: _order, ...asked } = query
  if (asked.customer_phone === undefined) return asked as TaskFilter
  // In a query a plain + is a space.
  return { ...asked, customer_phone: asked.customer_phone.replace(/^ (?=\d)/, '+') } as TaskFilter
}

/** Who makes tasks by the API with a key: it knows the tenant and no more. */
const CREATED_BY = 'api'

/** What a body asks for, with the defaults. `person`: who does, where that is one who is logged in. */
export function readTaskFields(body: Static<typeof TaskBody>, person: string | null): TaskFields {
  return {
    customer_phone: body.customer_phone,
    queue_key: body.queue_key ?? DEFAULT_QUEUE,
    agent_name: body.agent_name ?? null,
    summary: body.summary ?? null,
    notes: body.notes ?? null,
    priority: body.priority ?? 'normal',
    due_at: dateOf(body.due_at),
    sla_due_at: dateOf(body.sla_due_at),
    stream_sid: body.stream_sid ?? null,
    call_sid: body.call_sid ?? null,
    metadata: body.metadata ?? {},
    created_by: person ?? CREATED_BY,
  }
}

/** What a body changes. */
export function readTaskEdit({ due_at, sla_due_at, ...rest }: Static<typeof TaskEditBody>): TaskEdit {
  return {
    ...rest,
    ...(due_at !== undefined && { due_at: dateOf(due_at) }),
    ...(sla_due_at !== undefined && { sla_due_at: dateOf(sla_due_at) }),
  }
}

function dateOf(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : new Date(text)
}
