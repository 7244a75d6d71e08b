import { exactInstant } from '../../components/instant.tsx'
import { LOCALE } from '../../components/locale.ts'
import { useToday } from '../../components/use-today.ts'

const TIME = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' })
const DAY_AND_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' })

/** By when all that was written of calls is counted. To the second: whoever has just called knows when that was. */
export function CountedUntil({ at }: { at: string }) {
  const today = useToday()
  const date = new Date(at)
  return (
    <time dateTime={at} title={exactInstant(at)} className="numbers">
      {(date.toDateString() === today ? TIME : DAY_AND_TIME).format(date)}
    </time>
  )
}

/** That there was nothing, as far as that is known: what is not counted yet is not denied. */
export function NoneUntil({ what, at }: { what: string; at: string }) {
  return (
    <>
      {what} in this time until <CountedUntil at={at} />
    </>
  )
}
