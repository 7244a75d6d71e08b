import { lazyRouteComponent, Navigate } from '@tanstack/react-router'
import { usePerson } from '../api/session.ts'
import { useTenants } from '../api/tenants.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

const InstallationPage = lazyRouteComponent(
  () => import('../features/overview/installation-page.tsx'),
  'InstallationPage',
)

/** Where somebody arrives: at what calls came to, of all tenants or of their own. */
export function FirstPage() {
  const { tenantId } = usePerson()
  const choices = useTenants()
  if (tenantId !== null) return <Navigate to="/t/$tenantId/overview" params={{ tenantId }} replace />
  if (choices?.length !== 0) return <InstallationPage />
  return (
    <Page title="Welcome to Parley">
      <EmptyState title="There is no tenant yet">
        A tenant has the agents, numbers and calls of one business.{' '}
        <a href="/docs/getting-started">Make the first one</a>
      </EmptyState>
    </Page>
  )
}
