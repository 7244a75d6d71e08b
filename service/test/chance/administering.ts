import type { Asking } from './asking.ts'
import { type Told, tenantOf } from './model.ts'

const STRANGE = ['00000000-0000-7000-8000-000000000000', 'nothing', '%20']
export const AGENT_KEYS = ['desk', 'sales', 'night-shift', 'a_1']

export const audited = (name: string, of: string): Told => ({ kind: 'audit', name, of })
export const at = (tenant: string, rest: string) => `/admin/tenants/${tenant}/${rest}`
export const ROUTE = '/api/v1/admin/tenants/:tenant_id'

/** An id of a thing of the tenant's, or of another tenant's, or of nothing. */
export function someId({ draw, model, tenant }: Asking, what: 'agents' | 'versions'): string {
  const others = Object.entries(model.tenants).flatMap(([name, of]) =>
    name === tenant ? [] : of[what].map(({ id }) => id),
  )
  return draw.known(
    tenantOf(model, tenant)[what].map(({ id }) => id),
    [...STRANGE, ...others],
  )
}

export const path = (id: string) => encodeURIComponent(id)
export const ifMatch = (tag: string | null) => (tag === null ? {} : { headers: { 'if-match': tag } })

/** Where a row has its tag. */
export const ETAG = 'etag'
