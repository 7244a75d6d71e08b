import { Button, type ButtonProps, Modal } from '@mantine/core'
import { type ReactNode, type SubmitEvent, useId, useState } from 'react'
import { FailureState } from './failure-state.tsx'
import { faultAt } from './fault-at.ts'
import styles from './fields.module.css'
import { Buttons, Column } from './fields.tsx'
import { useUnsaved } from './unsaved-changes.tsx'
import { useDraft } from './use-draft.ts'

/** What stands in a form while somebody fills it in. */
export type Form<Values> = {
  values: Values
  set: (change: Partial<Values>) => void
  /** What the service said of the member of the body that is called so. */
  fault: (name: string) => string | undefined
}

type ModalFormProps<Values> = {
  /** Of the button, and of the form that it opens. */
  label: string
  /** Of the button that sends it. */
  submit: string
  initial: Values
  /** Resolves when it is done. What it throws is shown, and the form stays. */
  onSubmit: (values: Values) => Promise<unknown>
  /** It is closed, whether or not it was sent. */
  onClose?: () => void
  children: (form: Form<Values>) => ReactNode
  variant?: ButtonProps['variant']
  size?: ButtonProps['size']
}

/** A button that opens a form. What is typed in it is not lost by a click beside it, and by a key only after a question. */
export function ModalForm<Values extends object>(props: ModalFormProps<Values>) {
  const { label, submit, initial, onSubmit, onClose, children, variant, size = 'sm' } = props
  const [isOpen, setOpen] = useState(false)
  const { values, set, isChanged, begin } = useDraft(initial)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const stackId = useId()
  // What is sent may lead to another page.
  const leave = useUnsaved(isOpen && isChanged && !isBusy)

  function open(): void {
    begin(initial)
    setError(null)
    setOpen(true)
  }

  function close(): void {
    setOpen(false)
    onClose?.()
  }

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await onSubmit(values)
      close()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <Button variant={variant} size={size} onClick={open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => leave(close)}
        title={label}
        size="lg"
        stackId={stackId}
        closeOnClickOutside={!isChanged}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <form onSubmit={(event) => void send(event)}>
          <Column>
            <fieldset className={styles.fieldset} disabled={isBusy}>
              <Column>{children({ values, set, fault: (name) => faultAt(error, `/body/${name}`) })}</Column>
            </fieldset>
            {error !== null && <FailureState error={error} />}
            <Buttons>
              <Button type="submit" loading={isBusy}>
                {submit}
              </Button>
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
            </Buttons>
          </Column>
        </form>
      </Modal>
    </>
  )
}
