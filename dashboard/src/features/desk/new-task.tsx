import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRepeatable } from '../../api/use-repeatable.ts'
import { Fields } from '../../components/fields.tsx'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { words } from '../../components/text.ts'
import type { Queue } from './queue-queries.ts'
import { Keyed } from './shortcuts.tsx'
import { createTask, deskKey, type NewTaskValues, type Task, taskKey } from './task-queries.ts'
import { PRIORITIES } from './task-status.tsx'

/** The queue that every tenant has. */
const DEFAULT_QUEUE = 'default'
const SUMMARY_CHARS = 2_000
const CHANGED =
  'The task may have been made as it was before this was changed: look for it in the list. Press again to make this one as well.'

type NewTaskProps = {
  tenantId: string
  queues: Queue[]
  /** What somebody has written as the queue to look at. */
  asked: string | undefined
}

/** Notes that somebody is to be called back, and leads to the task. It begins in the queue that is looked at. */
export function NewTask({ tenantId, queues, asked }: NewTaskProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const sendOnce = useRepeatable(CHANGED)
  const queue = queues.find(({ queue_key: key }) => key === asked)?.queue_key ?? DEFAULT_QUEUE
  const initial: NewTaskValues = {
    ...{ customer_phone: '', summary: '', queue_key: queue, priority: 'normal', due_at: '', consent: false },
  }

  async function make(values: NewTaskValues): Promise<void> {
    const task = await sendOnce((key) => createTask(tenantId, values, key))
    void client.invalidateQueries({ queryKey: deskKey(tenantId) })
    client.setQueryData(taskKey(tenantId, task.id), task)
    await navigate({ to: '/t/$tenantId/desk/tasks/$taskId', params: { tenantId, taskId: task.id } })
  }

  return (
    <Keyed letter="m" says="Make a task">
      <ModalForm label="New task" submit="Make the task" variant="default" initial={initial} onSubmit={make}>
        {(form) => <TaskFields form={form} queues={choicesOf(queues)} />}
      </ModalForm>
    </Keyed>
  )
}

type Choice = { value: string; label: string }

function choicesOf(queues: Queue[]): Choice[] {
  const known = queues.map(({ queue_key: value, name }) => ({ value, label: name ?? value }))
  const hasDefault = known.some(({ value }) => value === DEFAULT_QUEUE)
  return hasDefault ? known : [{ value: DEFAULT_QUEUE, label: DEFAULT_QUEUE }, ...known]
}

function TaskFields({ form: { values, set, fault }, queues }: { form: Form<NewTaskValues>; queues: Choice[] }) {
  return (
    <>
      <TextInput
        data-autofocus
        label="Customer's number"
        description="With the country: +12025550123"
        type="tel"
        required
        value={values.customer_phone}
        error={fault('customer_phone')}
        onChange={(event) => set({ customer_phone: event.currentTarget.value })}
      />
      <Textarea
        label="What is wanted"
        rows={3}
        maxLength={SUMMARY_CHARS}
        value={values.summary}
        error={fault('summary')}
        onChange={(event) => set({ summary: event.currentTarget.value })}
      />
      <Fields>
        <NativeSelect
          label="Queue"
          data={queues}
          value={values.queue_key}
          error={fault('queue_key')}
          onChange={(event) => set({ queue_key: event.currentTarget.value })}
        />
        <NativeSelect
          label="Priority"
          data={PRIORITIES.map((value) => ({ value, label: words(value) }))}
          value={values.priority}
          error={fault('priority')}
          onChange={(event) => set({ priority: event.currentTarget.value as Task['priority'] })}
        />
      </Fields>
      <TextInput
        label="To be called"
        description="In your own time. Empty: as soon as possible."
        type="datetime-local"
        value={values.due_at}
        error={fault('due_at')}
        onChange={(event) => set({ due_at: event.currentTarget.value })}
      />
      <Checkbox
        label="They agreed to be called"
        description="Where the tenant calls only with consent, agents call nobody else."
        checked={values.consent}
        onChange={(event) => set({ consent: event.currentTarget.checked })}
      />
    </>
  )
}
