import { Button, type ButtonProps, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import styles from './confirm-action.module.css'
import { FailureState } from './failure-state.tsx'
import { useReturnFocus } from './use-return-focus.ts'

type ConfirmActionProps = {
  /** Of the button, and of the question. */
  label: string
  /** What will be so afterwards. */
  children: ReactNode
  /** Resolves when it is done. What it throws is shown, and the question stays. */
  onConfirm: () => Promise<unknown>
  /** It cannot be undone, or ends something. */
  isGrave?: boolean
  size?: ButtonProps['size']
  disabled?: boolean
}

const CLOSE = { 'aria-label': 'Close' }

/** A button that asks first. */
export function ConfirmAction({
  label,
  children,
  onConfirm,
  isGrave = false,
  size = 'sm',
  disabled,
}: ConfirmActionProps) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  useReturnFocus(isAsking)
  const colour = isGrave ? { color: 'red.8' } : {}

  async function confirm(): Promise<void> {
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      setAsking(false)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <Button variant="default" size={size} disabled={disabled} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={`${label}?`}
        centered
        returnFocus={false}
        closeButtonProps={CLOSE}
      >
        <div className={styles.question}>{children}</div>
        {error !== null && <FailureState error={error} />}
        <div className={styles.buttons}>
          <Button variant="default" onClick={() => setAsking(false)}>
            Cancel
          </Button>
          <Button {...colour} loading={isBusy} onClick={() => void confirm()}>
            {label}
          </Button>
        </div>
      </Modal>
    </>
  )
}
