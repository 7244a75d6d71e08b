import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { serviceNow } from '../../api/service-clock.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { LAST_MINUTE } from '../../components/local-time.ts'
import { ModalForm } from '../../components/modal-form.tsx'
import { phoneText, words } from '../../components/text.ts'
import { changesIn, type Edit, editOf, newerOf, writtenOver } from '../../components/written-over.ts'
import { Keyed } from './shortcuts.tsx'
import { DISPOSITIONS, type Disposition, type TaskMoves } from './task-moves.ts'
import { readTask, type Task } from './task-queries.ts'

/** Something that is asked about first. What `act` throws is shown where it was asked. */
export type AskedMove = {
  task: Task
  /** Whether the task is such that it can be done now. What somebody fills in meanwhile stays. */
  isOffered: boolean
  moves: TaskMoves
  act: (run: () => Promise<Task>) => Promise<unknown>
}

const NOTES_CHARS = 10_000
const REASON_CHARS = 2_000
const OPERATOR_CHARS = 254

type Notes = { notes: string }
type Completion = Edit<Notes> & { disposition: Disposition }

/** It is done: how it went, and what there is to know of it. What others write of it meanwhile is not written over unseen. */
export function CompleteTask({ task, moves, act, isOffered }: AskedMove) {
  const notesOf = (known: Task) => editOf<Notes>({ notes: known.notes ?? '' })
  const readNotes = async () => notesOf(await readTask(task.tenant_id, task.id))
  const initial: Completion = { disposition: 'resolved', ...notesOf(task) }

  async function complete(completion: Completion): Promise<Task> {
    const isWritten = Object.keys(changesIn<Notes>(completion)).length > 0
    const notes = isWritten ? writtenOver<Notes>(completion, (await readNotes()).known).notes : null
    return moves.complete(completion.disposition, notes)
  }

  return (
    <Keyed letter="d" says="It is done" isOffered={isOffered}>
      <ModalForm
        label="Complete"
        about={phoneText(task.customer_phone)}
        submit="Complete the task"
        variant={task.status === 'open' ? 'default' : 'filled'}
        initial={initial}
        newer={newerOf<Notes, Completion>(async () => ({ ...initial, ...(await readNotes()) }))}
        onSubmit={(completion) => act(() => complete(completion))}
      >
        {({ values, set, fault }) => (
          <>
            <NativeSelect
              data-autofocus
              label="How it went"
              data={DISPOSITIONS.map((value) => ({ value, label: words(value) }))}
              value={values.disposition}
              error={fault('disposition')}
              onChange={(event) => set({ disposition: event.currentTarget.value as Disposition })}
            />
            <Textarea
              label="Notes"
              rows={5}
              maxLength={NOTES_CHARS}
              value={values.notes}
              error={fault('notes')}
              onChange={(event) => set({ notes: event.currentTarget.value })}
            />
          </>
        )}
      </ModalForm>
    </Keyed>
  )
}

/** It is put off. */
export function SnoozeTask({ task, moves, act, isOffered }: AskedMove) {
  const initial = { minutes: '60', at: '', reason: '' }
  return (
    <Keyed letter="s" says="Snooze it: put it off" isOffered={isOffered}>
      <ModalForm
        label="Snooze"
        about={phoneText(task.customer_phone)}
        submit="Snooze the task"
        variant="default"
        initial={initial}
        onSubmit={({ minutes, at, reason }) => act(() => moves.snooze(instantOf(minutes, at), reason.trim() || null))}
      >
        {({ values, set, fault }) => (
          <>
            <NativeSelect
              data-autofocus
              label="Until"
              data={SPANS}
              value={values.minutes}
              error={values.minutes === '' ? undefined : fault('until')}
              onChange={(event) => set({ minutes: event.currentTarget.value })}
            />
            {values.minutes === '' && (
              <TextInput
                type="datetime-local"
                max={LAST_MINUTE}
                label="Day and time, in your zone"
                required
                value={values.at}
                error={fault('until')}
                onChange={(event) => set({ at: event.currentTarget.value })}
              />
            )}
            <TextInput
              label="Why"
              maxLength={REASON_CHARS}
              value={values.reason}
              error={fault('reason')}
              onChange={(event) => set({ reason: event.currentTarget.value })}
            />
          </>
        )}
      </ModalForm>
    </Keyed>
  )
}

