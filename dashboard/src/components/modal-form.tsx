import { Button, type ButtonProps, Modal } from '@mantine/core'
import { type ReactNode, type SubmitEvent, useState } from 'react'
import { FailureState } from './failure-state.tsx'
import { faultAt } from './fault-at.ts'
import { Buttons, Column } from './fields.tsx'

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
  children: (form: Form<Values>) => ReactNode
  variant?: ButtonProps['variant']
  size?: ButtonProps['size']
}

/** A button that opens a form. */
export function ModalForm<Values extends object>({ label, variant, size = 'sm', ...form }: ModalFormProps<Values>) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button variant={variant} size={size} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <FormBody {...form} onClose={close} />
      </Modal>
    </>
  )
}

type FormBodyProps<Values> = Omit<ModalFormProps<Values>, 'label' | 'variant' | 'size'> & { onClose: () => void }

function FormBody<Values extends object>({ submit, initial, onSubmit, onClose, children }: FormBodyProps<Values>) {
  const [values, setValues] = useState(initial)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await onSubmit(values)
      onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }))
  return (
    <form onSubmit={(event) => void send(event)}>
      <Column>
        {children({ values, set, fault: (name) => faultAt(error, `/body/${name}`) })}
        {error !== null && <FailureState error={error} />}
        <Buttons>
          <Button type="submit" loading={isBusy}>
            {submit}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Column>
    </form>
  )
}
