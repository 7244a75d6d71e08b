import { Button } from '@mantine/core'
import { FailureState } from './failure-state.tsx'
import { Buttons } from './fields.tsx'
import { NewerDocument } from './newer-document.tsx'
import { NoAnswerYet } from './no-answer-yet.tsx'
import { useFocusAfterChoice } from './use-focus-after-choice.ts'
import type { Settings } from './use-settings.ts'

type SaveSettingsProps = {
  /** Of the button. */
  label: string
  settings: Settings
}

/** The end of a form of settings: the button that saves them, and what came of that. */
export function SaveSettings({ label, settings: { error, isBusy, isSaved, newer } }: SaveSettingsProps) {
  const place = useFocusAfterChoice({ isAsked: newer !== null, isBusy })
  const failure = error && <FailureState error={error} />
  if (newer)
    return (
      <NewerDocument
        stored={newer.stored}
        mine={newer.mine}
        failure={failure}
        isSaving={isBusy}
        onKeep={newer.keep}
        onTake={newer.take}
      />
    )
  return (
    <>
      {failure}
      <div ref={place} tabIndex={-1}>
        <Buttons>
          <Button type="submit" loading={isBusy}>
            {label}
          </Button>
          <output>{isSaved && 'Saved.'}</output>
          <NoAnswerYet isBusy={isBusy} />
        </Buttons>
      </div>
    </>
  )
}
