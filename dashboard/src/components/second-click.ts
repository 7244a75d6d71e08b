import type { MouseEvent } from 'react'

/** Whether a click is the second of a double one: the first has done what was meant, and by now something else may stand in its place. */
export function isSecondClick({ detail }: { detail: number }): boolean {
  return detail > 1
}

/** What a click does, once for a double one: what takes something away would take what comes up in its place, too. */
export function onFirstClick(act: () => void) {
  return (event: MouseEvent): void => {
    if (!isSecondClick(event)) act()
  }
}

/** Has a window be closed by a click beside it, but for the second one of a double click: the first has opened it. */
export function closedBeside(onClose: () => void) {
  return { closeOnClickOutside: false, overlayProps: { onClick: onFirstClick(onClose) } }
}
