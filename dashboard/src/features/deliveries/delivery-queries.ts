import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api } from '../../api/client.ts'
import { dayStart } from '../../components/filters.tsx'
import type { ListPart } from '../../components/list-part.ts'
import type { DeliveryFilters } from './delivery-filters.ts'
import { sentText } from './sent-text.ts'

const DELIVERIES = '/api/v1/admin/tenants/{tenant_id}/webhook-deliveries'

/** Something that a webhook got or is to get. */
export type Delivery = Answer<typeof DELIVERIES, 'get'>['deliveries'][number]
type Query = NonNullable<paths[typeof DELIVERIES]['get']['parameters']['query']>
type Redelivery = NonNullable<paths[typeof DELIVERIES]['post']['requestBody']>['content']['application/json']

export const DELIVERY_STATUSES: Delivery['status'][] = ['pending', 'delivered', 'failed']

export const deliveriesKey = (tenantId: string) => ['deliveries', tenantId]

/** One page of the deliveries, newest first. */
export async function listDeliveries(
  tenantId: string,
  { first_day: first, last_day: last, ...filters }: DeliveryFilters,
  cursor: string | undefined,
): Promise<ListPart<Delivery>> {
  const query = { ...filters, from: dayStart(first), to: dayStart(last, 1), cursor } as Query
  const answer = await answerOf(api.GET(DELIVERIES, { params: { path: { tenant_id: tenantId }, query } }))
  return { rows: answer.deliveries, next: answer.next_cursor }
}

/** More ids than these the service takes of one request only by a filter. */
const MOST_IDS = 500

/** Sends some again, or all that are like this. Returns what came of it, in words. */
export async function redeliver(tenantId: string, wanted: Redelivery): Promise<string> {
  const requeue = async (body: Redelivery) =>
    (await answerOf(api.POST(DELIVERIES, { params: { path: { tenant_id: tenantId } }, body }))).requeued
  if (!wanted.ids) return sentText(await requeue(wanted), null)
  let sent = 0
  for (let at = 0; at < wanted.ids.length; at += MOST_IDS)
    sent += await requeue({ ids: wanted.ids.slice(at, at + MOST_IDS) })
  return sentText(sent, wanted.ids.length)
}

/** What failed of what the filters show, as a redelivery names it. */
export function failedOf({ event, first_day: first, last_day: last }: DeliveryFilters): Redelivery {
  const filter = { event, from: dayStart(first), to: dayStart(last, 1) } as Redelivery
  return { ...filter, status: 'failed' }
}
