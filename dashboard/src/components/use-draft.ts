import { useState } from 'react'
import { changedFields } from './changed-fields.ts'

/** What somebody fills in. */
type Draft<Values> = {
  values: Values
  /** What it began with, or what was saved last. */
  base: Values
  set: (change: Partial<Values>) => void
  /** Whether it differs from that. */
  isChanged: boolean
  /** Begins again. */
  begin: (values: Values) => void
  /** Notes what is stored since `sent` was saved: what was typed meanwhile stays. */
  noteSaved: (sent: Values, stored: Values) => void
}

/** Holds the values of a form. Say to `useUnsaved` whether they are changed. */
export function useDraft<Values extends object>(initial: Values): Draft<Values> {
  const [base, setBase] = useState(initial)
  const [values, setValues] = useState(initial)
  return {
    values,
    base,
    set: (change) => setValues((before) => ({ ...before, ...change })),
    isChanged: JSON.stringify(values) !== JSON.stringify(base),
    begin(fresh) {
      setBase(fresh)
      setValues(fresh)
    },
    noteSaved(sent, stored) {
      setBase(stored)
      setValues((now) => ({ ...stored, ...changedFields(sent, now) }))
    },
  }
}
