import createClient from 'openapi-fetch'
import type { paths } from './api-types.ts'
import { failureOf } from './failure.ts'
import { askInTime, fileInTime } from './time-limit.ts'

/** The whole API, with the cookie of whoever is logged in. Give what it answers to `answerOf`. */
export const api = createClient<paths>({
  baseUrl: '',
  fetch: (request) => askInTime(request),
})

const TENANT_HEADER = 'x-tenant-id'

/** Says for which tenant a request of the runtime surface is: an administrator has none of their own. */
export function forTenant(tenantId: string): Record<string, string> {
  return { [TENANT_HEADER]: tenantId }
}

type Answered<Data> = { data?: Data; error?: unknown; response: Response }

/** What a request answers. @throws ApiFailure when it was refused, or nobody answered. */
export async function answerOf<Data>(asked: Promise<Answered<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await asked
  if (data === undefined || data === null) throw await failureOf(response, error)
  return data
}

/** Any path that answers a file: the service tells some of them. */
type FilePath = '/api/v1/dnc/export'

/** A file of a tenant, such as a recording. @throws ApiFailure as `answerOf`. */
export function fileOf(path: string, tenantId: string): Promise<Blob> {
  return fileInTime((fetch) =>
    answerOf(api.GET(path as FilePath, { headers: forTenant(tenantId), parseAs: 'blob', fetch })),
  )
}
