import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { LOCALE } from '../../components/locale.ts'
import { Note } from '../../components/note.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
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

type Kind = { table: 'billing_outbox' | 'notification_outbox'; outbox: Outbox; title: string }

const KINDS: Kind[] = [
  { table: 'billing_outbox', outbox: 'billing-outcomes', title: 'Billing outcomes that were given up' },
  { table: 'notification_outbox', outbox: 'notifications', title: 'Mails that were given up' },
]
const REFRESH_MS = 10_000

/** What was not delivered until the last attempt, for as long as there is any. */
export function GivenUpPanels() {
  const depths = useQuery(depthsQuery)
  const client = useQueryClient()
  const [told, setTold] = useState('')

  const resend: Resend = useCallback(
    async (outbox, wanted) => {
      const sent = await sendAgain(outbox, wanted)
      setTold(sent === 1 ? 'One is sent again.' : `${sent.toLocaleString(LOCALE)} are sent again.`)
      await client.invalidateQueries({ queryKey: DIAGNOSTICS_KEY })
    },
    [client],
  )

  const isThere = ({ table }: Kind) => depths.data?.some((depth) => depth.table === table && depth.failed > 0)
  return (
    <>
      {told !== '' && (
        <output>
          <Note>{told}</Note>
        </output>
      )}
      {KINDS.filter(isThere).map((kind) => (
        <GivenUpPanel key={kind.table} kind={kind} resend={resend} />
      ))}
    </>
  )
}

type Resend = (outbox: Outbox, wanted: Wanted) => Promise<void>

function GivenUpPanel({ kind: { outbox, title }, resend }: { kind: Kind; resend: Resend }) {
  const list = useList({
    queryKey: givenUpKey(outbox),
    part: (cursor) => listGivenUp(outbox, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ id }) => id },
  })
  const columns = useMemo(() => [...COLUMNS, actionsColumn((id) => resend(outbox, { ids: [id] }))], [outbox, resend])
  return (
    <ListPanel
      title={title}
      aside={
        <ConfirmAction label="Send all again" size="xs" onConfirm={() => resend(outbox, { status: 'failed' })}>
          All of them, also what is not in the list yet, with the same ids and bodies; 10,000 at most.
        </ConfirmAction>
      }
      list={list}
      columns={columns}
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
      <TenantName tenantId={tenantId} />
    </Link>
  )
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function actionsColumn(resend: (id: string) => Promise<void>): Column<GivenUp> {
  return {
    name: 'Actions',
    isActions: true,
    cell: ({ id }) => (
      <RowButtons>
        <ConfirmAction label="Send again" about={id} size="xs" onConfirm={() => resend(id)}>
          With the same id and body.
        </ConfirmAction>
      </RowButtons>
    ),
  }
}
