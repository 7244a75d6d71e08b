import { useState } from 'react'

/** What somebody fills in. */
type Draft<Values> = {
  values: Values
  set: (change: Partial<Values>) => void
  /** Whether it differs from what it began with, or from what was saved last. */
  isChanged: boolean
  /** Begins again. */
  begin: (values: Values) => void
  /** Notes what was saved: what was typed meanwhile stays. */
  noteSaved: (values: Values) => void
}

/** Holds the values of a form. Say to `useUnsaved` whether they are changed. */
export function useDraft<Values extends object>(initial: Values): Draft<Values> {
  const [base, setBase] = useState(initial)
  const [values, setValues] = useState(initial)
  return {
    values,
    set: (change) => setValues((before) => ({ ...before, ...change })),
    isChanged: JSON.stringify(values) !== JSON.stringify(base),
    begin(fresh) {
      setBase(fresh)
      setValues(fresh)
    },
    noteSaved: setBase,
  }
}
