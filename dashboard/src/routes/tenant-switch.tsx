import { Select } from '@mantine/core'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { usePerson } from '../api/session.ts'
import { useCurrentTenant, useTenants } from '../api/tenants.ts'
import styles from './tenant-switch.module.css'

const OF_TENANT = '/t/$tenantId'

/** Whose pages these are. An administrator goes to the same page of another tenant here. */
export function TenantSwitch() {
  const { tenantId: own } = usePerson()
  const choices = useTenants()
  const current = useCurrentTenant()
  const navigate = useNavigate()
  const to = useRouterState({ select: ({ matches }) => listOf(matches.at(-1)?.fullPath ?? '') })

  if (own !== null) return <div className={styles.own}>{own}</div>
  return (
    <Select
      size="sm"
      aria-label="Tenant"
      placeholder="Tenant"
      searchable
      allowDeselect={false}
      nothingFoundMessage="No tenant is called so"
      data={choices?.map(({ tenantId, name }) => ({ value: tenantId, label: name })) ?? []}
      value={current}
      onChange={(tenantId) => {
        if (tenantId !== null) void navigate({ to: to as '/t/$tenantId', params: { tenantId } })
      }}
    />
  )
}

/** The page that another tenant has as well: a single thing is of one alone, so its list is shown. */
function listOf(path: string): string {
  if (!path.startsWith(OF_TENANT)) return `${OF_TENANT}/calls`
  const [list = '/calls'] = /^\/[^/$]+/.exec(path.slice(OF_TENANT.length)) ?? []
  return OF_TENANT + list
}
