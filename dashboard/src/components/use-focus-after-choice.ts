import { type RefObject, useEffect, useRef } from 'react'
import { useKeptFocus } from './use-kept-focus.ts'

type Choice = {
  /** Somebody is asked which of two documents is to be. */
  isAsked: boolean
  isBusy: boolean
}

/**
 * Leads whoever uses the keyboard on to the button that saves a form, once they have chosen between a newer document and theirs: what they
 * pressed is gone. Where there is nothing to save it leads to what it is given to, around that button, with a `tabIndex` of -1. Whoever has
 * gone elsewhere meanwhile stays there. It also keeps the focus of that button while it saves.
 */
export function useFocusAfterChoice({ isAsked, isBusy }: Choice): RefObject<HTMLDivElement | null> {
  const place = useKeptFocus(isBusy)
  const isDue = useRef(false)
  useEffect(() => {
    if (isAsked) isDue.current = true
    if (isAsked || !isDue.current) return
    const at = document.activeElement
    const isLost = at === document.body || at === place.current
    if (isLost) (buttonIn(place.current) ?? place.current)?.focus({ preventScroll: true })
    // While it still works on that, the button cannot be pressed yet.
    isDue.current = isBusy && isLost
  }, [place, isAsked, isBusy])
  return place
}

function buttonIn(place: HTMLElement | null): HTMLElement | null {
  return place?.querySelector<HTMLElement>('button[type="submit"]:enabled') ?? null
}
