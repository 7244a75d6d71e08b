import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useList } from '../../components/use-list.ts'
import { useSecrets } from '../../components/use-secrets.tsx'
import { type ApiKey, createKey, keysKey, listKeys, revokeKey } from './people-queries.ts'

/** The keys of a tenant's programs. */
export function KeysPanel({ tenantId }: { tenantId: string }) {
  const hint = 'Copy the key now: it is shown here and never again.'
  const tokens = useSecrets({ label: 'API key', hint, tenantId })
  const mayChange = useMay('admin')
  const client = useQueryClient()
  const list = useList({ queryKey: keysKey(tenantId), part: (cursor) => listKeys(tenantId, cursor) })
  const reread = () => client.invalidateQueries({ queryKey: keysKey(tenantId) })

  async function create({ label }: { label: string }): Promise<void> {
    tokens.show(await createKey(tenantId, label), label)
    await reread()
  }

  return (
    <ListPanel
      title="API keys"
      aside={mayChange && <NewKey onCreate={create} />}
      list={list}
      columns={mayChange ? [...COLUMNS, actionsColumn(tenantId, reread)] : COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No keys yet">
          {mayChange ? 'Make one for each program that calls the API.' : 'An admin of the tenant makes them.'}
        </EmptyState>
      }
    >
      {tokens.shown}
    </ListPanel>
  )
}

const COLUMNS: Column<ApiKey>[] = [
  { name: 'Label', isWritten: true, cell: ({ label }) => label },
  { name: 'Begins with', from: 'tablet', cell: ({ key_prefix }) => <span className="mono">{key_prefix}</span> },
  {
    name: 'Status',
    cell: ({ revoked_at }) => (
      <StatusBadge tone={revoked_at === null ? 'good' : 'quiet'}>
        {revoked_at === null ? 'Active' : 'Revoked'}
      </StatusBadge>
    ),
  },
  { name: 'Used', from: 'tablet', cell: ({ last_used_at }) => <Instant at={last_used_at} /> },
  { name: 'Made', from: 'desktop', cell: ({ created_at }) => <Instant at={created_at} /> },
]

function actionsColumn(tenantId: string, reread: () => Promise<void>): Column<ApiKey> {
  return {
    name: 'Actions',
    isActions: true,
    cell: (key) => (
      <RowButtons>
        {key.revoked_at === null && (
          <ConfirmAction
            label="Revoke"
            about={key.label}
            size="xs"
            isGrave
            onConfirm={() => revokeKey(tenantId, key).then(reread)}
          >
            Whoever uses “{key.label}” is refused from now on. It cannot be taken back.
          </ConfirmAction>
        )}
      </RowButtons>
    ),
  }
}

function NewKey({ onCreate }: { onCreate: (values: { label: string }) => Promise<void> }) {
  return (
    <ModalForm label="New key" submit="Make the key" initial={{ label: '' }} size="xs" onSubmit={onCreate}>
      {({ values, set, fault }) => (
        <TextInput
          label="Label"
          description="Which program it is for."
          required
          value={values.label}
          error={fault('label')}
          onChange={(event) => set({ label: event.currentTarget.value })}
        />
      )}
    </ModalForm>
  )
}
