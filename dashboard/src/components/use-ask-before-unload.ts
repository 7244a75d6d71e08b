import { useEffect } from 'react'

/** Has the browser ask before it closes or reloads a page on which there is something that nobody tells again. */
export function useAskBeforeUnload(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isAsked])
}
