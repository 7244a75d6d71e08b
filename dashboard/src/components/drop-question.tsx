import { Button, Modal } from '@mantine/core'
import styles from './confirm-action.module.css'
import { closedBeside, isSecondClick } from './second-click.ts'
import { useReturnFocus } from './use-return-focus.ts'

/** What would be lost: a line on which somebody speaks, what is typed and not saved, or the sight of what is under way. */
export type Loss = 'line' | 'typed' | 'under way'

type DropQuestionProps = { isOpen: boolean; loss: Loss; onStay: () => void; onDrop: () => void }

const TEXTS: Record<Loss, { title: string; told: string; stay: string; drop: string }> = {
  line: {
    title: 'Leave while you are on the line?',
    told: 'Whoever you speak with does not hear you any more: your line is closed with this page.',
    ...{ stay: 'Stay on the line', drop: 'Leave' },
  },
  typed: {
    title: 'Drop what you have typed?',
    told: 'It is not saved, and cannot be brought back.',
    ...{ stay: 'Go on writing', drop: 'Drop it' },
  },
  'under way': {
    title: 'Leave while it goes on?',
    told: 'It goes on while this tab is open and you are logged in, and what goes wrong is told on whatever page you are.',
    ...{ stay: 'Stay', drop: 'Leave' },
  },
}

/** Whether what is typed may be lost, a line closed, or what is under way left. */
export function DropQuestion({ isOpen, loss, onStay, onDrop }: DropQuestionProps) {
  const { title, told, stay, drop } = TEXTS[loss]
  useReturnFocus(isOpen)
  return (
    <Modal
      opened={isOpen}
      onClose={onStay}
      title={title}
      centered
      stackId="unsaved"
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...closedBeside(onStay)}
    >
      <div>{told}</div>
      <div className={styles.buttons}>
        <Button variant="default" data-autofocus onClick={onStay}>
          {stay}
        </Button>
        <Button
          {...(loss !== 'under way' && { color: 'red.8' })}
          onClick={(event) => !isSecondClick(event) && onDrop()}
        >
          {drop}
        </Button>
      </div>
    </Modal>
  )
}
