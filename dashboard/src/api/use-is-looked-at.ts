import { useEffect, useState } from 'react'

/** Whoever is back by then finds it as they left it. */
const AWAY_MS = 10_000

/**
 * Whether somebody looks at the page; false once its tab has been out of sight for 10 s, and of one that was opened behind others. What
 * holds a connection is left then: a browser lends six to all pages of a service together, and with those taken nothing else is answered.
 */
export function useIsLookedAt(): boolean {
  const [isLookedAt, setLookedAt] = useState(() => !document.hidden)
  useEffect(() => {
    let away: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(away)
      if (document.hidden) away = setTimeout(() => setLookedAt(false), AWAY_MS)
      else setLookedAt(true)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(away)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return isLookedAt
}
