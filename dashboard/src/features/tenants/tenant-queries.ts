import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import { asTaken } from '../../api/failure.ts'
import { tenantKey } from '../../api/tenants.ts'
import type { ListPart } from '../../components/list-part.ts'

const TENANT = '/api/v1/admin/tenants/{tenant_id}'

/** A tenant with its document, and the tag of that. */
export type Tenant = Answer<typeof TENANT, 'get'>
export type TenantRow = Answer<'/api/v1/admin/tenants', 'get'>['tenants'][number]
type Config = Tenant['config']

/** Of everything that lists tenants, the choice in the bar above included. */
export const TENANTS_KEY = ['tenants']

/** One page of the tenants, newest first. */
export async function listTenants(cursor: string | undefined): Promise<ListPart<TenantRow>> {
  const answer = await answerOf(api.GET('/api/v1/admin/tenants', { params: { query: { cursor } } }))
  return { rows: answer.tenants, next: answer.next_cursor }
}

/** A tenant with its document. */
export const tenantQuery = (tenantId: string) =>
  queryOptions({
    queryKey: tenantKey(tenantId),
    queryFn: () => answerOf(api.GET(TENANT, { params: { path: { tenant_id: tenantId } } })),
  })

/** Makes a tenant, unless there is one that is called so. */
export async function createTenant(config: { tenant_id: string; name: string }): Promise<void> {
  const { tenant_id, name } = config
  const params = { path: { tenant_id }, header: { 'if-none-match': '*' } }
  const body = { tenant_id, ...(name !== '' && { name }) }
  await answerOf(api.PUT(TENANT, { params, body })).catch((error: unknown) => asTaken(error, '/body/tenant_id'))
}

/** Replaces the document, if it is still that of the tag; else a 412. Returns its new tag, and what will hardly work. */
export function putTenant(tenantId: string, config: object, etag: string): Promise<Answer<typeof TENANT, 'put'>> {
  const params = { path: { tenant_id: tenantId }, header: { 'if-match': etag } }
  return answerOf(api.PUT(TENANT, { params, body: config as Config }))
}

/** Says what would run, or what is wrong, and stores nothing. */
export function validateTenant(config: object) {
  return answerOf(api.POST('/api/v1/admin/tenants/validate', { body: config as Record<string, unknown> }))
}

/** Deletes a tenant and everything of it; with live calls only by force, which ends them. */
export async function deleteTenant(tenantId: string, force: boolean): Promise<void> {
  await answerOf(api.DELETE(TENANT, { params: { path: { tenant_id: tenantId }, query: { force } } }))
}
