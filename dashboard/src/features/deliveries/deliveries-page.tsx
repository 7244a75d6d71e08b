import { Checkbox } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { Beneath } from '../../components/beneath.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { DottedName } from '../../components/dotted-name.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { FilterBar, FilterChoice, FilterDay, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { Note } from '../../components/note.tsx'
import { useList } from '../../components/use-list.ts'
import { DeliveryDetail } from './delivery-detail.tsx'
import type { DeliveryFilters } from './delivery-filters.ts'
import {
  DELIVERY_STATUSES,
  type Delivery,
  deliveriesKey,
  failedOf,
  listDeliveries,
  redeliver,
} from './delivery-queries.ts'
import { DeliveryStatus } from './delivery-status.tsx'

const REFRESH_MS = 10_000

const NOTHING = { of: '', marked: new Set<string>(), told: '' }

/** What the webhook of a tenant got, and did not get. */
export function DeliveriesPage() {
  const tenantId = useTenant()
  const filters: DeliveryFilters = useSearch({ strict: false })
  // What was marked, and told, in one list is nothing of another: a tenant's, or with other filters.
  const of = JSON.stringify([tenantId, filters])
  const [kept, setKept] = useState(NOTHING)
  if (kept.of !== of) setKept({ ...NOTHING, of })
  const { marked, told } = kept.of === of ? kept : NOTHING
  const mayResend = useMay('admin')
  const client = useQueryClient()
  const list = useList({
    queryKey: [...deliveriesKey(tenantId), filters],
    part: (cursor) => listDeliveries(tenantId, filters, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ id }) => id },
  })

  // Of a list that also holds what did not fail, nothing is known by its first rows.
  const isNoneFailed = list.rows?.length === 0 && (filters.status ?? 'failed') === 'failed'

  async function resend(wanted: Parameters<typeof redeliver>[1]): Promise<void> {
    // Of all that failed: what is marked and has not, is not sent.
    const sent = wanted.ids ?? (list.rows ?? []).flatMap(({ id, status }) => (status === 'failed' ? [id] : []))
    const words = await redeliver(tenantId, wanted)
    // What is marked besides is still to be sent; in another list by now, all that is marked there.
    setKept((now) => (now.of === of ? { of, marked: without(now.marked, sent), told: words } : now))
    await client.invalidateQueries({ queryKey: deliveriesKey(tenantId) })
  }

  function mark(id: string, isMarked: boolean): void {
    const next = new Set(marked)
    if (isMarked) next.add(id)
    else next.delete(id)
    setKept({ of, marked: next, told: '' })
  }

  const actions = (
    <>
      {marked.size > 0 && (
        <ConfirmAction label={`Send ${marked.size} again`} onConfirm={() => resend({ ids: [...marked] })}>
          The same ids and bodies go to the address that is set now.
        </ConfirmAction>
      )}
      {filters.call_sid === undefined && !isNoneFailed && (
        <ConfirmAction label="Send all that failed again" onConfirm={() => resend(failedOf(filters))}>
          Everything that failed of this event and these days, also what is not in the list yet.
        </ConfirmAction>
      )}
    </>
  )
  return (
    <ListPage
      title="Deliveries"
      description="What the webhook got or is to get, newest first."
      actions={mayResend && actions}
      filters={
        <>
          <DeliveryFilterBar />
          {told !== '' && (
            <output>
              <Note>{told}</Note>
            </output>
          )}
        </>
      }
      list={list}
      columns={[...(mayResend ? [markColumn(marked, mark)] : []), ...COLUMNS, actionsColumn(mayResend, resend)]}
      keyOf={({ id }) => id}
      empty={
        Object.keys(filters).length > 0 ? (
          <EmptyState title="None is like that">Take a filter away, or ask for more days.</EmptyState>
        ) : (
          <EmptyState title="Nothing has been sent yet">
            Set the address of a webhook in the{' '}
            <Link to="/t/$tenantId/settings" params={{ tenantId }}>
              settings of the tenant
            </Link>
            ; each call is told to it then.
          </EmptyState>
        )
      }
    />
  )
}

/** What is marked and was not sent. */
function without(marked: Set<string>, sent: string[]): Set<string> {
  const isSent = new Set(sent)
  return new Set([...marked].filter((id) => !isSent.has(id)))
}

function DeliveryFilterBar() {
  return (
    <FilterBar>
      <FilterChoice name="status" label="Status" choices={DELIVERY_STATUSES} />
      <FilterText name="event" label="Event" placeholder="voice.call.completed" />
      <FilterText name="call_sid" label="Call" placeholder="CA…" />
      <FilterDay name="first_day" label="First day" />
      <FilterDay name="last_day" label="Last day" />
    </FilterBar>
  )
}

function markColumn(marked: Set<string>, mark: (id: string, isMarked: boolean) => void): Column<Delivery> {
  return {
    name: 'Mark',
    cell: ({ id, event }) => (
      <Checkbox
        aria-label={`Mark ${event}`}
        checked={marked.has(id)}
        onChange={(change) => mark(id, change.currentTarget.checked)}
      />
    ),
  }
}

const COLUMNS: Column<Delivery>[] = [
  { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
  {
    name: 'Event',
    cell: ({ event, status }) => (
      <>
        <DottedName name={event} />
        <Beneath>
          <DeliveryStatus status={status} />
        </Beneath>
      </>
    ),
  },
  { name: 'Status', from: 'tablet', cell: ({ status }) => <DeliveryStatus status={status} /> },
  { name: 'Attempts', from: 'desktop', isNumber: true, cell: ({ attempts }) => attempts },
  {
    name: 'Last answer',
    from: 'desktop',
    cell: ({ last_status_code: code, last_error }) => last_error ?? code,
  },
]

function actionsColumn(mayResend: boolean, resend: (wanted: { ids: string[] }) => Promise<void>): Column<Delivery> {
  return {
    name: 'Actions',
    isActions: true,
    cell: (delivery) => (
      <RowButtons>
        <DeliveryDetail delivery={delivery} />
        {mayResend && (
          <ConfirmAction
            label="Send again"
            about={delivery.event}
            size="xs"
            onConfirm={() => resend({ ids: [delivery.id] })}
          >
            The same id and body go to the address that is set now.
          </ConfirmAction>
        )}
      </RowButtons>
    ),
  }
}
