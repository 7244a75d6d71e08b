import { useSyncExternalStore } from 'react'

/** No timer of hours: it would be late by as long as the machine has slept. */
const LOOK_INTERVAL_MS = 30_000

/** A long list has thousands of instants: one timer is for all of them. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** The day that it is for whoever looks, as `toDateString` has it: what is drawn with it is drawn anew once another day has begun. */
export function useToday(): string {
  return useSyncExternalStore(listen, today)
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, LOOK_INTERVAL_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function today(): string {
  return new Date().toDateString()
}
