import { Button, Modal } from '@mantine/core'
import styles from './confirm-action.module.css'
import { closedBeside, isSecondClick } from './second-click.ts'

type DropQuestionProps = { isOpen: boolean; isTyped: boolean; onStay: () => void; onDrop: () => void }

const TYPED = {
  title: 'Drop what you have typed?',
  told: 'It is not saved, and cannot be brought back.',
  ...{ stay: 'Go on writing', drop: 'Drop it' },
}
const UNDER_WAY = {
  title: 'Leave while it goes on?',
  told: 'It goes on while this tab is open and you are logged in, and what goes wrong is told on whatever page you are.',
  ...{ stay: 'Stay', drop: 'Leave' },
}

/** Whether what is typed may be lost, or what is under way left. */
export function DropQuestion({ isOpen, isTyped, onStay, onDrop }: DropQuestionProps) {
  const { title, told, stay, drop } = isTyped ? TYPED : UNDER_WAY
  return (
    <Modal
      opened={isOpen}
      onClose={onStay}
      title={title}
      centered
      stackId="unsaved"
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...closedBeside(onStay)}
    >
      <div>{told}</div>
      <div className={styles.buttons}>
        <Button variant="default" data-autofocus onClick={onStay}>
          {stay}
        </Button>
        <Button {...(isTyped && { color: 'red.8' })} onClick={(event) => !isSecondClick(event) && onDrop()}>
          {drop}
        </Button>
      </div>
    </Modal>
  )
}
