import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useRef } from 'react'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { usePerson } from '../../api/session.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { isSecondClick } from '../../components/second-click.ts'
import styles from './desk.module.css'
import { queueQuery } from './queue-queries.ts'
import { Keyed } from './shortcuts.tsx'
import { claimNext } from './task-moves.ts'
import { deskKey, type Task, taskKey } from './task-queries.ts'

/** As long as the lists of the desk stand: by then something may be due. */
const TRUE_FOR_MS = 10_000

const WORDS_IN_LINES = { root: styles.next ?? '', label: styles.words ?? '' }

type ClaimNextProps = {
  tenantId: string
  queueKey: string
  /** As people call it; read if not given. */
  name?: string | undefined
  /** Something else is to be done before. */
  isLater?: boolean
}

/** Takes what is to be done next in a queue, and opens it. */
export function ClaimNext({ tenantId, queueKey, name: known, isLater = false }: ClaimNextProps) {
  const { name: operator } = usePerson()
  const queue = useQuery({ ...queueQuery(tenantId, queueKey), enabled: known === undefined })
  const name = known ?? queue.data?.set.name ?? queueKey
  const client = useQueryClient()
  const navigate = useNavigate()
  // Two clicks may come before the button is drawn as one that cannot be pressed.
  const isClaiming = useRef(false)
  const claim = useMutation({
    mutationFn: () => claimNext(tenantId, queueKey, operator),
    onSuccess: (task) => {
      void client.invalidateQueries({ queryKey: deskKey(tenantId) })
      if (task !== null) client.setQueryData(taskKey(tenantId, task.id), task)
    },
    onSettled: () => {
      isClaiming.current = false
    },
  })

  const { data, reset } = claim
  useEffect(() => {
    if (data !== null) return
    const timer = setTimeout(reset, TRUE_FOR_MS)
    return () => clearTimeout(timer)
  }, [data, reset])
  useHoldRoleFor(claim)

  /** Whoever has gone elsewhere meanwhile stays there: this is not called for a button that is gone. */
  function open(task: Task | null): void {
    if (task) void navigate({ to: '/t/$tenantId/desk/tasks/$taskId', params: { tenantId, taskId: task.id } })
  }

  function press(event: MouseEvent): void {
    if (isSecondClick(event) || isClaiming.current) return
    isClaiming.current = true
    claim.mutate(undefined, { onSuccess: open })
  }

  // What it is called is not to change under the pointer, nor what stands beneath to give way to it.
  if (known === undefined && queue.isPending) return <ClaimNextPlace queueKey={queueKey} />
  return (
    <>
      <output className={styles.said}>{data === null && `Nothing is due in ${name}.`}</output>
      <Keyed letter="n" says={`Claim the next of ${name}`}>
        <Button
          variant={isLater ? 'default' : 'filled'}
          classNames={WORDS_IN_LINES}
          loading={claim.isPending}
          onClick={press}
        >
          Claim next of {name}
        </Button>
      </Keyed>
      {claim.error && <FailureState error={claim.error} />}
    </>
  )
}

/** Keeps its place until it is known of which queue it is, and how that is called. */
export function ClaimNextPlace({ queueKey }: { queueKey: string }) {
  return (
    <Button classNames={WORDS_IN_LINES} style={{ visibility: 'hidden' }}>
      Claim next of {queueKey}
    </Button>
  )
}
