import { Textarea, TextInput } from '@mantine/core'
import { unreadFault } from '../../components/fault-at.ts'
import { Fields } from '../../components/fields.tsx'
import { LAST_MINUTE } from '../../components/local-time.ts'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import { phoneText } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { listQueues } from './queue-queries.ts'
import { Keyed } from './shortcuts.tsx'
import { changedOver, draftOf, editTask, type TaskDraft } from './task-edit.ts'
import { DEFAULT_QUEUE, PriorityField, QueueField, SummaryField } from './task-fields.tsx'
import { deskKey, readTask, type Task } from './task-queries.ts'

const NOTES_CHARS = 10_000
const TICKET_ID_CHARS = 200
const TICKET_URL_CHARS = 2_000

type EditTaskProps = {
  tenantId: string
  task: Task
  act: (run: () => Promise<Task>) => Promise<unknown>
}

/** Something of it is to be otherwise. What others change of it meanwhile is not written over unseen. */
export function EditTask({ tenantId, task, act }: EditTaskProps) {
  const newer = {
    read: async () => draftOf(await readTask(tenantId, task.id)),
    shown: (written: TaskDraft, stored: TaskDraft) => {
      const { known: _known, ...fields } = changedOver(written, stored)
      return fields
    },
    over: changedOver,
  }
  return (
    <Keyed letter="e" says="Edit it">
      <ModalForm
        label="Edit"
        about={phoneText(task.customer_phone)}
        submit="Save the task"
        variant="default"
        initial={draftOf(task)}
        newer={newer}
        onSubmit={(draft) => act(() => editTask(tenantId, task.id, draft))}
      >
        {(form) => <EditedFields form={form} tenantId={tenantId} />}
      </ModalForm>
    </Keyed>
  )
}

function EditedFields({ form, tenantId }: { form: Form<TaskDraft>; tenantId: string }) {
  const { values, set, fault } = form
  const queues = useList({
    queryKey: [...deskKey(tenantId), 'queues'],
    part: (cursor) => listQueues(tenantId, cursor),
  })
  return (
    <>
      <SummaryField form={form} />
      <Textarea
        label="Notes"
        rows={3}
        maxLength={NOTES_CHARS}
        value={values.notes}
        error={fault('notes')}
        onChange={(event) => set({ notes: event.currentTarget.value })}
      />
      <Fields>
        <QueueField
          form={form}
          queues={queues.rows ?? []}
          others={[values.known.queue_key, DEFAULT_QUEUE]}
          unread={unreadFault({ data: queues.rows, error: queues.error }, 'The queues')}
        />
        <PriorityField form={form} />
        <TextInput
          label="To be called"
          description="In your own time. Empty: as soon as possible."
          type="datetime-local"
          max={LAST_MINUTE}
          value={values.due_at}
          error={fault('due_at')}
          onChange={(event) => set({ due_at: event.currentTarget.value })}
        />
        <TextInput
          label="To be done by"
          description="In your own time. Empty, or with another queue or time to be called: as the queue is set."
          type="datetime-local"
          max={LAST_MINUTE}
          value={values.sla_due_at}
          error={fault('sla_due_at')}
          onChange={(event) => set({ sla_due_at: event.currentTarget.value })}
        />
      </Fields>
      <TicketFields form={form} />
    </>
  )
}

function TicketFields({ form: { values, set, fault } }: { form: Form<TaskDraft> }) {
  return (
    <Fields>
      <TextInput
        label="Ticket"
        description="Its id, which the task follows. Empty: none."
        maxLength={TICKET_ID_CHARS}
        required={values.ticket_url.trim() !== ''}
        value={values.ticket_id}
        error={fault('metadata')}
        onChange={(event) => set({ ticket_id: event.currentTarget.value })}
      />
      <TextInput
        label="Address of the ticket"
        description="A link where it begins with https:// or http://."
        inputMode="url"
        maxLength={TICKET_URL_CHARS}
        value={values.ticket_url}
        onChange={(event) => set({ ticket_url: event.currentTarget.value })}
      />
    </Fields>
  )
}
