import { Button, Modal } from '@mantine/core'
import styles from './confirm-action.module.css'

type DropQuestionProps = { isOpen: boolean; onStay: () => void; onDrop: () => void }

/** Whether what is typed may be lost. */
export function DropQuestion({ isOpen, onStay, onDrop }: DropQuestionProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={onStay}
      title="Drop what you have typed?"
      centered
      stackId="unsaved"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div>It is not saved, and cannot be brought back.</div>
      <div className={styles.buttons}>
        <Button variant="default" data-autofocus onClick={onStay}>
          Go on writing
        </Button>
        <Button color="red.8" onClick={onDrop}>
          Drop it
        </Button>
      </div>
    </Modal>
  )
}
