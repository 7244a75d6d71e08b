import type pg from 'pg'
import type { Change } from './legal-order.ts'
import { isLegal } from './legal-order.ts'
import type { Ledger } from './people.ts'
import { REFUSED_EVENT, REFUSING_TENANT, type World } from './world.ts'

/** What a run has come to: sentences of what is wrong, and figures. */
export type Findings = { faults: string[]; figures: Record<string, number> }

type ChangeRow = Change & { taskId: string; operator: string | null }
type EventRow = {
  tenant_id: string
  id: string
  event: string
  status: string
  body: string
  task: string | null
  sla_due_at: string | null
}

/** More of one kind would only scroll away the first. */
const SHOWN_MAX = 5

/** How many events of a kind there are to be for the changes of all tasks. */
const TOLD: Record<string, (change: ChangeRow) => boolean> = {
  'callback.task.created': ({ action }) => action === 'create',
  'callback.task.claimed': ({ action }) => action === 'claim' || action === 'assign',
  'callback.task.snoozed': ({ action }) => action === 'snooze',
  'callback.task.woken': ({ action }) => action === 'wake',
  'callback.task.dispatched': ({ action }) => action === 'dispatch',
  'operator_queue.sla_breached': ({ action }) => action === 'alert',
  'operator_queue.escalated': ({ action }) => action === 'escalate',
}

/** Looks at all that is left when nothing moves any more. */
export async function findings(database: pg.Client, world: World, ledger: Ledger): Promise<Findings> {
  const changes = await readChanges(database)
  const events = await readEvents(database)
  const { rows: tasks } = await database.query<{ id: string; status: string }>('select id, status from callback_tasks')
  const dialled = world.calls.map(({ form }) => form['StatusCallback'] ?? '')
  const faults = [
    ...lostTasks(tasks, ledger),
    ...illegal(changes),
    ...lostActs(changes, ledger),
    ...of(
      'a task is dispatching for ever',
      tasks.filter(({ status }) => status === 'dispatching').map(({ id }) => id),
    ),
    ...untold(changes, events),
    ...doubled(
      'alerted twice',
      events.flatMap((row) => (row.event === 'operator_queue.sla_breached' ? [`${row.task} ${row.sla_due_at}`] : [])),
    ),
    ...doubled('dialled twice', dialled),
    ...undelivered(events, world),
    ...of('an answer that nobody promised', ledger.oddities),
  ]
  const count = (status: string) => events.filter((row) => row.status === status).length
  const figures = {
    ...{ tasks: tasks.length, changes: changes.length, dials: dialled.length, events: events.length },
    ...{ delivered: count('delivered'), failed: count('failed'), pending: count('pending') },
    alerts: changes.filter(({ action }) => action === 'alert').length,
  }
  return { faults, figures }
}

async function readChanges(database: pg.Client): Promise<ChangeRow[]> {
  const { rows } = await database.query<Omit<ChangeRow, 'atMs'> & { at: Date }>(
    `select task_id as "taskId", action, status, operator, created_at as at from callback_task_changes
      order by task_id, created_at`,
  )
  return rows.map(({ at, ...row }) => ({ ...row, atMs: at.getTime() }))
}

async function readEvents(database: pg.Client): Promise<EventRow[]> {
  const { rows } = await database.query<EventRow>(
    `select tenant_id, id, event, status, body::text as body, body->'payload'->'task'->>'id' as task,
            body->'payload'->'task'->>'sla_due_at' as sla_due_at
       from webhook_outbox`,
  )
  return rows
}

function lostTasks(tasks: { id: string }[], { created, createdUnheard }: Ledger): string[] {
  const stored = new Set(tasks.map(({ id }) => id))
  const extra = [...stored].filter((id) => !created.has(id)).length
  return [
    ...of(
      'a task that was acknowledged is gone',
      [...created.keys()].filter((id) => !stored.has(id)),
    ),
    ...(extra > createdUnheard ? [`${extra} tasks more than anybody asked for`] : []),
  ]
}

