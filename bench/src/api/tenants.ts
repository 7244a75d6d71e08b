import { LIMITS, sendAdmin } from '../parley-tenant.ts'

/** Where the admin API is. */
export type Admin = { address: string; adminKey: string }

/** Tenants of this benchmark, in the order of their size. */
export function tenantIds(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `api-${String(i + 1).padStart(4, '0')}`)
}

/** Makes a tenant, or makes it anew. `webhookUrl`: where it is told of calls; undefined: it is not. */
export async function putTenant(admin: Admin, tenantId: string, webhookUrl?: string): Promise<void> {
  const webhook =
    webhookUrl === undefined ? {} : { webhook: { url: webhookUrl, secret: SECRET, events: [WEBHOOK_EVENT] } }
  const body = { tenant_id: tenantId, limits: LIMITS, ...webhook }
  await sendAdmin({ method: 'PUT', url: tenantUrl(admin, tenantId), adminKey: admin.adminKey, body })
}

/** Makes an API key for a tenant and returns its token. */
export async function makeToken(admin: Admin, tenantId: string): Promise<string> {
  const url = `${tenantUrl(admin, tenantId)}/api-keys`
  const body = { label: 'bench' }
  const { created } = await sendAdmin({ method: 'POST', url, adminKey: admin.adminKey, body })
  return created?.token ?? ''
}

/** What tenants with a webhook are told. */
export const WEBHOOK_EVENT = 'voice.call.completed'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

function tenantUrl({ address }: Admin, tenantId: string): string {
  return `${address}/api/v1/admin/tenants/${tenantId}`
}
