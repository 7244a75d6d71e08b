import { useEffect, useLayoutEffect, useRef } from 'react'

/**
 * Gives the focus back to whoever opened a window, once it is closed; where that is nothing, not to be seen or can be pressed no more, to the page. A window
 * that lies upon others does not do that by itself: its place among them changes as it closes, and that calls it off.
 */
export function useReturnFocus(isOpen: boolean): void {
  const opener = useRef<Element | null>(null)
  // Before the window takes it, which may be sooner than effects that come after a page is drawn.
  useLayoutEffect(() => {
    if (isOpen) opener.current = document.activeElement
  }, [isOpen])
  useEffect(() => {
    if (!isOpen) return
    return () => {
      const { current: to } = opener
      // What closed with it, such as a form beneath the question whether to drop it, may have given it back already.
      if (!isLost()) return
      if (to instanceof HTMLElement && canHold(to)) to.focus({ preventScroll: true })
      // What stands in its place may take it first.
      else queueMicrotask(focusPage)
    }
  }, [isOpen])
  // What has it again may be gone with the next thing that is drawn.
  useLayoutEffect(
    () => () => {
      if (opener.current !== null && opener.current === document.activeElement) queueMicrotask(focusPage)
    },
    [],
  )
}

function canHold(opener: HTMLElement): boolean {
  return opener !== document.body && opener.checkVisibility() && !opener.matches(':disabled')
}

function isLost(): boolean {
  const at = document.activeElement
  return at === null || at === document.body || at.closest('[role="dialog"]') !== null
}

function focusPage(): void {
  if (isLost()) document.getElementById('content')?.focus({ preventScroll: true })
}
