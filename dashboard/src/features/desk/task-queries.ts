import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'
import { instantOf } from '../../components/local-time.ts'
import { dialled } from '../../components/text.ts'
import type { DeskFilters } from './desk-filters.ts'

/** Somebody who is to be called back. */
export type Task = Answer<'/api/v1/callback-tasks/{id}', 'get'>['task']

/** Something that was done to a task. */
export type TaskChange = Answer<'/api/v1/callback-tasks/{id}/history', 'get'>['changes'][number]

type Query = NonNullable<paths['/api/v1/callback-tasks']['get']['parameters']['query']>

/** Of all that operators work on: what any change of a task makes out of date. */
export const deskKey = (tenantId: string) => ['desk', tenantId]

/** Of one task, and of what belongs to it. */
export const taskKey = (tenantId: string, id: string) => [...deskKey(tenantId), 'task', id]

/** What a desk shows: what is to be done, first what is due first. What was done, and all of a customer, is a history, newest first. */
function orderOf({ status, disposition, customer_phone: customer }: DeskFilters): Query['order'] {
  const isDone = status === 'completed' || status === 'cancelled' || disposition !== undefined
  return isDone || customer !== undefined ? 'newest' : 'due'
}

/** One page of the tasks. What the address says wrongly the service refuses. */
export async function listTasks(
  tenantId: string,
  filters: DeskFilters,
  cursor: string | undefined,
): Promise<ListPart<Task>> {
  const customer = dialled(filters.customer_phone)
  const query = { ...filters, customer_phone: customer, order: orderOf(filters), cursor } as Query
  const answer = await answerOf(api.GET('/api/v1/callback-tasks', { params: { query }, headers: forTenant(tenantId) }))
  return { rows: answer.tasks, next: answer.next_cursor }
}

/** A task by its id, as it is now. */
export async function readTask(tenantId: string, id: string): Promise<Task> {
  return (await readTaggedTask(tenantId, id)).task
}

/** The same, with the tag over which it can be written. */
export function readTaggedTask(tenantId: string, id: string): Promise<{ task: Task; etag: string }> {
  return answerOf(api.GET('/api/v1/callback-tasks/{id}', { params: { path: { id } }, headers: forTenant(tenantId) }))
}

/** A task that is shown. */
export const taskQuery = (tenantId: string, id: string) =>
  queryOptions({ queryKey: taskKey(tenantId, id), queryFn: () => readTask(tenantId, id) })

/** Somebody to be called back. What is empty the service chooses. */
export type NewTaskValues = Pick<Task, 'customer_phone' | 'queue_key' | 'priority'> & {
  summary: string
  /** In the time of whoever writes it. */
  due_at: string
  consent: boolean
}

/** Makes a task, or with the key of an earlier request tells which one that made. */
export async function createTask(
  tenantId: string,
  { customer_phone, summary, due_at, consent, ...plain }: NewTaskValues,
  key: string,
): Promise<Task> {
  const body = {
    ...plain,
    customer_phone: dialled(customer_phone),
    summary: summary.trim() || null,
    due_at: instantOf(due_at),
    ...(consent && { metadata: { consent } }),
  }
  const headers = { ...forTenant(tenantId), 'idempotency-key': key }
  return (await answerOf(api.POST('/api/v1/callback-tasks', { body, headers }))).task
}

/** One page of what was done to a task, newest first. */
export async function listChanges(
  tenantId: string,
  id: string,
  cursor: string | undefined,
): Promise<ListPart<TaskChange>> {
  const asked = { params: { path: { id }, query: { cursor } }, headers: forTenant(tenantId) }
  const answer = await answerOf(api.GET('/api/v1/callback-tasks/{id}/history', asked))
  return { rows: answer.changes, next: answer.next_cursor }
}

/** What was said in the call in which a callback was asked for; null when nothing of it was kept. */
export const taskCallQuery = (tenantId: string, callSid: string) =>
  queryOptions({
    queryKey: [...deskKey(tenantId), 'call', callSid],
    queryFn: async () => {
      const headers = forTenant(tenantId)
      const asked = { params: { path: { call_sid: callSid } }, headers }
      const { call_log: log } = await answerOf(api.GET('/api/v1/call-logs/{call_sid}', asked))
      if (log.voice_session_id === null) return null
      const session = { params: { path: { id: log.voice_session_id } }, headers }
      return (await answerOf(api.GET('/api/v1/voice-sessions/{id}', session))).voice_session
    },
  })
