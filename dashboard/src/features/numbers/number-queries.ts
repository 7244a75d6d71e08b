import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import { ApiFailure, asHeld } from '../../api/failure.ts'
import { foundRow } from '../../api/found-row.ts'
import type { ListPart } from '../../components/list-part.ts'
import { dialled } from '../../components/text.ts'

const ROUTES = '/api/v1/admin/tenants/{tenant_id}/phone-routes'

/** A number, and who answers it. */
export type PhoneRoute = Answer<typeof ROUTES, 'post'>['phone_route']

/** What is known of a number. */
export type PhoneRouteFields = Pick<
  PhoneRoute,
  'phone_number' | 'agent_key' | 'label' | 'inbound_enabled' | 'outbound_default'
>

/** What is written of it. `configure_carrier`: the carrier is to send its calls here. */
type PhoneRouteValues = PhoneRouteFields & { configure_carrier: boolean }

/** Of all numbers of a tenant. */
export const numbersKey = (tenantId: string) => ['numbers', tenantId]

/** One page of the numbers, newest first. */
export async function listNumbers(tenantId: string, cursor: string | undefined): Promise<ListPart<PhoneRoute>> {
  const params = { path: { tenant_id: tenantId }, query: { cursor } }
  const answer = await answerOf(api.GET(ROUTES, { params }))
  return { rows: answer.phone_routes, next: answer.next_cursor }
}

/** A number as it is now, found among all of the tenant, however many those are: none is read by itself. @throws ApiFailure when there is none. */
export async function readNumber({ tenant_id, id }: PhoneRoute): Promise<PhoneRoute> {
  const route = await foundRow<PhoneRoute>(
    (each) => each.id === id,
    async (query) => {
      const answer = await answerOf(api.GET(ROUTES, { params: { path: { tenant_id }, query } }))
      return { rows: answer.phone_routes, next: answer.next_cursor }
    },
  )
  if (route) return route
  throw new ApiFailure({ status: 404, code: 'not_found', message: 'Somebody has deleted the number meanwhile.' })
}

/** Adds a number, or replaces what is known of one. */
export async function putNumber(tenantId: string, id: string | null, values: PhoneRouteValues): Promise<void> {
  const body = { ...values, phone_number: dialled(values.phone_number) }
  const path = { tenant_id: tenantId }
  const put =
    id === null
      ? answerOf(api.POST(ROUTES, { params: { path }, body }))
      : answerOf(api.PUT(`${ROUTES}/{route_id}`, { params: { path: { ...path, route_id: id } }, body }))
  await put.catch((error: unknown) => asHeld(error, '/body/phone_number'))
}

/** Takes a number away: calls to it are not answered any more. */
export async function deleteNumber({ tenant_id, id }: PhoneRoute): Promise<void> {
  await answerOf(api.DELETE(`${ROUTES}/{route_id}`, { params: { path: { tenant_id, route_id: id } } }))
}
