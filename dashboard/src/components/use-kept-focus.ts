import { type RefObject, useEffect, useRef } from 'react'

/**
 * Takes the focus when what had it in that place is gone, or can no longer be pressed, with a change of the page: whoever uses the keyboard
 * goes on there, and not at the beginning of the page. To be given to what stays, with a `tabIndex` of -1.
 */
export function useKeptFocus(change: unknown): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const held = useRef<Element | null>(null)
  const before = useRef(change)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      held.current = target instanceof Element && place.current?.contains(target) ? target : null
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [])
  useEffect(() => {
    if (before.current === change) return
    before.current = change
    // What somebody else has changed takes nobody away who was not there, or has left by themselves.
    if (document.activeElement === document.body && isLost(held.current)) place.current?.focus({ preventScroll: true })
  }, [change])
  return place
}

function isLost(element: Element | null): boolean {
  return element !== null && (!element.isConnected || element.matches(':disabled'))
}
