import { useEffect } from 'react'

/**
 * Gives the focus back to whoever opened a window, once it is closed. A window that lies upon others does not do that by itself: its
 * place among them changes as it closes, and that calls it off.
 */
export function useReturnFocus(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return
    const opener = document.activeElement
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true })
    }
  }, [isOpen])
}
