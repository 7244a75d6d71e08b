import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * For a button that may be gone as soon as it is pressed: when it has the focus then, that goes to what is around it and can have it, at last the page.
 * Whoever uses the keyboard goes on there, and not at the beginning of all.
 */
export function useHandedOnFocus(): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(
    () => () => {
      const { current } = button
      if (current === null || current !== document.activeElement) return
      current.closest<HTMLElement>('[tabindex="-1"]')?.focus({ preventScroll: true })
    },
    [],
  )
  return button
}
