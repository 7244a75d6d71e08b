import { useEffect, useState } from 'react'
import { durationText } from './text.ts'

const SECOND_MS = 1_000

/** How long something has been going on, counting. */
export function Elapsed({ since }: { since: string | number }) {
  const [nowMs, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return <span className="numbers">{durationText((nowMs - new Date(since).getTime()) / SECOND_MS)}</span>
}
