/** What is known, while a task is shown, of the move that was asked for last. */
export type Told = {
  /** Why it failed; null: it has not, so far. */
  error: unknown
  /** When it was asked for. */
  askedAt: number
  /** The task as it was last seen. */
  updatedAt: string
  /** How many forms of it were sent, and done. */
  formsDone: number
  /** Whether the task has gone on since it was asked for, by what is of no form. */
  hasGoneOn: boolean
}

type Seen = Omit<Told, 'hasGoneOn'> & { isQuicker: boolean }

/**
 * Takes in what is seen now. `isForgotten`: why the move failed is told no longer, since the task has gone on after that, by somebody else or
 * by a form, and what may be done with it is something else. The first change since the move was asked for is what somebody was quicker
 * with (`isQuicker`), whether it was seen before the refusal or after: that is told beside it.
 */
export function toldAfter(known: Told | null, { isQuicker, ...seen }: Seen): { told: Told; isForgotten: boolean } {
  if (known === null) return { told: { ...seen, hasGoneOn: false }, isForgotten: false }
  const isNew = known.askedAt !== seen.askedAt
  const isChanged = known.updatedAt !== seen.updatedAt
  const isFormDone = known.formsDone !== seen.formsDone
  const hadGoneOn = !isNew && known.hasGoneOn
  const wasTold = !isNew && seen.error !== null && known.error === seen.error
  const isOver = isFormDone || (isChanged && (hadGoneOn || !isQuicker))
  return { told: { ...seen, hasGoneOn: !isFormDone && (hadGoneOn || isChanged) }, isForgotten: wasTold && isOver }
}
