import { Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { ModalForm } from './modal-form.tsx'

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
  /** For whom or what it is: it is told of a failure that comes late. */
  about?: string
  /** What will be so afterwards. */
  children: ReactNode
  questions: Question[]
  /** Resolves when it is done. What it throws is shown, and the window stays. */
  onAnswer: (answers: Record<string, string>) => Promise<unknown>
}

/** A button for what needs words: it asks for them first. */
export function AskAction({ label, about, children, questions, onAnswer }: AskActionProps) {
  const initial: Record<string, string> = Object.fromEntries(questions.map(({ name }) => [name, '']))

  function answer(values: Record<string, string>): Promise<unknown> {
    const given = Object.entries(values).map(([name, value]) => [name, value.trim()] as const)
    return onAnswer(Object.fromEntries(given.filter(([, value]) => value !== '')))
  }

  return (
    <ModalForm label={label} about={about} submit={label} variant="default" initial={initial} onSubmit={answer}>
      {({ values, set }) => (
        <>
          <div>{children}</div>
          {questions.map((question, index) => (
            <Answer
              key={question.name}
              question={question}
              isFirst={index === 0}
              value={values[question.name] ?? ''}
              onChange={(value) => set({ [question.name]: value })}
            />
          ))}
        </>
      )}
    </ModalForm>
  )
}

type AnswerProps = { question: Question; isFirst: boolean; value: string; onChange: (value: string) => void }

function Answer({ question, isFirst, value, onChange }: AnswerProps) {
  const { name, label, placeholder, isRequired = false, isLong = false, maxLength } = question
  const given = {
    ...{ name, label, placeholder, maxLength, value, required: isRequired, 'data-autofocus': isFirst || undefined },
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  return isLong ? <Textarea {...given} rows={3} /> : <TextInput {...given} autoComplete="off" />
}
