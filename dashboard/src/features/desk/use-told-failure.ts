import { useEffect, useRef } from 'react'
import { wasQuicker } from './use-task-move.ts'

type Told = { error: unknown; at: string; changes: number }

/** Forgets why a move failed once the task has gone on after that: what may be done with it then is something else. */
export function useToldFailure({ error, reset }: { error: unknown; reset: () => void }, updatedAt: string): void {
  const told = useRef<Told | null>(null)
  useEffect(() => {
    if (told.current?.error !== error) told.current = error ? { error, at: updatedAt, changes: 0 } : null
    const known = told.current
    if (known === null || known.at === updatedAt) return
    told.current = { error, at: updatedAt, changes: known.changes + 1 }
    // The first change is what somebody was quicker with, which is told beside it.
    if (told.current.changes > (wasQuicker(error) ? 1 : 0)) reset()
  }, [error, reset, updatedAt])
}
