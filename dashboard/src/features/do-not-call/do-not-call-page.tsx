import { Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { FilterBar, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { PhoneField } from '../../components/phone-field.tsx'
import { DASH, phoneText } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { DialCheckPanel } from './dial-check-panel.tsx'
import styles from './do-not-call.module.css'
import { ExportList } from './export-list.tsx'
import { ImportPanel } from './import-panel.tsx'
import type { ListFilters } from './list-filters.ts'
import { addEntry, type Entry, listEntries, listKey, removeEntry } from './list-queries.ts'

/** The numbers that must not be called. */
export function DoNotCallPage() {
  const tenantId = useTenant()
  const { phone }: ListFilters = useSearch({ strict: false })
  const mayChange = useMay('operator')
  const list = useList({
    queryKey: [...listKey(tenantId), phone ?? null],
    part: (cursor) => listEntries(tenantId, phone, cursor),
  })
  return (
    <ListPage
      title="Do not call"
      description="No agent calls these numbers, newest first."
      actions={
        <>
          {mayChange && <AddNumber tenantId={tenantId} />}
          <ExportList tenantId={tenantId} />
        </>
      }
      filters={
        <>
          {mayChange && (
            <div className={styles.tools}>
              <DialCheckPanel tenantId={tenantId} />
              <ImportPanel tenantId={tenantId} />
            </div>
          )}
          <FilterBar>
            <FilterText name="phone" label="Find a number" placeholder="+12025550123" />
          </FilterBar>
        </>
      }
      list={list}
      columns={mayChange ? [...COLUMNS, removal(tenantId)] : COLUMNS}
      keyOf={(entry) => entry.phone}
      empty={<NoEntries phone={phone} />}
    />
  )
}

function AddNumber({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()

  async function add({ phone, reason }: { phone: string; reason: string }): Promise<void> {
    await addEntry(tenantId, phone.trim(), reason.trim())
    await client.invalidateQueries({ queryKey: listKey(tenantId) })
  }

  return (
    <ModalForm label="Add a number" submit="Add" initial={{ phone: '', reason: '' }} onSubmit={add}>
      {(form) => (
        <>
          <PhoneField form={form} name="phone" label="Number" />
          <Textarea
            label="Why"
            rows={2}
            maxLength={2_000}
            value={form.values.reason}
            error={form.fault('reason')}
            onChange={(event) => form.set({ reason: event.currentTarget.value })}
          />
        </>
      )}
    </ModalForm>
  )
}

function NoEntries({ phone }: { phone: string | undefined }) {
  if (phone !== undefined)
    return (
      <EmptyState title="The number is not listed">
        A number is found when it is written in full, with its country: +12025550123.
      </EmptyState>
    )
  return (
    <EmptyState title="Every number may be called">
      Add a number, or import a list. An agent lists a caller who asks not to be called.
    </EmptyState>
  )
}

const COLUMNS: Column<Entry>[] = [
  { name: 'Number', cell: ({ phone }) => <span className="numbers">{phoneText(phone)}</span> },
  {
    name: 'Why',
    cell: ({ reason }) => (
      <span className={styles.reason} dir="auto">
        {reason ?? DASH}
      </span>
    ),
  },
  { name: 'From where', from: 'tablet', cell: ({ source }) => source ?? DASH },
  { name: 'Listed', from: 'tablet', cell: ({ created_at: at }) => <Instant at={at} /> },
]

function removal(tenantId: string): Column<Entry> {
  return { name: 'Remove', isActions: true, cell: ({ phone }) => <RemoveEntry tenantId={tenantId} phone={phone} /> }
}

function RemoveEntry({ tenantId, phone }: { tenantId: string; phone: string }) {
  const client = useQueryClient()

  async function remove(): Promise<void> {
    await removeEntry(tenantId, phone)
    await client.invalidateQueries({ queryKey: listKey(tenantId) })
  }

  return (
    <RowButtons>
      <ConfirmAction label="Remove" about={phoneText(phone)} isGrave size="xs" onConfirm={remove}>
        {phoneText(phone)} may be called again.
      </ConfirmAction>
    </RowButtons>
  )
}
