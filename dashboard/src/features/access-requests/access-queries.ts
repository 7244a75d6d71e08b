import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { foundRow } from '../../api/found-row.ts'
import type { ListPart } from '../../components/list-part.ts'
import type { AccessFilters } from './access-filters.ts'

const REQUESTS = '/api/v1/admin/api-access-requests'

/** Somebody who would like to use the service. */
export type AccessRequest = Answer<`${typeof REQUESTS}/{id}`, 'patch'>['request']
export type AccessStatus = AccessRequest['status']
type Query = NonNullable<paths[typeof REQUESTS]['get']['parameters']['query']>

export const ACCESS_STATUSES: AccessStatus[] = ['open', 'approved', 'rejected', 'spam']
export const ACCESS_KEY = ['access-requests']

/** One page of the requests, newest first. */
export async function listRequests(
  filters: AccessFilters,
  cursor: string | undefined,
): Promise<ListPart<AccessRequest>> {
  const query = { ...filters, cursor } as Query
  const answer = await answerOf(api.GET(REQUESTS, { params: { query } }))
  return { rows: answer.requests, next: answer.next_cursor }
}

/** A request as it is now, found among all of them. @throws ApiFailure when there is none. */
export async function readRequest({ id }: AccessRequest): Promise<AccessRequest> {
  const request = await foundRow<AccessRequest>(
    (each) => each.id === id,
    async (query) => {
      const answer = await answerOf(api.GET(REQUESTS, { params: { query } }))
      return { rows: answer.requests, next: answer.next_cursor }
    },
  )
  if (request) return request
  throw new ApiFailure({ status: 404, code: 'not_found', message: 'The request is not there any more.' })
}

/** What was made of a request. */
export type AccessReview = { status: AccessStatus; note: string }

/** Notes what was made of a request; a note that is left out stays. */
export async function reviewRequest(
  id: string,
  body: Pick<AccessReview, 'status'> & Partial<AccessReview>,
): Promise<void> {
  await answerOf(api.PATCH(`${REQUESTS}/{id}`, { params: { path: { id } }, body }))
}
