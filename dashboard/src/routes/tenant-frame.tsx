import { Link, Outlet } from '@tanstack/react-router'
import { useIsKnown, useTenant } from '../api/tenants.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

/** Stands around the pages of a tenant. Of one that there is not it says so, once and for all that a page would ask of it. */
export function TenantFrame() {
  const tenantId = useTenant()
  return useIsKnown(tenantId) ? <Outlet /> : <UnknownTenant tenantId={tenantId} />
}

function UnknownTenant({ tenantId }: { tenantId: string }) {
  return (
    <Page title="There is no such tenant">
      <EmptyState title={<>No tenant is called {<bdi className="mono">{tenantId}</bdi>}</>}>
        It may have been deleted, or its id mistyped. <Link to="/tenants">All that there are</Link>
      </EmptyState>
    </Page>
  )
}
