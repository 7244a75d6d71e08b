import { Button, type ButtonProps, Modal } from '@mantine/core'
import { type ReactNode, type SubmitEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { asFailure } from '../api/failure.ts'
import { CloseWindow } from './close-window.tsx'
import { FailureState } from './failure-state.tsx'
import { faultOf } from './fault-at.ts'
import styles from './fields.module.css'
import { Buttons, Column } from './fields.tsx'
import { useHoldRows } from './held-rows.ts'
import { NewerDocument } from './newer-document.tsx'
import { closedBeside, isSecondClick } from './second-click.ts'
import { useUnsaved } from './unsaved-changes.tsx'
import { useDraft } from './use-draft.ts'
import { useFocusAfterRefusal } from './use-focus-after-refusal.ts'
import { useReturnFocus } from './use-return-focus.ts'
import { useWindowRequest } from './use-window-request.ts'

/** What stands in a form while somebody fills it in. */
export type Form<Values> = {
  values: Values
  set: (change: Partial<Values>) => void
  /** What the service said of the member of what was sent that is called so. */
  fault: (name: string) => string | undefined
}

/** How a form goes on when somebody else has changed meanwhile what it began with, which the service tells by a 412. */
type Newer<Values> = {
  /** Reads what is stored now. */
  read: () => Promise<Values>
  /** What of it, and of ours, stands beside each other. */
  shown: (values: Values, stored: Values) => object
  /** Ours, as it is sent to be written over what is stored now. */
  over: (mine: Values, stored: Values) => Values
  /** What is stored now, with what of ours was not shown beside it: that is chosen still. Left out: all of it was shown. */
  taken?: (mine: Values, stored: Values) => Values
}

type ModalFormProps<Values> = {
  /** Of the button, and of the form that it opens. */
  label: string
  /** For whom or what it is, where the label does not say so: it is told of a failure that comes late. */
  about?: string
  /** Of the button that sends it. */
  submit: string
  initial: Values
  /** Resolves when it is done. What it throws is shown, and the form stays. `isOpen`: nobody has closed it meanwhile. */
  onSubmit: (values: Values, isOpen: () => boolean) => Promise<unknown>
  newer?: Newer<Values>
  /** It is open when it comes, for what is loaded when somebody wants it. */
  isWanted?: boolean
  /** It is closed, whether or not it was sent. */
  onClose?: () => void
  children: (form: Form<Values>) => ReactNode
  variant?: ButtonProps['variant']
  size?: ButtonProps['size']
}

type SendingProps<Values> = Pick<ModalFormProps<Values>, 'label' | 'about' | 'onSubmit' | 'newer'> & {
  begin: (values: Values) => void
  onDone: () => void
}

/** Sends what stands in a form, and holds what came of it: why it was refused, and what somebody else has stored meanwhile. */
function useSending<Values>({ label, about, onSubmit, newer, begin, onDone }: SendingProps<Values>) {
  const { isBusy, error, ask, leave } = useWindowRequest(label, about)
  const [stored, setStored] = useState<Values | null>(null)

  async function readNewer(failure: unknown, isOpen: () => boolean): Promise<void> {
    if (!newer || asFailure(failure).status !== 412 || !isOpen()) return
    const read = await newer.read()
    if (isOpen()) setStored(read)
  }

  const send = (values: Values) =>
    ask(async (isOpen) => {
      try {
        await onSubmit(values, isOpen)
      } catch (failure) {
        await readNewer(failure, isOpen)
        throw failure
      }
      if (isOpen()) onDone()
    })

  function beginWith(values: Values): void {
    leave()
    begin(values)
    setStored(null)
  }

  return { isBusy, error, stored, send, beginWith, leave }
}

/** A button that opens a form. What is typed in it is not lost by a click beside it, and by a key only after a question. */
export function ModalForm<Values extends object>(props: ModalFormProps<Values>) {
  const { label, submit, initial, isWanted = false, onClose, children, variant, size = 'sm' } = props
  const { about, onSubmit, newer } = props
  const [isOpen, setOpen] = useState(isWanted)
  const { values, set, isChanged, begin } = useDraft(initial)
  const {
    isBusy,
    error,
    stored,
    send,
    beginWith,
    leave: leaveSending,
  } = useSending({ label, about, onSubmit, newer, begin, onDone: close })
  const submitButton = useRef<HTMLButtonElement>(null)
  const sent = useFocusAfterRefusal<HTMLFormElement>(isBusy, stored ? null : error)
  const stackId = useId()
  // What is sent may lead to another page.
  const leave = useUnsaved(isOpen && isChanged && !isBusy)
  useHoldRows(isOpen)
  useReturnFocus(isOpen)

  function open(): void {
    beginWith(initial)
    setOpen(true)
  }

  function close(): void {
    leaveSending()
    setOpen(false)
    onClose?.()
  }

  function take(stored: Values, taken: Values): void {
    flushSync(() => {
      beginWith(stored)
      set(taken)
    })
    submitButton.current?.focus()
  }

  function submitForm(event: SubmitEvent): void {
    event.preventDefault()
    if (stored === null) void send(values)
  }

  const failure = error !== null && <FailureState error={error} />
  return (
    <>
      <Button
        variant={variant}
        size={size}
        ref={isWanted ? takeFocus : undefined}
        onClick={(event) => !isSecondClick(event) && open()}
      >
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => leave(close)}
        title={label}
        size="lg"
        stackId={stackId}
        returnFocus={false}
        {...closedBeside(() => !isChanged && leave(close))}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <form onSubmit={submitForm} {...sent}>
          <Column>
            <fieldset ref={beginInFirstField} className={styles.fieldset} disabled={isBusy}>
              <Column>{children({ values, set, fault: (name) => faultOf(error, name) })}</Column>
            </fieldset>
            {newer && stored ? (
              <NewerDocument
                stored={newer.shown(stored, stored)}
                mine={newer.shown(values, stored)}
                failure={failure}
                isSaving={isBusy}
                onKeep={() => void send(newer.over(values, stored))}
                onTake={() => take(stored, newer.taken?.(values, stored) ?? stored)}
              />
            ) : (
              failure
            )}
            <Buttons>
              {!stored && (
                <Button
                  type="submit"
                  ref={submitButton}
                  loading={isBusy}
                  onClick={(event) => isSecondClick(event) && event.preventDefault()}
                >
                  {submit}
                </Button>
              )}
              <CloseWindow isBusy={isBusy} onClose={close} />
            </Buttons>
          </Column>
        </form>
      </Modal>
    </>
  )
}

/** Before the window does, which gives it back there. */
function takeFocus(button: HTMLButtonElement | null): void {
  button?.focus()
}

/** The window looks for this mark when it opens; without one it begins in what closes it. */
function beginInFirstField(fields: HTMLFieldSetElement | null): void {
  if (fields === null || fields.querySelector('[data-autofocus]')) return
  fields.querySelector('input:not([readonly]), select, textarea')?.setAttribute('data-autofocus', '')
}
