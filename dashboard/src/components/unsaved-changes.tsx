import { ModalStack } from '@mantine/core'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useId, useState } from 'react'

type Unsaved = {
  /** Of the forms in which something is typed that is not saved. */
  changed: Set<string>
  /** Has pages guarded from now on. */
  guard: () => void
  /** Asks whether it may be lost, and goes on if it may. */
  ask: (goOn: () => void) => void
}

const UnsavedContext = createContext<Unsaved>({ changed: new Set(), guard: () => {}, ask: (goOn) => goOn() })

/** Loaded when something is typed first: most pages are only read. */
const LeavingGuard = lazy(async () => ({ default: (await import('./leaving-guard.tsx')).LeavingGuard }))

/** Around all pages: what is typed on them is not left without a question. Windows with a `stackId` lie upon each other in it. */
export function UnsavedChanges({ children }: { children: ReactNode }) {
  const [changed] = useState(() => new Set<string>())
  const [isGuarded, setGuarded] = useState(false)
  const [waiting, setWaiting] = useState<{ goOn: () => void } | null>(null)
  const [unsaved] = useState(() => ({
    changed,
    guard: () => setGuarded(true),
    ask: (goOn: () => void) => setWaiting({ goOn }),
  }))
  return (
    <UnsavedContext value={unsaved}>
      <ModalStack>
        {children}
        {isGuarded && (
          <Suspense>
            <LeavingGuard changed={changed} waiting={waiting} onAnswer={() => setWaiting(null)} />
          </Suspense>
        )}
      </ModalStack>
    </UnsavedContext>
  )
}

/** Says whether something is typed here that is not saved. Returns what closes a form: it asks before that is lost. */
export function useUnsaved(isChanged: boolean): (close: () => void) => void {
  const { changed, guard, ask } = useContext(UnsavedContext)
  const id = useId()
  useEffect(() => {
    if (!isChanged) return
    changed.add(id)
    guard()
    return () => {
      changed.delete(id)
    }
  }, [changed, guard, id, isChanged])
  return (close) => (isChanged ? ask(close) : close())
}

/** Returns what leaves a page, whatever is typed on it: it asks before that is lost. */
export function useLeaving(): (leave: () => void) => void {
  const { changed, ask } = useContext(UnsavedContext)
  return (leave) => (changed.size > 0 ? ask(leave) : leave())
}
