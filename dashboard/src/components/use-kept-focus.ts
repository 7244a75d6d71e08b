import { type RefObject, useEffect, useRef } from 'react'

/**
 * Takes the focus when what had it is gone with a change of the page: whoever uses the keyboard goes on there, and not at the beginning
 * of the page. To be given to what stays, with a `tabIndex` of -1.
 */
export function useKeptFocus(change: unknown): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const before = useRef(change)
  useEffect(() => {
    if (before.current === change) return
    before.current = change
    if (document.activeElement === document.body) place.current?.focus({ preventScroll: true })
  }, [change])
  return place
}
