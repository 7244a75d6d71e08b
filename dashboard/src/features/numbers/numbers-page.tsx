import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { DASH, phoneText } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { NumberForm } from './number-form.tsx'
import { deleteNumber, listNumbers, numbersKey, type PhoneRoute } from './number-queries.ts'

/** The numbers of a tenant, and who answers each. */
export function NumbersPage() {
  const tenantId = useTenant()
  const mayChange = useMay('admin')
  const list = useList({
    queryKey: [...numbersKey(tenantId), 'list'],
    part: (cursor) => listNumbers(tenantId, cursor),
  })
  return (
    <ListPage
      title="Numbers"
      description="Which agent answers which number."
      actions={mayChange && <NumberForm tenantId={tenantId} route={null} />}
      list={list}
      columns={mayChange ? [...COLUMNS, actionsColumn(tenantId)] : COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No numbers yet">
          {mayChange
            ? 'Add a number of your carrier account and say which agent answers it.'
            : 'An admin of the tenant adds them.'}
        </EmptyState>
      }
    />
  )
}

const COLUMNS: Column<PhoneRoute>[] = [
  { name: 'Number', cell: ({ phone_number }) => <span className="numbers">{phoneText(phone_number)}</span> },
  { name: 'Agent', isWritten: true, cell: ({ agent_key }) => <span className="mono">{agent_key}</span> },
  { name: 'Label', isWritten: true, from: 'tablet', cell: ({ label }) => label || DASH },
  {
    name: 'Incoming',
    from: 'tablet',
    cell: ({ inbound_enabled: isOn }) => (
      <StatusBadge tone={isOn ? 'good' : 'quiet'}>{isOn ? 'Answered' : 'Off'}</StatusBadge>
    ),
  },
  {
    name: 'Outgoing',
    from: 'desktop',
    cell: ({ outbound_default }) => (outbound_default ? 'Calls come from it' : DASH),
  },
]

function actionsColumn(tenantId: string): Column<PhoneRoute> {
  return {
    name: 'Actions',
    isActions: true,
    cell: (route) => (
      <RowButtons>
        <NumberForm tenantId={tenantId} route={route} />
        <DeleteNumber route={route} />
      </RowButtons>
    ),
  }
}

function DeleteNumber({ route }: { route: PhoneRoute }) {
  const client = useQueryClient()
  async function remove(): Promise<void> {
    await deleteNumber(route)
    await client.invalidateQueries({ queryKey: numbersKey(route.tenant_id) })
  }
  return (
    <ConfirmAction label="Delete" about={phoneText(route.phone_number)} size="xs" isGrave onConfirm={remove}>
      Nobody answers {phoneText(route.phone_number)} any more. At the carrier nothing changes.
    </ConfirmAction>
  )
}
