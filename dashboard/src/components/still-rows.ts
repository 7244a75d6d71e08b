import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** So long after it was moved somebody still looks for the row under their pointer. */
const AIMS_FOR_MS = 2_000
/** Sooner nobody sees that another row has come to where they press. */
const SEEN_AFTER_MS = 400

/** Where the pointer was when it was over the rows last, and when that was. */
type Aim = { x: number; y: number; movedAtMs: number }

/**
 * The rows of a list that changes by itself, to be shown in the order in which they stand while somebody aims at one: a click must not hit
 * another one than was seen. What is known of them by then is up to date, one that is gone stays, and a new one is added only where it moves
 * none of them. Where there is no pointer to be seen coming, or it has rested, a click that comes as the rows move does nothing.
 * @param list its rows, and what tells it from those of which none stays, as with another filter.
 * @param place in which the rows stand.
 */
export function useStillRows<Row, Rows extends Row[] | undefined>(
  { rows, of }: { rows: Rows; of: string },
  keyOf: (row: Row) => string,
  place: RefObject<HTMLElement | null>,
): Rows {
  const [isAimedAt, setAimedAt] = useState(false)
  const [shown, setShown] = useState({ of, now: rows, rows })
  const isStill = isAimedAt && shown.of === of
  let next = shown
  if (shown.of !== of || shown.now !== rows || (!isStill && shown.rows !== rows)) {
    const still = isStill && shown.rows && rows ? (inPlace(shown.rows, rows, keyOf) as Rows) : rows
    next = { of, now: rows, rows: still }
    setShown(next)
  }
  const movedAtMs = useMovedAt(next.rows, keyOf)

  useEffect(() => {
    const { current: element } = place
    if (element === null) return
    let aim: Aim | null = null
    let rest: ReturnType<typeof setTimeout> | undefined

    function leave(): void {
      clearTimeout(rest)
      setAimedAt(false)
    }

    function aimAgain({ clientX: x, clientY: y, pointerType }: PointerEvent): void {
      // A browser tells of a pointer that rests, too, when something is drawn under it.
      if (aim?.x === x && aim.y === y) return
      if (pointerType !== 'touch') aim = { x, y, movedAtMs: performance.now() }
      setAimedAt(true)
      clearTimeout(rest)
      rest = setTimeout(leave, AIMS_FOR_MS)
    }

    function refuseUnseen(event: PointerEvent): void {
      // Of a link that is followed by a key Firefox counts one click, though by no pointer.
      const isByKeyboard = event.detail === 0 || event.pointerType === ''
      const wasSeenComing = aim !== null && aim.movedAtMs >= movedAtMs.current
      if (isByKeyboard || wasSeenComing || performance.now() - movedAtMs.current > SEEN_AFTER_MS) return
      event.preventDefault()
      event.stopPropagation()
    }

    element.addEventListener('pointermove', aimAgain)
    element.addEventListener('pointerdown', aimAgain)
    element.addEventListener('pointerleave', leave)
    element.addEventListener('click', refuseUnseen, { capture: true })
    return () => {
      clearTimeout(rest)
      element.removeEventListener('pointermove', aimAgain)
      element.removeEventListener('pointerdown', aimAgain)
      element.removeEventListener('pointerleave', leave)
      element.removeEventListener('click', refuseUnseen, { capture: true })
    }
  }, [place, movedAtMs])
  return next.rows
}

/** When a row last came to where another one had stood. */
function useMovedAt<Row>(rows: Row[] | undefined, keyOf: (row: Row) => string): RefObject<number> {
  const movedAtMs = useRef(Number.NEGATIVE_INFINITY)
  const before = useRef(rows)
  useLayoutEffect(() => {
    if (before.current === rows) return
    if (before.current && rows && hasMoved(before.current, rows, keyOf)) movedAtMs.current = performance.now()
    before.current = rows
  })
  return movedAtMs
}

function hasMoved<Row>(before: Row[], now: Row[], keyOf: (row: Row) => string): boolean {
  return now.some((row, at) => {
    const other = before[at]
    return other !== undefined && keyOf(other) !== keyOf(row)
  })
}

/** Rows as they are now, each where it was shown, and after them those that follow the last of these; none where there are none. */
export function inPlace<Row>(shown: Row[], rows: Row[], keyOf: (row: Row) => string): Row[] {
  const now = new Map(rows.map((row) => [keyOf(row), row]))
  const known = new Set(shown.map(keyOf))
  const lastAt = rows.findLastIndex((row) => known.has(keyOf(row)))
  if (rows.length === 0) return rows
  return [...shown.map((row) => now.get(keyOf(row)) ?? row), ...rows.slice(lastAt + 1)]
}
