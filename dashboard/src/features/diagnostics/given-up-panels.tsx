import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { Note } from '../../components/note.tsx'
import { useList } from '../../components/use-list.ts'
import {
  DIAGNOSTICS_KEY,
  depthsQuery,
  type GivenUp,
  givenUpKey,
  listGivenUp,
  type Outbox,
  sendAgain,
} from './diagnostics-queries.ts'

type Wanted = Parameters<typeof sendAgain>[1]

const OUTBOXES = { billing_outbox: 'billing-outcomes', notification_outbox: 'notifications' } as const
const TITLES: Record<Outbox, string> = {
  'billing-outcomes': 'Billing outcomes that were given up',
  notifications: 'Mails that were given up',
}
const REFRESH_MS = 10_000

/** What was not delivered until the last attempt, for as long as there is any. */
export function GivenUpPanels() {
  const depths = useQuery(depthsQuery)
  const client = useQueryClient()
  const [told, setTold] = useState('')

  async function resend(outbox: Outbox, wanted: Wanted): Promise<void> {
    const sent = await sendAgain(outbox, wanted)
    setTold(sent === 1 ? 'One is sent again.' : `${sent.toLocaleString()} are sent again.`)
    await client.invalidateQueries({ queryKey: DIAGNOSTICS_KEY })
  }

  const failed = depths.data?.filter(({ failed: count }) => count > 0).map(({ table }) => table) ?? []
  return (
    <>
      {told !== '' && (
        <output>
          <Note>{told}</Note>
        </output>
      )}
      {(['billing_outbox', 'notification_outbox'] as const)
        .filter((table) => failed.includes(table))
        .map((table) => (
          <GivenUpPanel key={table} outbox={OUTBOXES[table]} resend={(wanted) => resend(OUTBOXES[table], wanted)} />
        ))}
    </>
  )
}

type GivenUpPanelProps = { outbox: Outbox; resend: (wanted: Wanted) => Promise<void> }

function GivenUpPanel({ outbox, resend }: GivenUpPanelProps) {
  const list = useList({
    queryKey: givenUpKey(outbox),
    part: (cursor) => listGivenUp(outbox, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ id }) => id },
  })
  return (
    <ListPanel
      title={TITLES[outbox]}
      aside={
        <ConfirmAction label="Send all again" size="xs" onConfirm={() => resend({ status: 'failed' })}>
          All of them, also what is not in the list yet, with the same ids and bodies; 10,000 at most.
        </ConfirmAction>
      }
      list={list}
      columns={[...COLUMNS, actionsColumn(resend)]}
      keyOf={({ id }) => id}
      empty={<EmptyState title="None is left">All of them are sent again.</EmptyState>}
    />
  )
}

const COLUMNS: Column<GivenUp>[] = [
  { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
  { name: 'Tenant', cell: ({ tenant_id }) => tenant_id !== null && <TenantLink tenantId={tenant_id} /> },
  { name: 'What', cell: ({ event, body }) => textOf(body['subject']) ?? <span className="mono">{event}</span> },
  { name: 'Attempts', from: 'tablet', isNumber: true, cell: ({ attempts }) => attempts },
  { name: 'Last answer', from: 'desktop', cell: ({ last_status_code: code, last_error }) => last_error ?? code },
]

function TenantLink({ tenantId }: { tenantId: string }) {
  return (
    <Link to="/t/$tenantId" params={{ tenantId }}>
      {tenantId}
    </Link>
  )
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function actionsColumn(resend: (wanted: Wanted) => Promise<void>): Column<GivenUp> {
  return {
    name: 'Actions',
    isActions: true,
    cell: ({ id }) => (
      <RowButtons>
        <ConfirmAction label="Send again" size="xs" onConfirm={() => resend({ ids: [id] })}>
          With the same id and body.
        </ConfirmAction>
      </RowButtons>
    ),
  }
}
