import { Button, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useHoldRows } from './held-rows.ts'
import { closedBeside } from './second-click.ts'

/** A button in a row of a table, behind which the whole of what the row is about is looked at. */
export function LookButton({ title, children }: { title: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  useHoldRows(isOpen)
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpen(true)}>
        Look
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={title}
        size="xl"
        closeButtonProps={{ 'aria-label': 'Close' }}
        {...closedBeside(() => setOpen(false))}
      >
        {children}
      </Modal>
    </>
  )
}
