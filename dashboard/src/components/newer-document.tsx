import { Button } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Comparison } from './comparison.tsx'
import { Buttons, Column } from './fields.tsx'
import styles from './newer-document.module.css'
import { Panel } from './panel.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

type NewerDocumentProps = {
  stored: object
  mine: object | null
  /** Why ours could not be saved over it. */
  failure: ReactNode
  isSaving: boolean
  onKeep: () => void
  onTake: () => void
}

/** What somebody else has stored since a document was read, beside ours: one of the two is to be chosen. */
export function NewerDocument({ stored, mine, failure, isSaving, onKeep, onTake }: NewerDocumentProps) {
  const place = useKeptFocus(isSaving)
  // The button that was pressed is gone.
  useEffect(() => place.current?.focus(), [place])
  return (
    <div ref={place} tabIndex={-1} className={styles.place}>
      <Panel title="Somebody else changed it meanwhile">
        <Column>
          <Comparison before={{ title: 'Stored now', value: stored }} after={{ title: 'Yours', value: mine }} />
          {failure}
          <Buttons>
            <Button loading={isSaving} onClick={onKeep}>
              Save mine over it
            </Button>
            <Button variant="default" disabled={isSaving} onClick={onTake}>
              Take the stored one
            </Button>
          </Buttons>
        </Column>
      </Panel>
    </div>
  )
}
