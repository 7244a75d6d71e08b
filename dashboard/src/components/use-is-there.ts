import { useEffect, useRef } from 'react'

/** Returns what says whether this is still on the page: what comes later, it cannot show any more. */
export function useIsThere(): () => boolean {
  const isThere = useRef(false)
  useEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
    }
  }, [])
  return () => isThere.current
}
