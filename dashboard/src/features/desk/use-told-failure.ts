import { useEffect, useRef } from 'react'
import { type Told, toldAfter } from './told-failure.ts'
import { wasQuicker } from './use-task-move.ts'

type Move = { error: unknown; submittedAt: number; reset: () => void }

/** Forgets why a move failed once the task has gone on after that. @param formsDone how many forms of the task were sent, and done. */
export function useToldFailure({ error, submittedAt, reset }: Move, updatedAt: string, formsDone: number): void {
  const known = useRef<Told | null>(null)
  useEffect(() => {
    const isQuicker = wasQuicker(error)
    const { told, isForgotten } = toldAfter(known.current, {
      ...{ error, updatedAt, formsDone, isQuicker },
      askedAt: submittedAt,
    })
    known.current = told
    if (isForgotten) reset()
  }, [error, submittedAt, reset, updatedAt, formsDone])
}
