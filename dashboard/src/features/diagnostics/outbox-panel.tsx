import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Buttons } from '../../components/fields.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { RunButton } from '../../components/run-button.tsx'
import { type Depth, DIAGNOSTICS_KEY, depthsQuery, sweepBilling } from './diagnostics-queries.ts'

const NAMES: Record<Depth['table'], string> = {
  webhook_outbox: 'Webhooks',
  billing_outbox: 'Billing',
  notification_outbox: 'Mail',
}

const COLUMNS: Column<Depth>[] = [
  { name: 'Outbox', cell: ({ table }) => NAMES[table] },
  { name: 'Waiting', isNumber: true, cell: ({ pending }) => pending },
  { name: 'Delivered', isNumber: true, cell: ({ delivered }) => delivered },
  { name: 'Failed', isNumber: true, cell: ({ failed }) => failed },
]

/** What is waiting to be sent. */
export function OutboxPanel() {
  const query = useQuery(depthsQuery)
  const client = useQueryClient()

  async function sweep(): Promise<string> {
    const { attempted, delivered, failed, rescheduled } = await sweepBilling()
    await client.invalidateQueries({ queryKey: DIAGNOSTICS_KEY })
    return `${attempted} tried: ${delivered} delivered, ${rescheduled} to be tried again, ${failed} failed.`
  }

  return (
    <ReadPanel title="Outboxes" query={query}>
      {(depths) => (
        <>
          <ListTable label="Outboxes" columns={COLUMNS} rows={depths} keyOf={({ table }) => table} />
          <Buttons>
            <RunButton label="Deliver billing outcomes now" onRun={sweep} />
          </Buttons>
        </>
      )}
    </ReadPanel>
  )
}
