import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'
import { deskKey } from './task-queries.ts'

/** A queue, and what waits in it. */
export type Queue = Answer<'/api/v1/operator-queues', 'get'>['queues'][number]

type Path = '/api/v1/admin/tenants/{tenant_id}/operator-queues/{queue_key}'

/** How a queue works, as it is set. */
export type QueueSettings = NonNullable<paths[Path]['put']['requestBody']>['content']['application/json']

/** One page of the queues, by their keys. */
export async function listQueues(tenantId: string, cursor: string | undefined): Promise<ListPart<Queue>> {
  const asked = { params: { query: { cursor } }, headers: forTenant(tenantId) }
  const answer = await answerOf(api.GET('/api/v1/operator-queues', asked))
  return { rows: answer.queues, next: answer.next_cursor }
}

const to = (tenantId: string, queueKey: string) => ({
  params: { path: { tenant_id: tenantId, queue_key: queueKey } },
})

/** How a queue works, and whether that was set for it: otherwise those are the defaults. */
export async function readQueue(tenantId: string, queueKey: string): Promise<{ set: QueueSettings; isSet: boolean }> {
  const path = '/api/v1/admin/tenants/{tenant_id}/operator-queues/{queue_key}'
  const { queue, is_set: isSet } = await answerOf(api.GET(path, to(tenantId, queueKey)))
  const { queue_key: _key, ...set } = queue
  return { set, isSet }
}

/** The same, for the page that shows it. */
export const queueQuery = (tenantId: string, queueKey: string) =>
  queryOptions({
    queryKey: [...deskKey(tenantId), 'settings', queueKey],
    queryFn: () => readQueue(tenantId, queueKey),
    // A form begins with what is so now.
    gcTime: 0,
  })

/** Sets how a queue works. */
export function putQueue(tenantId: string, queueKey: string, body: QueueSettings) {
  const path = '/api/v1/admin/tenants/{tenant_id}/operator-queues/{queue_key}'
  return answerOf(api.PUT(path, { ...to(tenantId, queueKey), body }))
}

/** Gives a queue the defaults again. */
export function resetQueue(tenantId: string, queueKey: string) {
  const path = '/api/v1/admin/tenants/{tenant_id}/operator-queues/{queue_key}'
  return answerOf(api.DELETE(path, to(tenantId, queueKey)))
}

/** Where somebody who has no queue in mind is to begin: what is late, else what will be first, else the default one. */
export function mostUrgent(queues: Queue[]): Queue | undefined {
  const rank = ({ breached, next_breach: next }: Queue) => [-breached, next ?? '9999'] as const
  const filled = queues.filter(({ depth }) => depth > 0)
  const [first] = filled.toSorted((one, other) => {
    const [[late, next], [otherLate, otherNext]] = [rank(one), rank(other)]
    return late - otherLate || next.localeCompare(otherNext)
  })
  return first ?? queues.find(({ queue_key: key }) => key === 'default')
}
