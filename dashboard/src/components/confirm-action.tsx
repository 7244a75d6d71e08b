import { Button, type ButtonProps, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CloseWindow } from './close-window.tsx'
import styles from './confirm-action.module.css'
import { FailureState } from './failure-state.tsx'
import { useHoldRows } from './held-rows.ts'
import { closedBeside, isSecondClick } from './second-click.ts'
import { useFocusAfterRefusal } from './use-focus-after-refusal.ts'
import { useReturnFocus } from './use-return-focus.ts'
import { useWindowRequest } from './use-window-request.ts'

type ConfirmActionProps = {
  /** Of the button, and of the question. */
  label: string
  /** For whom or what it is, where the label does not say so: it is told of a failure that comes late. */
  about?: string
  /** What will be so afterwards. */
  children: ReactNode
  /** It is asked, now or once more. */
  onAsk?: () => void
  /** Resolves when it is done. What it throws is shown, and the question stays. `isOpen`: nobody has closed it meanwhile. */
  onConfirm: (isOpen: () => boolean) => Promise<unknown>
  /** It cannot be undone, or ends something. */
  isGrave?: boolean
  /** It is what is to be done next here. */
  isNext?: boolean
  size?: ButtonProps['size']
  disabled?: boolean
}

const CLOSE = { 'aria-label': 'Close' }

/** A button that asks first. */
export function ConfirmAction({
  label,
  about,
  children,
  onAsk,
  onConfirm,
  isGrave = false,
  isNext = false,
  size = 'sm',
  disabled,
}: ConfirmActionProps) {
  const [isAsking, setAsking] = useState(false)
  const { isBusy, error, ask, leave } = useWindowRequest(label, about)
  useHoldRows(isAsking)
  useReturnFocus(isAsking)
  const sent = useFocusAfterRefusal<HTMLDivElement>(isBusy, error)
  const colour = isGrave ? { color: 'red.8' } : {}

  /** What came of an earlier question is nothing to the next. */
  function turnTo(isOpen: boolean): void {
    leave()
    setAsking(isOpen)
  }

  function begin(): void {
    onAsk?.()
    turnTo(true)
  }

  const confirm = () =>
    ask(async (isOpen) => {
      await onConfirm(isOpen)
      if (isOpen()) turnTo(false)
    })

  return (
    <>
      <Button variant={isNext ? 'filled' : 'default'} size={size} disabled={disabled} onClick={begin}>
        {label}
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => turnTo(false)}
        title={`${label}?`}
        centered
        returnFocus={false}
        closeButtonProps={CLOSE}
        {...closedBeside(() => turnTo(false))}
      >
        <div className={styles.question}>{children}</div>
        {error !== null && <FailureState error={error} />}
        <div className={styles.buttons} {...sent}>
          <CloseWindow isBusy={isBusy} onClose={() => turnTo(false)} />
          <Button {...colour} loading={isBusy} onClick={(event) => !isSecondClick(event) && void confirm()}>
            {label}
          </Button>
        </div>
      </Modal>
    </>
  )
}
