import { Select } from '@mantine/core'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import { useCurrentTenant, useTenants } from '../api/tenants.ts'

const OF_TENANT = '/t/$tenantId'

/** All tenants, to be found by their names. It is open when it comes. */
export function TenantChoice() {
  const choices = useTenants()
  const current = useCurrentTenant()
  const navigate = useNavigate()
  const to = useRouterState({ select: ({ matches }) => listOf(matches.at(-1)?.fullPath ?? '') })
  const input = useRef<HTMLInputElement>(null)
  // Whoever has opened it writes, or walks with the arrows, as in a list that was there before: from when it is drawn.
  useLayoutEffect(() => input.current?.focus(), [])

  return (
    <Select
      ref={input}
      size="sm"
      aria-label="Tenant"
      placeholder="Tenant"
      searchable
      defaultDropdownOpened
      selectFirstOptionOnChange
      allowDeselect={false}
      nothingFoundMessage="No tenant is called so"
      data={choices?.map(({ tenantId, name }) => ({ value: tenantId, label: name })) ?? []}
      value={current}
      // What is typed takes the place of the name.
      onFocus={(event) => event.currentTarget.select()}
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
