import { Checkbox } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { tenantKey, useTenant } from '../../api/tenants.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { Column } from '../../components/fields.tsx'
import { TenantForm } from './tenant-form.tsx'
import { deleteTenant, TENANTS_KEY, tenantQuery } from './tenant-queries.ts'

/** How a tenant is set up. */
export function TenantPage() {
  const tenantId = useTenant()
  const { data, error, refetch } = useQuery(tenantQuery(tenantId))
  const mayChange = useMay('admin')
  const mayDelete = useMay('administrator')
  return (
    <DetailPage
      title={{ name: data?.config.name ?? tenantId }}
      above={null}
      description={
        <>
          <span className="mono">{tenantId}</span>
          {!mayChange && ' · Administrators can change this'}
        </>
      }
      actions={mayDelete && data && <DeleteTenant tenantId={tenantId} />}
      thing={data}
      error={error}
      onRetry={() => void refetch()}
    >
      {(tenant) => <TenantForm tenant={tenant} />}
    </DetailPage>
  )
}

function DeleteTenant({ tenantId }: { tenantId: string }) {
  const [force, setForce] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()

  async function remove(isOpen: () => boolean): Promise<void> {
    await deleteTenant(tenantId, force)
    if (isOpen()) await navigate({ to: '/tenants', ignoreBlocker: true })
    client.removeQueries({ queryKey: tenantKey(tenantId) })
    await client.invalidateQueries({ queryKey: TENANTS_KEY })
  }

  return (
    <ConfirmAction label="Delete the tenant" isGrave onAsk={() => setForce(false)} onConfirm={remove}>
      <Column>
        <span>Its agents, numbers, people, keys, calls and recordings are gone then. It cannot be taken back.</span>
        <Checkbox
          label="Also end its live calls"
          checked={force}
          onChange={(event) => setForce(event.currentTarget.checked)}
        />
      </Column>
    </ConfirmAction>
  )
}
