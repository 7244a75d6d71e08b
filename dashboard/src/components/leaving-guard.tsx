import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useCallback } from 'react'
import styles from './confirm-action.module.css'

type LeavingGuardProps = {
  /** Of the forms in which something is typed that is not saved. */
  changed: Set<string>
  /** What somebody wants to do, by which it would be lost. */
  waiting: { goOn: () => void } | null
  onAnswer: () => void
}

/** Asks before something that is typed is lost, also to a link, the way back or a closed tab. */
export function LeavingGuard({ changed, waiting, onAnswer }: LeavingGuardProps) {
  // Filters are in the address of a page that stays.
  const shouldBlockFn = useCallback(
    ({ current, next }: { current: { pathname: string }; next: { pathname: string } }) =>
      changed.size > 0 && current.pathname !== next.pathname,
    [changed],
  )
  const enableBeforeUnload = useCallback(() => changed.size > 0, [changed])
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload, withResolver: true })

  function stay(): void {
    onAnswer()
    blocker.reset?.()
  }

  function drop(): void {
    onAnswer()
    waiting?.goOn()
    blocker.proceed?.()
  }

  return (
    <Modal
      opened={waiting !== null || blocker.status === 'blocked'}
      onClose={stay}
      title="Drop what you have typed?"
      centered
      stackId="unsaved"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div>It is not saved, and cannot be brought back.</div>
      <div className={styles.buttons}>
        <Button variant="default" data-autofocus onClick={stay}>
          Go on writing
        </Button>
        <Button color="red.8" onClick={drop}>
          Drop it
        </Button>
      </div>
    </Modal>
  )
}
