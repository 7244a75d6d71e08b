import { Button, type ButtonProps, Modal, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, type SubmitEvent, useState } from 'react'
import styles from './ask-action.module.css'
import { FailureState } from './failure-state.tsx'

/** Something that is asked before an action. */
export type Question = {
  name: string
  label: string
  placeholder?: string
  isRequired?: boolean
  /** For a sentence or more. */
  isLong?: boolean
  maxLength: number
}

type AskActionProps = {
  /** Of the button, and of the window. */
  label: string
  /** What will be so afterwards. */
  children?: ReactNode
  questions: Question[]
  /** Resolves when it is done. What it throws is shown, and the window stays. */
  onAnswer: (answers: Record<string, string>) => Promise<unknown>
  size?: ButtonProps['size']
  disabled?: boolean
}

/** A button for what needs words: it asks for them first. */
export function AskAction({ label, children, questions, onAnswer, size = 'sm', disabled }: AskActionProps) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)

  async function answer(event: SubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = questions.map(({ name }) => {
      const value = form.get(name)
      return [name, typeof value === 'string' ? value.trim() : ''] as const
    })
    setBusy(true)
    setError(null)
    try {
      await onAnswer(Object.fromEntries(given.filter(([, value]) => value !== '')))
      setAsking(false)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  function ask(): void {
    setError(null)
    setAsking(true)
  }

  return (
    <>
      <Button variant="default" size={size} disabled={disabled} onClick={ask}>
        {label}
      </Button>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title={label} centered closeButtonProps={CLOSE}>
        <form className={styles.form} onSubmit={(event) => void answer(event)}>
          {children && <div>{children}</div>}
          {questions.map((question, index) => (
            <Answer key={question.name} question={question} isFirst={index === 0} />
          ))}
          {error !== null && <FailureState error={error} />}
          <div className={styles.buttons}>
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button type="submit" loading={isBusy}>
              {label}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  )
}

const CLOSE = { 'aria-label': 'Close' }

function Answer({ question, isFirst }: { question: Question; isFirst: boolean }) {
  const { name, label, placeholder, isRequired = false, isLong = false, maxLength } = question
  const given = { name, label, placeholder, maxLength, required: isRequired, 'data-autofocus': isFirst || undefined }
  return isLong ? <Textarea {...given} rows={3} /> : <TextInput {...given} autoComplete="off" />
}
