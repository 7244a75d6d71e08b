import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { usePerson } from '../../api/session.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column } from '../../components/fields.tsx'
import { NoAnswerYet } from '../../components/no-answer-yet.tsx'
import { isSecondClick } from '../../components/second-click.ts'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import styles from './desk.module.css'
import { EditTask } from './edit-task.tsx'
import { Keyed } from './shortcuts.tsx'
import { AssignTask, CallBack, CancelTask, CompleteTask, ReopenTask, SnoozeTask } from './task-forms.tsx'
import { taskMoves } from './task-moves.ts'
import type { Task } from './task-queries.ts'
import { useTaskMove, wasQuicker } from './use-task-move.ts'
import { useToldFailure } from './use-told-failure.ts'

type TaskActionsProps = { tenantId: string; task: Task }

/** What may be done with a task as it is now. */
export function TaskActions({ tenantId, task }: TaskActionsProps) {
  const { name } = usePerson()
  // Those that are done at once tell here what went wrong, those that ask first where they ask.
  const atOnce = useTaskMove(tenantId, task.id)
  const asked = useTaskMove(tenantId, task.id)
  const [formsDone, setFormsDone] = useState(0)
  const moves = taskMoves(tenantId, task.id, name)
  const act = async (run: () => Promise<Task>) => {
    await asked.mutateAsync({ run })
    setFormsDone((count) => count + 1)
  }
  const given = { task, moves, act }
  const { isWaiting, isOver, isMine } = stateOf(task, name)
  const { status } = task
  useHoldRoleFor(atOnce)
  useToldFailure(atOnce, task.updated_at, formsDone)
  const place = useKeptFocus([status, task.acknowledged_at, atOnce.isPending].join())
  // Two clicks may come before a button is drawn as one that cannot be pressed.
  const isDoing = useRef(false)
  const doAtOnce: AtOnceProps['onDo'] = (move) => {
    if (isDoing.current) return
    isDoing.current = true
    atOnce.mutate(move, {
      onSettled: () => {
        isDoing.current = false
      },
    })
  }
  const now = { isBusy: atOnce.isPending, onDo: doAtOnce }
  // Nothing is to be told of a failure where what was hoped for is so, by an answer that was lost or by somebody else.
  const isSo = atOnce.variables?.hoped !== undefined && task.acknowledged_at !== null
  const seen = () => ({ acknowledged_at: new Date().toISOString(), acknowledged_by: name })
  return (
    <div ref={place} tabIndex={-1}>
      <Column>
        <Buttons>
          {status === 'open' && <AtOnce letter="c" label="Claim" says="Claim it" run={moves.claim} {...now} />}
          <CompleteTask {...given} isOffered={!isOver && status !== 'snoozed'} />
          <CallBack {...given} isOffered={status === 'open' || isMine} />
          <SnoozeTask {...given} isOffered={isWaiting} />
          {status === 'snoozed' && (
            <AtOnce letter="w" label="Wake" says="Wake it: do not put it off any longer" run={moves.wake} {...now} />
          )}
          {status === 'claimed' && (
            <AtOnce letter="r" label="Release" says="Release it: give it back" run={moves.release} {...now} />
          )}
          {!isOver && task.acknowledged_at === null && (
            <AtOnce
              letter="a"
              label="Acknowledge"
              says="Acknowledge it: say that you have seen it"
              run={moves.acknowledge}
              hoped={seen}
              {...now}
            />
          )}
          <EditTask tenantId={tenantId} task={task} act={given.act} />
          <AssignTask {...given} isOffered={isWaiting} />
          <CancelTask {...given} isOffered={!isOver && status !== 'dispatching'} />
          <ReopenTask {...given} isOffered={isOver} />
        </Buttons>
        <NoAnswerYet isBusy={atOnce.isPending} />
        {atOnce.error && !isSo && <NotDone error={atOnce.error} />}
      </Column>
    </div>
  )
}

function stateOf({ status, assigned_to }: Task, name: string) {
  return {
    isWaiting: status === 'open' || status === 'claimed',
    isOver: status === 'completed' || status === 'cancelled',
    isMine: status === 'claimed' && assigned_to === name,
  }
}

type AtOnceProps = {
  letter: string
  label: string
  says: string
  run: () => Promise<Task>
  hoped?: () => Partial<Task>
  isBusy: boolean
  onDo: (move: { run: () => Promise<Task>; hoped?: Partial<Task> }) => void
}

function AtOnce({ letter, label, says, run, hoped, isBusy, onDo }: AtOnceProps) {
  return (
    <Keyed letter={letter} says={says}>
      <Button
        variant={label === 'Claim' ? 'filled' : 'default'}
        disabled={isBusy}
        onClick={(event) => !isSecondClick(event) && onDo({ run, hoped: hoped?.() })}
      >
        {label}
      </Button>
    </Keyed>
  )
}

function NotDone({ error }: { error: unknown }) {
  return (
    <div>
      {wasQuicker(error) && <p className={styles.quicker}>Somebody was quicker. The task is shown as it is now.</p>}
      <FailureState error={error} />
    </div>
  )
}
