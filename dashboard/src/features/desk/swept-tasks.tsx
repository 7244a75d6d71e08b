import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Column as Below } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { LOCALE } from '../../components/locale.ts'
import { Panel } from '../../components/panel.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
import { DASH, words } from '../../components/text.ts'
import type { SweepFailure, SweepResult, SweptTask } from './sweep-queries.ts'
import styles from './swept-tasks.module.css'

/** What came of a sweep: its counts, its tasks, and what it could not do. */
export function SweptTasks({ name, result: { counts, items, failures } }: { name: string; result: SweepResult }) {
  return (
    <Panel title={name} aside={items.length === 1 ? 'One task' : `${items.length} tasks`}>
      <Below>
        <Facts facts={counts.map(([count, value]) => [words(count), value.toLocaleString(LOCALE)])} />
        {items.length === 0 && <EmptyState title="There was nothing to do">No task is like that now.</EmptyState>}
        {items.length > 0 && (
          <ListTable label={name} columns={COLUMNS} rows={items} keyOf={({ task_id: id, outcome }) => id + outcome} />
        )}
        {failures.map((failure) => (
          <Failed key={failure.tenant_id + failure.task_id + failure.error} failure={failure} />
        ))}
      </Below>
    </Panel>
  )
}

function Failed({ failure: { tenant_id: tenantId, task_id: taskId, error } }: { failure: SweepFailure }) {
  return (
    <p role="alert">
      <TenantName tenantId={tenantId} />: {error}{' '}
      {taskId !== undefined && (
        <Link to="/t/$tenantId/desk/tasks/$taskId" params={{ tenantId, taskId }}>
          The task
        </Link>
      )}
    </p>
  )
}

const COLUMNS: Column<SweptTask>[] = [
  { name: 'Tenant', cell: ({ tenant_id: tenantId }) => <TenantName tenantId={tenantId} /> },
  { name: 'Queue', from: 'tablet', cell: ({ queue_key: queue }) => queue },
  { name: 'What came of it', cell: (task) => <Outcome task={task} /> },
  { name: 'Details', from: 'tablet', cell: (task) => <Details task={task} /> },
  { name: 'Why', cell: (task) => <Why task={task} /> },
]

function Outcome({ task }: { task: SweptTask }) {
  const { tenant_id: tenantId, task_id: taskId, queue_key: queue, outcome } = task
  return (
    <>
      <Link to="/t/$tenantId/desk/tasks/$taskId" params={{ tenantId, taskId }}>
        {words(outcome)}
      </Link>
      <Beneath>
        <Detail name="Queue">{queue}</Detail>
        {detailsOf(task)}
      </Beneath>
    </>
  )
}

function Details({ task }: { task: SweptTask }) {
  const details = detailsOf(task)
  return details.length > 0 ? details : DASH
}

function Why({ task: { code, reason } }: { task: SweptTask }) {
  if (reason === undefined && code === undefined) return DASH
  return (
    <>
      {reason !== undefined && <div>{reason}</div>}
      {code !== undefined && <div className="mono">{code}</div>}
    </>
  )
}

/** What a sweep tells of a task beside its outcome; null is told of what nobody has, and of what is not there. */
function detailsOf(task: SweptTask): ReactNode[] {
  const { tenant_id: tenantId, call_sid: callSid, ticket_id: ticket, ticket_status: ticketStatus } = task
  const call = callSid && (
    <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
      {callSid}
    </Link>
  )
  const all: [name: string, value: ReactNode][] = [
    ['Was to be done by', task.sla_due_at && <Instant at={task.sla_due_at} />],
    ['Was put off until', task.snoozed_until && <Instant at={task.snoozed_until} />],
    ['Claimed by', task.assigned_to],
    ['Priority', task.priority && words(task.priority)],
    ['Escalated to', task.escalation_target],
    ['Attempt', task.attempt],
    ['Call', call],
    ['Ticket', ticket],
    ['Status of the ticket', ticketStatus],
  ]
  return all.flatMap(([name, value]) => {
    if (value === undefined || value === null || value === '') return []
    return (
      <Detail key={name} name={name}>
        {value}
      </Detail>
    )
  })
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.detail}>
      <span className={styles.name}>{name}</span> <bdi>{children}</bdi>
    </div>
  )
}
