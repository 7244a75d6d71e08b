import { TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { DASH } from '../../components/text.ts'
import type { List } from '../../components/use-list.ts'
import type { Queue } from './queue-queries.ts'
import { TimeLeft } from './time-left.tsx'

/** The queues, and what waits in each. */
export function QueuesPanel({ tenantId, list }: { tenantId: string; list: List<Queue> }) {
  const maySet = useMay('admin')
  return (
    <ListPanel
      title="Queues"
      aside={maySet && <NewQueue tenantId={tenantId} />}
      list={list}
      columns={columnsOf(tenantId)}
      keyOf={({ queue_key: key }) => key}
      empty={<EmptyState title="No queues yet">A queue is there as soon as a task names it.</EmptyState>}
    />
  )
}

/** Any key is a queue. */
function NewQueue({ tenantId }: { tenantId: string }) {
  const navigate = useNavigate()
  return (
    <ModalForm
      label="Set up a queue"
      submit="Go on"
      variant="default"
      size="xs"
      initial={{ key: '' }}
      onSubmit={({ key: queueKey }) =>
        navigate({ to: '/t/$tenantId/desk/queues/$queueKey', params: { tenantId, queueKey } })
      }
    >
      {({ values, set }) => (
        <TextInput
          data-autofocus
          label="Key"
          description="Lower-case letters, digits, - and _"
          required
          pattern="[a-z0-9][a-z0-9_\-]{0,62}"
          value={values.key}
          onChange={(event) => set({ key: event.currentTarget.value })}
        />
      )}
    </ModalForm>
  )
}

function columnsOf(tenantId: string): Column<Queue>[] {
  return [
    {
      name: 'Queue',
      cell: ({ queue_key: key, name, depth }) => (
        <>
          <Link
            to="/t/$tenantId/desk"
            params={{ tenantId }}
            // Of what nobody has to claim any more, the rest.
            search={depth > 0 ? { queue_key: key, status: 'open' } : { queue_key: key }}
          >
            {name ?? key}
          </Link>
          <Beneath until="desktop">
            <SettingsLink tenantId={tenantId} queueKey={key} />
          </Beneath>
        </>
      ),
    },
    {
      name: 'Open',
      isNumber: true,
      cell: (queue) => (
        <>
          {queue.depth}
          {queue.breached > 0 && (
            <Beneath>
              <LateLink tenantId={tenantId} queue={queue} text={`${queue.breached} late`} />
            </Beneath>
          )}
        </>
      ),
    },
    { name: 'Oldest', from: 'desktop', cell: ({ oldest }) => <Instant at={oldest} /> },
    {
      name: 'Late',
      from: 'tablet',
      cell: (queue) =>
        queue.breached === 0 ? DASH : <LateLink tenantId={tenantId} queue={queue} text={String(queue.breached)} />,
    },
    {
      name: 'Next to be late',
      // While a queue is closed its clock stands, and nothing becomes late.
      cell: ({ next_breach: next, business_hours: hours }) =>
        next === null ? DASH : <TimeLeft until={next} over={hours.length > 0 ? 'When it opens' : undefined} />,
    },
    {
      name: 'Settings',
      from: 'desktop',
      cell: ({ queue_key: queueKey }) => <SettingsLink tenantId={tenantId} queueKey={queueKey} />,
    },
  ]
}

type LateLinkProps = { tenantId: string; queue: Queue; text: string }

/** Somebody may have claimed them, or an agent may be calling. They stand first. */
function LateLink({ tenantId, queue: { queue_key: key, name, breached }, text }: LateLinkProps) {
  return (
    <Link
      to="/t/$tenantId/desk"
      params={{ tenantId }}
      search={{ queue_key: key }}
      aria-label={`${breached} late of ${name ?? key}`}
    >
      <StatusBadge tone="bad">{text}</StatusBadge>
    </Link>
  )
}

function SettingsLink({ tenantId, queueKey }: { tenantId: string; queueKey: string }) {
  return (
    <Link to="/t/$tenantId/desk/queues/$queueKey" params={{ tenantId, queueKey }}>
      <span className="unseen">{queueKey}: </span>Settings
    </Link>
  )
}
