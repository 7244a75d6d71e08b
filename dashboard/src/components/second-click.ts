import type { MouseEvent } from 'react'

/** Whether a click is the second of a double one: the first has done what was meant, and by now something else may stand in its place. */
export function isSecondClick({ detail }: { detail: number }): boolean {
  return detail > 1
}

/** Has a window be closed by a click beside it, but for the second one of a double click: the first has opened it. */
export function closedBeside(onClose: () => void) {
  const onClick = (event: MouseEvent) => {
    if (!isSecondClick(event)) onClose()
  }
  return { closeOnClickOutside: false, overlayProps: { onClick } }
}
