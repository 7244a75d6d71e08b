import { useEffect, useState } from 'react'
import { serviceNow } from '../../api/service-clock.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { durationText } from '../../components/text.ts'

const SECOND_MS = 1_000
const SOON_S = 10 * 60
const DAY_S = 24 * 60 * 60
/** As long as what is shown may be older than what the service knows. */
const UNREAD_S = 15

type TimeLeftProps = {
  until: string
  /** Stands in place of how long it is over. */
  over?: string | undefined
}

/** How long there is until an instant, or how long it is over, counting. */
export function TimeLeft({ until, over }: TimeLeftProps) {
  const [nowMs, setNow] = useState(() => serviceNow())
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.round((new Date(until).getTime() - nowMs) / SECOND_MS)
  if (over !== undefined && seconds < -UNREAD_S) return <StatusBadge tone="wait">{over}</StatusBadge>
  return <StatusBadge tone={toneOf(seconds)}>{leftText(seconds)}</StatusBadge>
}

function toneOf(seconds: number): Tone {
  if (seconds < 0) return 'bad'
  return seconds < SOON_S ? 'wait' : 'quiet'
}

function leftText(seconds: number): string {
  const span = Math.abs(seconds)
  const days = Math.floor(span / DAY_S)
  const text = days === 0 ? durationText(span) : `${days} ${days === 1 ? 'day' : 'days'}`
  return seconds < 0 ? `${text} late` : `${text} left`
}
