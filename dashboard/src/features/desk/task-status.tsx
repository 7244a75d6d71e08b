import { Instant } from '../../components/instant.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { DASH, words } from '../../components/text.ts'
import type { Task } from './task-queries.ts'
import { TimeLeft } from './time-left.tsx'

const TONES: Record<Task['status'], Tone> = {
  ...{ open: 'wait', claimed: 'busy', snoozed: 'quiet' },
  ...{ dispatching: 'busy', completed: 'good', cancelled: 'quiet' },
}

/** All states of a task. */
export const TASK_STATUSES = Object.keys(TONES) as Task['status'][]

const URGENCY: Record<Task['priority'], Tone> = { urgent: 'bad', high: 'wait', normal: 'quiet', low: 'quiet' }

/** From the most urgent on. */
export const PRIORITIES = Object.keys(URGENCY) as Task['priority'][]

/** How far a task has come. */
export function TaskStatus({ status }: Pick<Task, 'status'>) {
  return <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge>
}

/** How urgent it is. */
export function TaskPriority({ priority }: Pick<Task, 'priority'>) {
  return <StatusBadge tone={URGENCY[priority]}>{words(priority)}</StatusBadge>
}

/** By when it is to be done; of one that was put off, until when. */
export function TaskTime({ task }: { task: Task }) {
  if (task.status === 'completed' || task.status === 'cancelled') return <span>{DASH}</span>
  if (task.status === 'snoozed') return <Instant at={task.snoozed_until} />
  return <TimeLeft until={task.sla_due_at} />
}
