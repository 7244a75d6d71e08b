import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { asFailure } from '../api/failure.ts'
import { useHoldRoleFor } from '../api/held-role.ts'
import { useUnsaved } from './unsaved-changes.tsx'
import { useDraft } from './use-draft.ts'
import { changesIn, type Edit, newerOf, writtenOver } from './written-over.ts'

type SettingsAsked<Values> = {
  initial: Values
  /** What is set now. */
  read: () => Promise<Values>
  /** Sets all of it. */
  write: (values: Values) => Promise<unknown>
}

type Sent<Values extends object> = { edit: Edit<Values>; typed: Values }

/** What is set as a whole, while somebody changes some of it: the rest stays as others set it meanwhile, and of the same they are asked. */
export function useSettings<Values extends object>({ initial, read, write }: SettingsAsked<Values>) {
  const { values, base, set, isChanged, begin, noteSaved } = useDraft(initial)
  const [stored, setStored] = useState<Values | null>(null)
  useUnsaved(isChanged)
  const save = useMutation({
    mutationFn: async ({ edit }: Sent<Values>) => {
      const now = await read()
      try {
        const written = writtenOver(edit, now)
        await write(written)
        return written
      } catch (failure) {
        if (asFailure(failure).status === 412) setStored(now)
        throw failure
      }
    },
    onSuccess: (written, { typed }) => {
      noteSaved(typed, written)
      setStored(null)
    },
  })
  useHoldRoleFor(save)
  const edit: Edit<Values> = { ...values, known: base }

  function keep(over: Values): void {
    const { over: mine } = newerOf<Values, Edit<Values>>(async () => edit)
    save.mutate({ edit: mine(edit, { ...over, known: over }), typed: values })
  }

  function take(over: Values): void {
    begin(over)
    setStored(null)
    save.reset()
  }

  return {
    ...{ values, set, error: save.error, isBusy: save.isPending, isSaved: save.isSuccess && !isChanged },
    save: () => stored === null && save.mutate({ edit, typed: values }),
    /** What somebody else has set of the same meanwhile, beside ours; null: nobody has. */
    newer: stored && {
      ...{ stored, mine: { ...stored, ...changesIn(edit) } },
      keep: () => keep(stored),
      take: () => take(stored),
    },
  }
}

/** Settings that somebody changes. */
export type Settings = Pick<ReturnType<typeof useSettings<object>>, 'error' | 'isBusy' | 'isSaved' | 'newer'>
