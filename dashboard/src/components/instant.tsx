import styles from './instant.module.css'
import { LOCALE } from './locale.ts'
import { DASH } from './text.ts'
import { useToday } from './use-today.ts'

const TIME = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const DAY_OF_YEAR = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
const EXACT = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'long' })

/** Exactly, in the zone of whoever looks and as the API has it. */
export function exactInstant(at: string): string {
  return `${EXACT.format(new Date(at))}\n${at}`
}

/**
 * An instant of the API in the zone of whoever looks; exactly, and as the API has it, under the pointer. What is none, as in an address that
 * was cut off, stands there as it is.
 */
export function Instant({ at }: { at: string | null | undefined }) {
  const today = useToday()
  if (!at) return <span>{DASH}</span>
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <bdi>{at}</bdi>
  return (
    <time dateTime={at} title={exactInstant(at)} className={styles.instant}>
      <span className="numbers">{dayOf(date, today)},</span> <span className="numbers">{TIME.format(date)}</span>
    </time>
  )
}

function dayOf(date: Date, today: string): string {
  if (date.toDateString() === today) return 'Today'
  return (date.getFullYear() === new Date(today).getFullYear() ? DAY : DAY_OF_YEAR).format(date)
}
