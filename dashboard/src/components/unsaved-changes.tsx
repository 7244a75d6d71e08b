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
import type { Loss } from './drop-question.tsx'

/** Windows are loaded with the first page that has one. */
const loadDropQuestion = async () => ({ default: (await import('./drop-question.tsx')).DropQuestion })
const DropQuestion = lazy(loadDropQuestion)

/** The gravest first. */
const LOSSES: Loss[] = ['line', 'typed', 'under way']

type Unsaved = {
  /** Of the places that hold the page, what of theirs would be lost. */
  changed: Map<string, Loss>
  /** Asks whether it may be lost, and goes on if it may. */
  ask: (goOn: () => void) => void
  /** Has the question be there before it is asked, and whatever else is to stand over what is typed. */
  prepare: () => void
}

const UnsavedContext = createContext<Unsaved>({ changed: new Map(), ask: (goOn) => goOn(), prepare: () => {} })

type UnsavedChangesProps = {
  /** Loads what else is to stand over what is typed: whatever cannot be loaded then would take the page with it. */
  load: () => Promise<unknown>
  children: ReactNode
}

/** Around all pages: what is typed on them, or under way, or a line on which somebody speaks, is not left without a question. Windows with a `stackId` lie upon each other in it. */
export function UnsavedChanges({ load, children }: UnsavedChangesProps) {
  const [changed] = useState(() => new Map<string, Loss>())
  const [waiting, setWaiting] = useState<{ goOn: () => void } | null>(null)
  const [unsaved] = useState(() => ({
    changed,
    ask: (goOn: () => void) => setWaiting({ goOn }),
    // By the time that it is needed the service may be away, or have a newer release. What does not come now is asked for once more then.
    prepare: () => void Promise.allSettled([loadDropQuestion(), load()]),
  }))
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
  const [asked, setAsked] = useState<{ is: boolean; of: Loss } | null>(null)
  // What is asked stays so while the question goes, whatever goes with it.
  if (isAsked !== (asked?.is ?? false))
    setAsked({ is: isAsked, of: isAsked ? lossIn(changed) : (asked?.of ?? 'typed') })
  return (
    <UnsavedContext value={unsaved}>
      <ModalStack>
        {children}
        {asked && (
          <Suspense>
            <DropQuestion isOpen={isAsked} loss={asked.of} onStay={stay} onDrop={drop} />
          </Suspense>
        )}
      </ModalStack>
    </UnsavedContext>
  )
}

function lossIn(changed: Map<string, Loss>): Loss {
  const lost = new Set(changed.values())
  return LOSSES.find((loss) => lost.has(loss)) ?? 'typed'
}

/** Says whether something is typed here that is not saved, or is under way, or somebody speaks. Returns what closes a form: it asks before that is lost. */
export function useUnsaved(isChanged: boolean, loss: Loss = 'typed'): (close: () => void) => void {
  const { changed, ask, prepare } = useContext(UnsavedContext)
  const id = useId()
  useHoldRole(isChanged)
  useEffect(prepare, [prepare])
  useEffect(() => {
    if (!isChanged) return
    changed.set(id, loss)
    return () => {
      changed.delete(id)
    }
  }, [changed, id, isChanged, loss])
  return (close) => (isChanged ? ask(close) : close())
}

/** Returns what leaves a page, whatever is typed on it: it asks before that is lost, once `makeWay` is done. */
export function useLeaving(): (leave: () => void, makeWay: () => void) => void {
  const { changed, ask } = useContext(UnsavedContext)
  return (leave, makeWay) => {
    if (changed.size === 0) return leave()
    makeWay()
    ask(leave)
  }
}
