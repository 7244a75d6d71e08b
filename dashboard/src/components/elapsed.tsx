import { useEffect, useState } from 'react'
import { serviceNow } from '../api/service-clock.ts'
import { durationText } from './text.ts'

const SECOND_MS = 1_000

/** How long something has been going on since an instant of the service, counting. */
export function Elapsed({ since }: { since: string | number }) {
  const [nowMs, setNow] = useState(() => serviceNow())
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return <span className="numbers">{durationText((nowMs - new Date(since).getTime()) / SECOND_MS)}</span>
}