function illegal(changes: ChangeRow[]): string[] {
  const byTask = Map.groupBy(changes, ({ taskId }) => taskId)
  const wrong = [...byTask].filter(([, rows]) => !isLegal(rows))
  return of(
    'a task was moved as it may not',
    wrong.map(([id, rows]) => `${id}: ${rows.map(({ action, status }) => `${action}→${status}`).join(' ')}`),
  )
}

/** Each act has an operator of its own, so it stands in the history once, or not at all if it was refused. */
function lostActs(changes: ChangeRow[], { acts }: Ledger): string[] {
  const found = Map.groupBy(changes, ({ operator }) => operator ?? '')
  return [...acts].flatMap(([operator, { action, taskId, isTold }]) => {
    const rows = found.get(operator) ?? []
    const isIt = rows.every((row) => row.action === action && (taskId === null || row.taskId === taskId))
    if (rows.length > 1 || !isIt) return [`${operator} is in the history as nobody asked: ${JSON.stringify(rows)}`]
    return isTold && rows.length === 0 ? [`${operator} was told of a ${action} of ${taskId} that is not there`] : []
  })
}

function untold(changes: ChangeRow[], events: EventRow[]): string[] {
  return Object.entries(TOLD).flatMap(([event, isTold]) => {
    const wanted = changes.filter(isTold).length
    const written = events.filter((row) => row.event === event).length
    return wanted === written
      ? []
      : [`${wanted} times something was done that ${event} tells, and it was told ${written} times`]
  })
}

/** Every event has arrived, as it was written; or it is one that its receiver never takes. */
function undelivered(events: EventRow[], { events: seen }: World): string[] {
  const isRefused = ({ tenant_id, event }: EventRow) => tenant_id === REFUSING_TENANT && event === REFUSED_EVENT
  const rows = (isWrong: (row: EventRow) => boolean) =>
    events.filter(isWrong).map(({ tenant_id, id, event, status }) => `${tenant_id} ${event} ${id} ${status}`)
  return [
    ...of(
      'an event waits for ever',
      rows(({ status }) => status === 'pending'),
    ),
    ...of(
      'an event is said to be delivered, and nobody took it',
      rows(({ status, id }) => status === 'delivered' && (seen.get(id)?.accepted ?? 0) === 0),
    ),
    ...of(
      'an event failed that its receiver would have taken',
      rows((row) => row.status === 'failed' && !isRefused(row)),
    ),
    ...of(
      'an event that nobody takes is said to be delivered',
      rows((row) => row.status === 'delivered' && isRefused(row)),
    ),
    ...of(
      'an event came with two bodies',
      [...seen].flatMap(([id, { bodies }]) => (bodies.size > 1 ? [id] : [])),
    ),
    ...of(
      'an event came with another body than it was written with',
      rows(({ id, body }) => seen.has(id) && !seen.get(id)?.bodies.has(body)),
    ),
  ]
}

function doubled(what: string, keys: string[]): string[] {
  const counts = Map.groupBy(keys, (key) => key)
  return of(
    what,
    [...counts].flatMap(([key, all]) => (all.length > 1 ? [`${key}, ${all.length} times`] : [])),
  )
}

function of(what: string, things: string[]): string[] {
  const more = things.length > SHOWN_MAX ? [`${what}: ${things.length - SHOWN_MAX} more`] : []
  return [...things.slice(0, SHOWN_MAX).map((thing) => `${what}: ${thing}`), ...more]
}

/** Tasks of a queue without hours whose time has been over for long, and nobody was alerted. */
export async function unalerted(database: pg.Client, before: Date): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select task.id from callback_tasks task
       left join operator_queues queue using (tenant_id, queue_key)
      where task.status in ('open', 'claimed', 'dispatching') and task.sla_due_at < $1 and task.updated_at < $1
        and coalesce(jsonb_array_length(queue.business_hours), 0) = 0
        and task.last_sla_alert_due_at is distinct from task.sla_due_at`,
    [before],
  )
  return rows.map(({ id }) => id)
}