const SPANS = [
  { value: '15', label: 'In a quarter of an hour' },
  { value: '60', label: 'In an hour' },
  { value: '240', label: 'In four hours' },
  { value: '1440', label: 'In a day' },
  { value: '', label: 'At a time of your own' },
]
const MINUTE_MS = 60_000

function instantOf(minutes: string, at: string): string {
  const instant = minutes === '' ? new Date(at) : new Date(serviceNow() + Number(minutes) * MINUTE_MS)
  return instant.toISOString()
}

/** It is given to somebody, whoever has it. */
export function AssignTask({ task, moves, act, isOffered }: AskedMove) {
  return (
    <Keyed letter="g" says="Give it to somebody" isOffered={isOffered}>
      <ModalForm
        label="Assign"
        about={phoneText(task.customer_phone)}
        submit="Assign the task"
        variant="default"
        initial={{ operator: '' }}
        onSubmit={({ operator }) => act(() => moves.assign(operator.trim()))}
      >
        {({ values, set, fault }) => (
          <TextInput
            data-autofocus
            label="To whom"
            description="The e-mail address with which they log in."
            required
            maxLength={OPERATOR_CHARS}
            value={values.operator}
            error={fault('operator')}
            onChange={(event) => set({ operator: event.currentTarget.value })}
          />
        )}
      </ModalForm>
    </Keyed>
  )
}

type ReasonedProps = Pick<AskedMove, 'task' | 'isOffered'> & {
  letter: string
  says: string
  label: string
  submit: string
  onGiven: (reason: string | null) => Promise<unknown>
}

function Reasoned({ task, letter, says, isOffered, label, submit, onGiven }: ReasonedProps) {
  return (
    <Keyed letter={letter} says={says} isOffered={isOffered}>
      <ModalForm
        label={label}
        about={phoneText(task.customer_phone)}
        submit={submit}
        variant="default"
        initial={{ reason: '' }}
        onSubmit={({ reason }) => onGiven(reason.trim() || null)}
      >
        {({ values, set, fault }) => (
          <TextInput
            data-autofocus
            label="Why"
            maxLength={REASON_CHARS}
            value={values.reason}
            error={fault('reason')}
            onChange={(event) => set({ reason: event.currentTarget.value })}
          />
        )}
      </ModalForm>
    </Keyed>
  )
}

/** It is not to be done. */
export function CancelTask({ task, moves, act, isOffered }: AskedMove) {
  const texts = {
    letter: 'x',
    says: 'Cancel it: it is not to be done',
    label: 'Cancel task',
    submit: 'Cancel the task',
    ...{ task, isOffered },
  }
  return <Reasoned {...texts} onGiven={(reason) => act(() => moves.cancel(reason))} />
}

/** It is to be done again. */
export function ReopenTask({ task, moves, act, isOffered }: AskedMove) {
  const texts = {
    letter: 'o',
    says: 'Reopen it: it is to be done again',
    label: 'Reopen',
    submit: 'Reopen the task',
    ...{ task, isOffered },
  }
  return <Reasoned {...texts} onGiven={(reason) => act(() => moves.reopen(reason))} />
}

/** An agent calls the customer. */
export function CallBack({ task, moves, act, isOffered }: AskedMove) {
  return (
    <Keyed letter="p" says="Call back now" isOffered={isOffered}>
      <ConfirmAction
        label="Call back now"
        about={phoneText(task.customer_phone)}
        onConfirm={() => act(() => moves.dispatch())}
      >
        An agent calls {phoneText(task.customer_phone)} at once. If the number may not be called now you are told why,
        and nothing changes.
      </ConfirmAction>
    </Keyed>
  )
}
