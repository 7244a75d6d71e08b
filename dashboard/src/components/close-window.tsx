import { Button } from '@mantine/core'
import styles from './close-window.module.css'
import { NoAnswerYet } from './no-answer-yet.tsx'
import { isSecondClick } from './second-click.ts'

type CloseWindowProps = {
  /** What was asked for in the window is under way, and no more to be called back. */
  isBusy: boolean
  onClose: () => void
}

/** The button that closes a window without more ado. While something is under way it does not say that it calls it back. */
export function CloseWindow({ isBusy, onClose }: CloseWindowProps) {
  return (
    <>
      <Button variant="default" onClick={(event) => !isSecondClick(event) && onClose()}>
        {isBusy ? 'Close' : 'Cancel'}
      </Button>
      <output className={styles.told}>
        {isBusy && <span className={styles.goesOn}>It goes on even if you close this.</span>}
      </output>
      <div className={styles.told}>
        <NoAnswerYet isBusy={isBusy} />
      </div>
    </>
  )
}
