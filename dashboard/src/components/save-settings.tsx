import { Button } from '@mantine/core'
import { useRef } from 'react'
import { flushSync } from 'react-dom'
import { FailureState } from './failure-state.tsx'
import { Buttons } from './fields.tsx'
import { NewerDocument } from './newer-document.tsx'
import { NoAnswerYet } from './no-answer-yet.tsx'
import type { Settings } from './use-settings.ts'

type SaveSettingsProps = {
  /** Of the button. */
  label: string
  settings: Settings
}

/** The end of a form of settings: the button that saves them, and what came of that. */
export function SaveSettings({ label, settings: { error, isBusy, isSaved, newer } }: SaveSettingsProps) {
  const button = useRef<HTMLButtonElement>(null)
  const failure = error && <FailureState error={error} />

  function take(taken: NonNullable<Settings['newer']>): void {
    flushSync(taken.take)
    button.current?.focus()
  }

  if (newer)
    return (
      <NewerDocument
        stored={newer.stored}
        mine={newer.mine}
        failure={failure}
        isSaving={isBusy}
        onKeep={newer.keep}
        onTake={() => take(newer)}
      />
    )
  return (
    <>
      {failure}
      <Buttons>
        <Button type="submit" ref={button} loading={isBusy}>
          {label}
        </Button>
        <output>{isSaved && 'Saved.'}</output>
        <NoAnswerYet isBusy={isBusy} />
      </Buttons>
    </>
  )
}
