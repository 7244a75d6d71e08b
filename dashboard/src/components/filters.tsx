import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ChangeEvent, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import styles from './filters.module.css'
import { Instant } from './instant.tsx'
import { words } from './text.ts'

/** What a list is asked for, as it stands in the address. */
export type Filters<Name extends string> = Partial<Record<Name, string>>

/** Makes the `validateSearch` of a route whose page has these filters: what else stands in the address is left out. */
export function filtersOf<const Name extends string>(names: readonly Name[]) {
  return (search: Record<string, unknown>): Filters<Name> => {
    const given = names.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
    })
    return Object.fromEntries(given) as Filters<Name>
  }
}

type UsedFilters = {
  values: Record<string, string | undefined>
  set: (name: string, value: string) => void
  setAll: (values: Record<string, string | undefined>) => void
}

/** The filters in the address of this page. To set one to an empty text takes it away. */
function useFilters(): UsedFilters {
  const values: Record<string, string | undefined> = useSearch({ strict: false })
  const navigate = useNavigate()
  // On top of where it goes already: two of them may be set before the page is drawn anew.
  const setAll: UsedFilters['setAll'] = (changed) => {
    const search = (known: object) => ({ ...known, ...changed })
    void navigate({ to: '.', search: search as never, replace: true })
  }
  return { values, set: (name, value) => setAll({ [name]: value === '' ? undefined : value }), setAll }
}

/** Stands above a list: its filters, beside each other where there is room. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className={styles.bar} aria-label="Filters">
      {children}
    </search>
  )
}

type FilterProps = { name: string; label: string }

type FilterChoiceProps = FilterProps & {
  choices: readonly string[]
  /** What a choice is called. */
  textOf?: (choice: string) => string
}

/** One of some values. */
export function FilterChoice({ name, label, choices, textOf = words }: FilterChoiceProps) {
  const { values, set } = useFilters()
  const data = [{ value: '', label: 'All' }, ...choices.map((value) => ({ value, label: textOf(value) }))]
  return (
    <NativeSelect
      className={styles.filter}
      size="sm"
      label={label}
      data={data}
      value={values[name] ?? ''}
      onChange={(event) => set(name, event.currentTarget.value)}
    />
  )
}

const PAUSE_MS = 400

/** What is typed, what the address said when it was looked at last, and what was sent there since. */
type Typed = { text: string; over: string; sent: string | null }

/** What somebody types of a filter: it is asked for when they pause, if it `isWhole` by then. */
function useTyped(name: string, isWhole: (text: string) => boolean = () => true) {
  const { values, set } = useFilters()
  const asked = values[name] ?? ''
  const [{ text, over, sent }, setTyped] = useState<Typed>({ text: asked, over: asked, sent: null })
  // What is typed on while it comes into the address stays; what a link says takes its place.
  if (asked !== over) setTyped({ text: asked === sent ? text : asked, over: asked, sent: null })
  const ask = useEffectEvent(() => {
    if (!isWhole(text)) return
    setTyped((typed) => ({ ...typed, sent: text.trim() }))
    set(name, text.trim())
  })
  // A page that is drawn anew meanwhile, such as that of the log, does not make the pause longer.
  useEffect(() => {
    if (text.trim() === asked) return
    const timer = setTimeout(ask, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, asked])
  return {
    value: text,
    onChange: ({ currentTarget: { value } }: ChangeEvent<HTMLInputElement>) =>
      setTyped((typed) => ({ ...typed, text: value })),
  }
}

type FilterTextProps = FilterProps & {
  placeholder?: string
  /** What may be written, of a field that has a line of its own for that. */
  description?: string
  /** In characters. Left out: the service says when it is too much. */
  maxLength?: number
}

/** A text. */
export function FilterText({ name, label, placeholder, description, maxLength }: FilterTextProps) {
  return (
    <TextInput
      className={description === undefined ? styles.filter : styles.wide}
      size="sm"
      label={label}
      description={description}
      placeholder={placeholder}
      maxLength={maxLength}
      {...useTyped(name)}
    />
  )
}

/** A day in the zone of whoever looks. `dayStart` makes an instant of it. */
export function FilterDay({ name, label }: FilterProps) {
  return (
    <TextInput
      className={styles.filter}
      size="sm"
      type="date"
      max={LAST_DAY}
      label={label}
      {...useTyped(name, isWholeDay)}
    />
  )
}

/** A field without a last day takes years of six digits. */
const LAST_DAY = '9999-12-31'

/** Digit by digit, 2026 is the years 2, 20 and 202 before. */
function isWholeDay(text: string): boolean {
  return !text.startsWith('0')
}

type FilterLineProps = {
  /** Of the filters that it tells of. */
  names: string[]
  /** Of the button that takes them away. */
  leave: string
  children: ReactNode
}

/** What no field of a bar says, where a link has led to it, and how to get out of that. */
export function FilterLine({ names, leave, children }: FilterLineProps) {
  const { values, setAll } = useFilters()
  if (names.every((name) => values[name] === undefined)) return null
  const nothing = Object.fromEntries(names.map((name) => [name, undefined]))
  return (
    <p className={styles.line}>
      {children}
      <Button variant="default" size="compact-sm" onClick={() => setAll(nothing)}>
        {leave}
      </Button>
    </p>
  )
}

/** The span between the instants `since` and `until`. */
export function FilterSpan() {
  const { since, until } = useFilters().values
  return (
    <FilterLine names={['since', 'until']} leave="At any time">
      Begun from <Instant at={since} /> to <Instant at={until} />
    </FilterLine>
  )
}

/** When a day begins, as the API takes it; `later` days after it. Undefined for what is no day. */
export function dayStart(day: string | undefined, later = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []
  if (!year || !month || !date) return undefined
  return new Date(Number(year), Number(month) - 1, Number(date) + later).toISOString()
}
