import type { Draw, Field } from './draw.ts'
import { type Model, type Row, type Told, tenantOf } from './model.ts'
import type { Actor } from './world.ts'

export const PHONES = ['+12025550160', '+12025550161', '+12025550162', '+442079460018', '+4930123456']
export const BAD_PHONES = ['12025550160', '+1202555016', '', null, 5, '+4402079460018', '+12025550160\n']
export const QUEUES = ['default', 'sales', 'office']
export const PRIORITIES = ['urgent', 'high', 'normal', 'low']
export const OPERATORS = ['ann', 'bob', 'Çelik ☎']
const STRANGE = ['00000000-0000-7000-8000-000000000000', 'nobody', "'; --"]
export const DISPOSITIONS = ['reached', 'resolved', 'no_answer', 'busy', 'do_not_call']

export const MAYBE_TEXT = ['Call back.', 'ü ☎ "quoted", \\ and\nlines', null]
const instants = ({ nowMs }: Model) => [-60_000, 0, 3_600_000].map((ms) => new Date(nowMs + ms).toISOString())

export const edits = (model: Model): Record<string, Field> => ({
  queue_key: { good: QUEUES, bad: ['Sales', '', null, 'a b'] },
  summary: { good: MAYBE_TEXT, bad: ['', 5, 'x'.repeat(2_001)] },
  notes: { good: MAYBE_TEXT, bad: ['', [], 'x'.repeat(10_001)] },
  priority: { good: PRIORITIES, bad: ['top', null, ''] },
  due_at: { good: [...instants(model), null], bad: ['soon', '2030-02-30T00:00:00Z', 5] },
  sla_due_at: { good: [...instants(model), null], bad: ['2030-01-01', ''] },
  metadata: { good: [{}, { a: { b: [1, null, 'ü'] } }], bad: [[], null, 'a'] },
})

/** The address of a task of the tenant's, or of one that it has not. */
export function someTask(draw: Draw, model: Model, tenant: string): string {
  const others = Object.entries(model.tenants).flatMap(([name, { tasks }]) =>
    name === tenant ? [] : tasks.map(({ id }) => id),
  )
  const own = tenantOf(model, tenant).tasks.map(({ id }) => id)
  return draw.known(own, [...STRANGE, ...others])
}

export const find = (model: Model, tenant: string, id: string): Row | undefined =>
  tenantOf(model, tenant).tasks.find((task) => task.id === id)

/** When a task is to be done: so long after that instant as its queue gives. */
export function promise(model: Model, tenant: string, queue: unknown, from: unknown): string {
  const minutes = (tenantOf(model, tenant).queues[String(queue)]?.['sla_minutes'] as number | undefined) ?? 30
  const start = typeof from === 'string' ? Date.parse(from) : model.nowMs
  return new Date(start + minutes * 60_000).toISOString()
}

export const told = (name: string, of: string): Told => ({ kind: 'event', name, of })
export const person = ({ kind, name }: Actor): string | null => (kind === 'person' ? name : null)
export const instant = (value: unknown) => (typeof value === 'string' ? new Date(value).toISOString() : null)

export type Asking = { draw: Draw; model: Model; tenant: string; actor: Actor }
/** What the model knows of a task that no answer shows: when it was reopened, and since when its number is not to be called. */
export const REOPENED = '~reopened'
export const UNWANTED = '~unwanted'
