import { type Api, makeApi } from './api.ts'

type Created = { created: { token: string; api_key: { id: string } } }

/**
 * Works as a tenant for a while: with an API key that is made for it and revoked afterwards, whatever happens.
 *
 * @throws Error when there is no such tenant, or the admin key is wrong; whatever `work` throws.
 */
export async function withTenantKey<T>(
  admin: Api,
  { base, tenantId, label }: { base: string; tenantId: string; label: string },
  work: (tenant: Api) => Promise<T>,
): Promise<T> {
  const keys = `/admin/tenants/${encodeURIComponent(tenantId)}/api-keys`
  const { created } = await admin.ask<Created>('POST', keys, { label })
  try {
    return await work(makeApi(base, { authorization: `Bearer ${created.token}` }))
  } finally {
    await admin.ask('DELETE', `${keys}/${created.api_key.id}`)
  }
}
