import { NativeSelect, Textarea } from '@mantine/core'
import type { Form } from '../../components/modal-form.tsx'
import { words } from '../../components/text.ts'
import type { Queue } from './queue-queries.ts'
import type { Task } from './task-queries.ts'
import { PRIORITIES } from './task-status.tsx'

/** The queue that every tenant has. */
export const DEFAULT_QUEUE = 'default'
const SUMMARY_CHARS = 2_000

/** What a callback is about. */
export function SummaryField({ form: { values, set, fault } }: { form: Form<{ summary: string }> }) {
  return (
    <Textarea
      label="What is wanted"
      rows={3}
      maxLength={SUMMARY_CHARS}
      value={values.summary}
      error={fault('summary')}
      onChange={(event) => set({ summary: event.currentTarget.value })}
    />
  )
}

type QueueFieldProps = {
  form: Form<{ queue_key: string }>
  queues: Queue[]
  /** Keys of queues that are to be chosen too, whether or not they are known. */
  others: string[]
  /** Why the queues are not known, if they could not be read. */
  unread?: string | undefined
}

/** Who is to see to it. */
export function QueueField({ form: { values, set, fault }, queues, others, unread }: QueueFieldProps) {
  return (
    <NativeSelect
      label="Queue"
      data={choicesOf(queues, others)}
      value={values.queue_key}
      error={fault('queue_key') ?? unread}
      onChange={(event) => set({ queue_key: event.currentTarget.value })}
    />
  )
}

type Choice = { value: string; label: string }

/** Those that are known, and before them those others. */
function choicesOf(queues: Queue[], others: string[]): Choice[] {
  const known = queues.map(({ queue_key: value, name }) => ({ value, label: name ?? value }))
  const unknown = [...new Set(others)].filter((value) => !known.some((choice) => choice.value === value))
  return [...unknown.map((value) => ({ value, label: value })), ...known]
}

/** How urgent it is. */
export function PriorityField({ form: { values, set, fault } }: { form: Form<Pick<Task, 'priority'>> }) {
  return (
    <NativeSelect
      label="Priority"
      data={PRIORITIES.map((value) => ({ value, label: words(value) }))}
      value={values.priority}
      error={fault('priority')}
      onChange={(event) => set({ priority: event.currentTarget.value as Task['priority'] })}
    />
  )
}
