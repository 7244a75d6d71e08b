import { Navigate } from '@tanstack/react-router'
import { useCurrentTenant, useTenants } from '../api/tenants.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

/** Where somebody arrives: at the calls of the tenant that they looked at last. */
export function FirstPage() {
  const tenantId = useCurrentTenant()
  const choices = useTenants()
  if (tenantId !== null) return <Navigate to="/t/$tenantId/calls" params={{ tenantId }} replace />
  return (
    <Page title="Welcome to Parley">
      {choices?.length === 0 && (
        <EmptyState title="There is no tenant yet">
          A tenant has the agents, numbers and calls of one business.{' '}
          <a href="/docs/getting-started">Make the first one</a>
        </EmptyState>
      )}
    </Page>
  )
}
