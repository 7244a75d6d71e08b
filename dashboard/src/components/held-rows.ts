import { createContext, useContext, useEffect, useId, useState } from 'react'

type Note = (id: string, isOpen: boolean) => void

/** Around the rows of a list: who is told which of their windows are open. */
export const HeldRows = createContext<Note>(() => {})

/**
 * The rows of a list, to be shown as they are while a window of one of them is open: where somebody else takes its row away, the window
 * would go with it, and what is typed in it. `note` is for `HeldRows` around them.
 */
export function useHeldRows<Row>(rows: Row[] | undefined): { rows: Row[] | undefined; note: Note } {
  const [open, setOpen] = useState<readonly string[]>([])
  const [shown, setShown] = useState(rows)
  const [note] = useState(
    () => (id: string, isOpen: boolean) =>
      setOpen((before) => [...before.filter((each) => each !== id), ...(isOpen ? [id] : [])]),
  )
  const isHeld = open.length > 0
  if (!isHeld && shown !== rows) setShown(rows)
  return { rows: isHeld ? shown : rows, note }
}

/** Says whether a window is open that goes with its row. */
export function useHoldRows(isOpen: boolean): void {
  const note = useContext(HeldRows)
  const id = useId()
  useEffect(() => {
    if (!isOpen) return
    note(id, true)
    return () => note(id, false)
  }, [note, id, isOpen])
}
