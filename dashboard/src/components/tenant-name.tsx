import { useTenantNames } from '../api/tenants.ts'

/** What a tenant is called; under the pointer its id, by which lists are filtered. */
export function TenantName({ tenantId }: { tenantId: string }) {
  return <bdi title={tenantId}>{useTenantNames()(tenantId)}</bdi>
}
