import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'
import { dialled } from '../../components/text.ts'

const ROUTES = '/api/v1/admin/tenants/{tenant_id}/phone-routes'

/** A number, and who answers it. */
export type PhoneRoute = Answer<typeof ROUTES, 'post'>['phone_route']

/** What is written of a number. `configure_carrier`: the carrier is to send its calls here. */
export type PhoneRouteValues = {
  phone_number: string
  agent_key: string
  label: string
  inbound_enabled: boolean
  outbound_default: boolean
  configure_carrier: boolean
}

/** Of all numbers of a tenant. */
export const numbersKey = (tenantId: string) => ['numbers', tenantId]

/** One page of the numbers, newest first. */
export async function listNumbers(tenantId: string, cursor: string | undefined): Promise<ListPart<PhoneRoute>> {
  const params = { path: { tenant_id: tenantId }, query: { cursor } }
  const answer = await answerOf(api.GET(ROUTES, { params }))
  return { rows: answer.phone_routes, next: answer.next_cursor }
}

/** Adds a number, or replaces what is known of one. */
export async function putNumber(tenantId: string, id: string | null, values: PhoneRouteValues): Promise<void> {
  const body = { ...values, phone_number: dialled(values.phone_number) }
  if (id === null) await answerOf(api.POST(ROUTES, { params: { path: { tenant_id: tenantId } }, body }))
  else
    await answerOf(api.PUT(`${ROUTES}/{route_id}`, { params: { path: { tenant_id: tenantId, route_id: id } }, body }))
}

/** Takes a number away: calls to it are not answered any more. */
export async function deleteNumber({ tenant_id, id }: PhoneRoute): Promise<void> {
  await answerOf(api.DELETE(`${ROUTES}/{route_id}`, { params: { path: { tenant_id, route_id: id } } }))
}
