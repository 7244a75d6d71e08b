import { Link, useSearch } from '@tanstack/react-router'
import { useMay, usePerson } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, FilterChoice, FilterText } from '../../components/filters.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { DASH, phoneText } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { ClaimNext, ClaimNextPlace } from './claim-next.tsx'
import styles from './desk.module.css'
import type { DeskFilters } from './desk-filters.ts'
import { NewTask } from './new-task.tsx'
import { listQueues, mostUrgent, type Queue } from './queue-queries.ts'
import { QueuesPanel } from './queues-panel.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { DEFAULT_QUEUE } from './task-fields.tsx'
import { DISPOSITIONS } from './task-moves.ts'
import { deskKey, listTasks, type Task } from './task-queries.ts'
import { PRIORITIES, TASK_STATUSES, TaskPriority, TaskStatus, TaskTime } from './task-status.tsx'

const REFRESH_MS = 10_000

/** What operators work on: the queues of a tenant, and the tasks in them. */
export function DeskPage() {
  const tenantId = useTenant()
  const { name, role } = usePerson()
  const mayAct = useMay('operator')
  const filters: DeskFilters = useSearch({ strict: false })
  const queues = useList({
    queryKey: [...deskKey(tenantId), 'queues'],
    part: (cursor) => listQueues(tenantId, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ queue_key: key }) => key },
  })
  const list = useList({
    queryKey: [...deskKey(tenantId), 'list', filters],
    part: (cursor) => listTasks(tenantId, filters, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ id }) => id },
  })
  return (
    <div className={styles.rows} data-rows>
      <ListPage
        title="Desk"
        description={
          <span className={styles.badges}>
            Who is to be called back.
            <Link to="/t/$tenantId/desk" params={{ tenantId }} search={{ assigned_to: name, status: 'claimed' }}>
              My tasks
            </Link>
            {role === 'administrator' && (
              <Link to="/t/$tenantId/desk/sweeps" params={{ tenantId }}>
                Sweeps
              </Link>
            )}
          </span>
        }
        actions={
          <>
            {mayAct && <NextTask tenantId={tenantId} queues={queues.rows} asked={filters.queue_key} />}
            {mayAct && <NewTask tenantId={tenantId} queues={queues.rows ?? []} asked={filters.queue_key} />}
            <Shortcuts />
          </>
        }
        filters={
          <>
            <QueuesPanel tenantId={tenantId} list={queues} />
            <DeskFilterBar />
          </>
        }
        list={list}
        columns={columnsOf(tenantId)}
        keyOf={({ id }) => id}
        empty={<NoTasks isFiltered={Object.keys(filters).length > 0} />}
      />
    </div>
  )
}

type NextTaskProps = { tenantId: string; queues: Queue[] | undefined; asked: string | undefined }

/** Of the queue that is looked at, else of the one in which it is most urgent. */
function NextTask({ tenantId, queues, asked }: NextTaskProps) {
  const queue = asked === undefined ? mostUrgent(queues ?? []) : queues?.find(({ queue_key: key }) => key === asked)
  const queueKey = queue?.queue_key ?? asked
  if (queueKey === undefined) return queues === undefined ? <ClaimNextPlace queueKey={DEFAULT_QUEUE} /> : null
  // Of one that is not in sight yet it is read.
  const name = queue && (queue.name ?? queueKey)
  return <ClaimNext key={queueKey} tenantId={tenantId} queueKey={queueKey} name={name} />
}

function DeskFilterBar() {
  return (
    <FilterBar>
      <FilterChoice name="status" label="Status" choices={TASK_STATUSES} />
      <FilterChoice name="priority" label="Priority" choices={PRIORITIES} />
      <FilterText name="queue_key" label="Queue" />
      <FilterText name="assigned_to" label="Claimed by" />
      <FilterText name="customer_phone" label="Customer" placeholder="+12025550123" />
      <FilterChoice name="disposition" label="How it went" choices={DISPOSITIONS} />
    </FilterBar>
  )
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title="No task is like that">
        Take a filter away, or look for a status: done tasks are not among those that wait.
      </EmptyState>
    )
  return (
    <EmptyState title="Nobody is to be called back">
      Done ones are found by their status. An agent makes a task when a caller wants to be called back, and so does a
      program of yours. <a href="/docs/operators">How tasks are made</a>
    </EmptyState>
  )
}

function columnsOf(tenantId: string): Column<Task>[] {
  return [
    {
      name: 'Customer',
      cell: ({ id, customer_phone: phone, status, priority, queue_key: queue, assigned_to: whom, summary }) => (
        <>
          <RowLink to="/t/$tenantId/desk/tasks/$taskId" params={{ tenantId, taskId: id }}>
            <span className="numbers">{phoneText(phone)}</span>
          </RowLink>
          <Beneath>
            <span className={styles.badges}>
              <TaskStatus status={status} />
              <TaskPriority priority={priority} />
            </span>
          </Beneath>
          {summary !== null && (
            <Beneath until="desktop">
              <span className={styles.summary} dir="auto">
                {summary}
              </span>
            </Beneath>
          )}
          <Beneath until="desktop">
            <span className={styles.whose}>{whom === null ? queue : `${queue}, claimed by ${whom}`}</span>
          </Beneath>
        </>
      ),
    },
    { name: 'Status', from: 'tablet', cell: (task) => <TaskStatus status={task.status} /> },
    { name: 'Time', cell: (task) => <TaskTime task={task} /> },
    { name: 'Priority', from: 'tablet', cell: (task) => <TaskPriority priority={task.priority} /> },
    { name: 'Queue', isWritten: true, from: 'desktop', cell: ({ queue_key: key }) => key },
    { name: 'Claimed by', isWritten: true, from: 'desktop', cell: ({ assigned_to: whom }) => whom ?? DASH },
    {
      name: 'What is wanted',
      from: 'desktop',
      cell: ({ summary }) => (
        <span className={styles.summary} dir="auto">
          {summary ?? DASH}
        </span>
      ),
    },
  ]
}
