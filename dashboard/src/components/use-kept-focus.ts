import { type RefObject, useEffect, useRef } from 'react'

const WINDOW = '[role="dialog"]'

/**
 * Takes the focus when what had it in that place is gone, or is not to be seen or pressed any more, with a change of the page: whoever uses the keyboard
 * goes on there, and not at the beginning of the page. What can be pressed again with a later change, as after a failure, gets the focus
 * back. What opened a window has it still, as long as that is open. To be given to what stays, with a `tabIndex` of -1.
 */
export function useKeptFocus(change: unknown): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const held = useRef<Element | null>(null)
  /** A browser takes the focus from what is disabled or hidden later than that is noted here, and gives it back to nothing. */
  const wasLost = useRef(false)
  const before = useRef(change)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      if (target === place.current || (target instanceof Element && isBeside(target.closest(WINDOW), place.current)))
        return
      held.current = target instanceof Element && place.current?.contains(target) ? target : null
      wasLost.current = false
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [])
  useEffect(() => {
    if (before.current === change) return
    before.current = change
    const isLost = isGone(held.current)
    // What somebody else has changed takes nobody away who was not there, or has left by themselves.
    if (isNowhere(place.current) || hasFocus(place.current) || hasFocus(held.current)) {
      if (isLost) place.current?.focus({ preventScroll: true })
      else if (wasLost.current) focusOn(held.current)
    }
    wasLost.current = isLost
  }, [change])
  return place
}

/** Whether a window is none that the place stands in. */
function isBeside(window: Element | null, place: Element | null): boolean {
  return window !== null && !window.contains(place)
}

/** Not even in a window beside that place, which knows by itself where to go on in it. */
function isNowhere(place: Element | null): boolean {
  return hasFocus(document.body) && ![...document.querySelectorAll(WINDOW)].some((each) => isBeside(each, place))
}

function hasFocus(element: Element | null): boolean {
  return document.activeElement === element
}

function isGone(element: Element | null): boolean {
  return element !== null && (!element.checkVisibility() || element.matches(':disabled'))
}

function focusOn(element: Element | null): void {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true })
}
