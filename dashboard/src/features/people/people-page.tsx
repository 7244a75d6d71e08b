import { useTenant } from '../../api/tenants.ts'
import { Page } from '../../components/page.tsx'
import { KeysPanel } from './keys-panel.tsx'
import { UsersPanel } from './users-panel.tsx'

/** Who gets into a tenant: its people, and its programs. */
export function PeoplePage() {
  const tenantId = useTenant()
  return (
    <Page title="Users and keys" description="People log in; programs send a key." isInOrder>
      <UsersPanel tenantId={tenantId} />
      <KeysPanel tenantId={tenantId} />
    </Page>
  )
}
