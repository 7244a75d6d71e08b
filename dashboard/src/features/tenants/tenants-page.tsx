import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { EmptyState } from '../../components/empty-state.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { DASH, phoneText } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { createTenant, listTenants, TENANTS_KEY, type TenantRow } from './tenant-queries.ts'

/** All tenants of the installation. */
export function TenantsPage() {
  const list = useList({ queryKey: [...TENANTS_KEY, 'list'], part: listTenants })
  return (
    <ListPage
      title="Tenants"
      description="Each has agents, numbers and calls of its own."
      actions={<NewTenant />}
      list={list}
      columns={COLUMNS}
      keyOf={({ tenant_id }) => tenant_id}
      empty={<EmptyState title="No tenants yet">Make one for each business that calls are answered for.</EmptyState>}
    />
  )
}

const COLUMNS: Column<TenantRow>[] = [
  {
    name: 'Tenant',
    isWritten: true,
    cell: ({ tenant_id, config }) => (
      <RowLink to="/t/$tenantId/settings" params={{ tenantId: tenant_id }}>
        {config.name ?? tenant_id}
      </RowLink>
    ),
  },
  { name: 'Id', isWritten: true, cell: ({ tenant_id }) => <span className="mono">{tenant_id}</span> },
  {
    name: 'Calls from',
    from: 'tablet',
    cell: ({ config }) => <span className="numbers">{phoneText(config.telephony?.from_number)}</span>,
  },
  { name: 'Model', isWritten: true, from: 'desktop', cell: ({ config }) => config.model ?? DASH },
  { name: 'Prompt', isWritten: true, from: 'desktop', cell: ({ config }) => config.system_prompt_key ?? DASH },
]

function NewTenant() {
  const client = useQueryClient()
  const navigate = useNavigate()

  async function create(values: { tenant_id: string; name: string }, isOpen: () => boolean): Promise<void> {
    await createTenant(values)
    await client.invalidateQueries({ queryKey: TENANTS_KEY })
    if (isOpen()) await navigate({ to: '/t/$tenantId/settings', params: { tenantId: values.tenant_id } })
  }

  return (
    <ModalForm label="New tenant" submit="Create the tenant" initial={{ tenant_id: '', name: '' }} onSubmit={create}>
      {({ values, set, fault }) => (
        <>
          <TextInput
            label="Id"
            description="Small letters, digits, - and _. It stays."
            required
            pattern="[a-z0-9][a-z0-9_\-]{0,62}"
            value={values.tenant_id}
            error={fault('tenant_id')}
            onChange={(event) => set({ tenant_id: event.currentTarget.value })}
          />
          <TextInput
            label="Name"
            value={values.name}
            error={fault('name')}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
        </>
      )}
    </ModalForm>
  )
}
