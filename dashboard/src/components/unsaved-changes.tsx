import { ModalStack } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useId,
  useState,
} from 'react'
import { useHoldRole } from '../api/held-role.ts'

/** Windows are loaded with the first page that has one. */
const DropQuestion = lazy(async () => ({ default: (await import('./drop-question.tsx')).DropQuestion }))

type Unsaved = {
  /** Of the forms in which something is typed that is not saved. */
  changed: Set<string>
  /** Asks whether it may be lost, and goes on if it may. */
  ask: (goOn: () => void) => void
}

const UnsavedContext = createContext<Unsaved>({ changed: new Set(), ask: (goOn) => goOn() })

/** Around all pages: what is typed on them is not left without a question. Windows with a `stackId` lie upon each other in it. */
export function UnsavedChanges({ children }: { children: ReactNode }) {
  const [changed] = useState(() => new Set<string>())
  const [waiting, setWaiting] = useState<{ goOn: () => void } | null>(null)
  const [unsaved] = useState(() => ({ changed, ask: (goOn: () => void) => setWaiting({ goOn }) }))
  // Filters are in the address of a page that stays.
  const shouldBlockFn = useCallback(
    ({ current, next }: { current: { pathname: string }; next: { pathname: string } }) =>
      changed.size > 0 && current.pathname !== next.pathname,
    [changed],
  )
  const enableBeforeUnload = useCallback(() => changed.size > 0, [changed])
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload, withResolver: true })

  function stay(): void {
    setWaiting(null)
    blocker.reset?.()
  }

  function drop(): void {
    setWaiting(null)
    waiting?.goOn()
    blocker.proceed?.()
  }

  const isAsked = waiting !== null || blocker.status === 'blocked'
  const [wasAsked, setAsked] = useState(isAsked)
  if (isAsked && !wasAsked) setAsked(true)
  return (
    <UnsavedContext value={unsaved}>
      <ModalStack>
        {children}
        {wasAsked && (
          <Suspense>
            <DropQuestion isOpen={isAsked} onStay={stay} onDrop={drop} />
          </Suspense>
        )}
      </ModalStack>
    </UnsavedContext>
  )
}

/** Says whether something is typed here that is not saved. Returns what closes a form: it asks before that is lost. */
export function useUnsaved(isChanged: boolean): (close: () => void) => void {
  const { changed, ask } = useContext(UnsavedContext)
  const id = useId()
  useHoldRole(isChanged)
  useEffect(() => {
    if (!isChanged) return
    changed.add(id)
    return () => {
      changed.delete(id)
    }
  }, [changed, id, isChanged])
  return (close) => (isChanged ? ask(close) : close())
}

/** Returns what leaves a page, whatever is typed on it: it asks before that is lost. */
export function useLeaving(): (leave: () => void) => void {
  const { changed, ask } = useContext(UnsavedContext)
  return (leave) => (changed.size > 0 ? ask(leave) : leave())
}
