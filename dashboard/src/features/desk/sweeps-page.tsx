import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Column as Below, Buttons } from '../../components/fields.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { DASH, words } from '../../components/text.ts'
import { SWEEPS, type SweepResult, type SweptTask } from './sweep-queries.ts'
import { deskKey } from './task-queries.ts'

/** What otherwise happens by itself, now, for administrators. */
export function SweepsPage() {
  const tenantId = useTenant()
  const client = useQueryClient()
  const [done, setDone] = useState<{ name: string; result: SweepResult } | null>(null)
  return (
    <Page
      title="Sweeps"
      description="Do now what the service does by itself every now and then. Each is of all tenants."
      above={
        <BackLink to="/t/$tenantId/desk" params={{ tenantId }}>
          Desk
        </BackLink>
      }
    >
      <Buttons>
        {SWEEPS.map(({ name, says, isGrave, run }) => (
          <ConfirmAction
            key={name}
            label={name}
            isGrave={isGrave}
            onConfirm={async () => {
              setDone({ name, result: await run() })
              await client.invalidateQueries({ queryKey: deskKey(tenantId) })
            }}
          >
            {says}
          </ConfirmAction>
        ))}
      </Buttons>
      {done ? (
        <Swept {...done} />
      ) : (
        <EmptyState title="Nothing has been done from here yet">
          What comes of a sweep stands here, task by task.
        </EmptyState>
      )}
    </Page>
  )
}

function Swept({ name, result: { items, failures } }: { name: string; result: SweepResult }) {
  return (
    <Panel title={name} aside={items.length === 1 ? 'One task' : `${items.length} tasks`}>
      <Below>
        {items.length === 0 && <EmptyState title="There was nothing to do">No task is like that now.</EmptyState>}
        {items.length > 0 && (
          <ListTable label={name} columns={COLUMNS} rows={items} keyOf={({ task_id: id, outcome }) => id + outcome} />
        )}
        {failures.map(({ tenant_id: tenant, task_id: task, error }) => (
          <p key={tenant + task + error} role="alert">
            {tenant}: {error}
          </p>
        ))}
      </Below>
    </Panel>
  )
}

const COLUMNS: Column<SweptTask>[] = [
  { name: 'Tenant', cell: ({ tenant_id: tenant }) => tenant },
  { name: 'Queue', from: 'tablet', cell: ({ queue_key: queue }) => queue },
  {
    name: 'What came of it',
    cell: ({ tenant_id: tenantId, task_id: taskId, outcome }) => (
      <Link to="/t/$tenantId/desk/tasks/$taskId" params={{ tenantId, taskId }}>
        {words(outcome)}
      </Link>
    ),
  },
  { name: 'Why', cell: ({ code, reason }) => reason ?? code ?? DASH },
]
