import { answerOf, api, forTenant } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { changedFields } from '../../components/changed-fields.ts'
import { instantOf, localTime } from '../../components/local-time.ts'
import { readTaggedTask, type Task } from './task-queries.ts'
import { ticketOf, withTicket } from './task-ticket.ts'

/** What of a task can be changed, as it stands in a form: times in the zone of whoever looks, and empty what there is not. */
export type TaskFields = Pick<Task, 'queue_key' | 'priority'> & {
  due_at: string
  sla_due_at: string
  summary: string
  notes: string
  ticket_id: string
  ticket_url: string
}

/** What is written of it, beside what it was when somebody began to write. */
export type TaskDraft = TaskFields & { known: TaskFields }

/** What a task is now, to be written over. */
export function draftOf(task: Task): TaskDraft {
  const ticket = ticketOf(task.metadata)
  const fields: TaskFields = {
    queue_key: task.queue_key,
    priority: task.priority,
    due_at: localTime(task.due_at),
    sla_due_at: localTime(task.sla_due_at),
    summary: task.summary ?? '',
    notes: task.notes ?? '',
    ticket_id: ticket.id,
    ticket_url: ticket.url,
  }
  return { ...fields, known: fields }
}

/** What somebody has changed. */
export function changesOf({ known, ...fields }: TaskDraft): Partial<TaskFields> {
  return changedFields(known, fields)
}

/** Ours on top of what is stored now: of what we have not changed, that is what stays. */
export function changedOver(mine: TaskDraft, stored: TaskDraft): TaskDraft {
  return { ...stored, ...changesOf(mine) }
}

/**
 * Changes of a task what was changed of it in a form, and nothing else. What is left of its metadata is as it is now.
 *
 * @throws ApiFailure 412 when somebody else has changed the same meanwhile.
 */
export async function editTask(tenantId: string, id: string, draft: TaskDraft): Promise<Task> {
  const changes = changesOf(draft)
  const { task: stored, etag } = await readTaggedTask(tenantId, id)
  expectUntouched(draft.known, changes, draftOf(stored))
  // What comes between that look and this write is not written over either.
  const params = { path: { id }, header: { 'if-match': etag } }
  const asked = { params, headers: forTenant(tenantId), body: bodyOf(changes, stored) }
  return (await answerOf(api.PATCH('/api/v1/callback-tasks/{id}', asked))).task
}

function expectUntouched(known: TaskFields, changes: Partial<TaskFields>, stored: TaskFields): void {
  const names = Object.keys(changes) as (keyof TaskFields)[]
  if (names.every((name) => stored[name] === known[name] || stored[name] === changes[name])) return
  const message = 'Somebody else has changed the same of this task meanwhile.'
  throw new ApiFailure({ status: 412, code: 'precondition_failed', message })
}

function bodyOf(changes: Partial<TaskFields>, { metadata }: Task) {
  const { due_at, sla_due_at, summary, notes, ticket_id, ticket_url, ...plain } = changes
  const ticket = {
    ...(ticket_id !== undefined && { id: ticket_id.trim() }),
    ...(ticket_url !== undefined && { url: ticket_url.trim() }),
  }
  return {
    ...plain,
    ...(due_at !== undefined && { due_at: instantOf(due_at) }),
    ...(sla_due_at !== undefined && { sla_due_at: instantOf(sla_due_at) }),
    ...(summary !== undefined && { summary: summary.trim() || null }),
    ...(notes !== undefined && { notes: notes.trim() || null }),
    ...(Object.keys(ticket).length > 0 && { metadata: withTicket(metadata, ticket) }),
  }
}
