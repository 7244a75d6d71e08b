import { type FocusEvent, useEffect, useRef } from 'react'

/**
 * Has the keyboard go on in a window that was refused: in the first field of which it is told why, else where it was sent from. Browsers take the focus
 * from what can neither be pressed nor written in while it is sent, and leave it nowhere, not even in the window.
 * @returns what is to be given to the part of the window that is sent.
 */
export function useFocusAfterRefusal<Part extends HTMLElement>(isBusy: boolean, error: unknown) {
  const ref = useRef<Part>(null)
  const last = useRef<HTMLElement | null>(null)
  useEffect(() => {
    if (isBusy || error === null || document.activeElement !== document.body) return
    const faulty = ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const to = faulty ?? last.current
    to?.focus()
  }, [isBusy, error])
  return {
    ref,
    onFocus({ target }: FocusEvent): void {
      if (target instanceof HTMLElement) last.current = target
    },
  }
}
