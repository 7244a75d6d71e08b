import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRepeatable } from '../../api/use-repeatable.ts'
import { ConsentField } from '../../components/consent-field.tsx'
import { Fields } from '../../components/fields.tsx'
import { LAST_MINUTE } from '../../components/local-time.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { PhoneField } from '../../components/phone-field.tsx'
import type { Queue } from './queue-queries.ts'
import { Keyed } from './shortcuts.tsx'
import { DEFAULT_QUEUE, PriorityField, QueueField, SummaryField } from './task-fields.tsx'
import { createTask, deskKey, type NewTaskValues, taskKey } from './task-queries.ts'

const DOUBT =
  'The task may have been made as it was asked for before: look for it in the list. Press again to make this one as well.'

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
  const repeatable = useRepeatable({ name: `task ${tenantId}`, doubt: DOUBT })
  // Any queue will do, also one that is not known here: the service says what is no key of one.
  const queue = asked ?? DEFAULT_QUEUE
  const initial: NewTaskValues = {
    ...{ customer_phone: '', summary: '', queue_key: queue, priority: 'normal', due_at: '', consent: false },
  }

  async function make(values: NewTaskValues, isOpen: () => boolean): Promise<void> {
    const task = await repeatable.send((key) => createTask(tenantId, values, key))
    void client.invalidateQueries({ queryKey: deskKey(tenantId) })
    client.setQueryData(taskKey(tenantId, task.id), task)
    if (isOpen()) await navigate({ to: '/t/$tenantId/desk/tasks/$taskId', params: { tenantId, taskId: task.id } })
  }

  return (
    <Keyed letter="m" says="Make a task">
      <ModalForm
        label="New task"
        submit="Make the task"
        variant="default"
        initial={initial}
        onSubmit={make}
        onClose={repeatable.leave}
      >
        {(form) => <TaskFields form={form} queues={queues} others={[queue, DEFAULT_QUEUE]} />}
      </ModalForm>
    </Keyed>
  )
}

type TaskFieldsProps = { form: Form<NewTaskValues>; queues: Queue[]; others: string[] }

function TaskFields({ form, queues, others }: TaskFieldsProps) {
  const { values, set, fault } = form
  return (
    <>
      <PhoneField form={form} name="customer_phone" label="Customer's number" />
      <SummaryField form={form} />
      <Fields>
        <QueueField form={form} queues={queues} others={others} />
        <PriorityField form={form} />
      </Fields>
      <TextInput
        label="To be called"
        description="In your own time. Empty: as soon as possible."
        type="datetime-local"
        max={LAST_MINUTE}
        value={values.due_at}
        error={fault('due_at')}
        onChange={(event) => set({ due_at: event.currentTarget.value })}
      />
      <ConsentField form={form} description="Where the tenant calls only with consent, agents call nobody else." />
    </>
  )
}
