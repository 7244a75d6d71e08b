import { answerOf, api, forTenant } from '../../api/client.ts'
import type { Task } from './task-queries.ts'

/** How the last attempt went. */
export const DISPOSITIONS = [
  'resolved',
  'reached',
  'no_answer',
  'busy',
  'voicemail',
  'wrong_number',
  'rescheduled',
  'do_not_call',
  'failed',
] as const satisfies NonNullable<Task['disposition']>[]

/** How it went. */
export type Disposition = (typeof DISPOSITIONS)[number]

/** What an operator does with a task. Each answers the task as it is then, and throws ApiFailure. */
export type TaskMoves = ReturnType<typeof taskMoves>

/** Makes them. @param operator who acts. */
export function taskMoves(tenantId: string, id: string, operator: string) {
  const to = { params: { path: { id } }, headers: forTenant(tenantId) }
  const by = { operator }
  return {
    acknowledge: () => moved(api.POST('/api/v1/callback-tasks/{id}/acknowledge', { ...to, body: by })),
    claim: () => moved(api.POST('/api/v1/callback-tasks/{id}/claim', { ...to, body: by })),
    release: () => moved(api.POST('/api/v1/callback-tasks/{id}/release', { ...to, body: by })),
    wake: () => moved(api.POST('/api/v1/callback-tasks/{id}/wake', { ...to, body: by })),
    assign: (whom: string) =>
      moved(api.POST('/api/v1/callback-tasks/{id}/assign', { ...to, body: { operator: whom, by: operator } })),
    snooze: (until: string, reason: string | null) =>
      moved(api.POST('/api/v1/callback-tasks/{id}/snooze', { ...to, body: { until, reason, ...by } })),
    /** `notes`: in place of those that it has, null of which nothing is changed. */
    complete: (disposition: Disposition, notes: string | null) => {
      const written = notes === null ? {} : { notes: notes.trim() }
      return moved(
        api.POST('/api/v1/callback-tasks/{id}/complete', { ...to, body: { disposition, ...written, ...by } }),
      )
    },
    cancel: (reason: string | null) =>
      moved(api.POST('/api/v1/callback-tasks/{id}/cancel', { ...to, body: { reason, ...by } })),
    reopen: (reason: string | null) =>
      moved(api.POST('/api/v1/callback-tasks/{id}/reopen', { ...to, body: { reason, ...by } })),
    dispatch: () => moved(api.POST('/api/v1/callback-tasks/{id}/dispatch', { ...to, body: by })),
  }
}

/** Takes the next task of a queue that is due; null when there is none. */
export async function claimNext(tenantId: string, queueKey: string, operator: string): Promise<Task | null> {
  const to = { params: { path: { queue_key: queueKey } }, headers: forTenant(tenantId) }
  const answer = await answerOf(
    api.POST('/api/v1/operator-queues/{queue_key}/claim-next', { ...to, body: { operator } }),
  )
  return answer.task
}

async function moved(asked: Parameters<typeof answerOf<{ task: Task }>>[0]): Promise<Task> {
  return (await answerOf(asked)).task
}
