import { useCallback, useEffect, useRef, useState } from 'react'
import type { ApiFailure } from '../api/failure.ts'
import { asFailure } from '../api/failure.ts'
import { AudioLine, type LineGrant, type LineKind, type Stall } from './audio-line.ts'
import type { Level } from './level.ts'

type LineState = {
  phase: 'idle' | 'opening' | 'open' | 'over'
  /** Of the call that is, or was, spoken to. */
  grant: LineGrant | null
  failure: ApiFailure | null
  isMuted: boolean
  /** Why nothing is heard now, though it is open. */
  stall: Stall | null
}

/** A line of audio that a page can open, one at a time. */
export type UsedLine = LineState & {
  /** To be called by a click. */
  open: (kind: LineKind, grant: () => Promise<LineGrant>) => void
  close: () => void
  press: (digit: string) => void
  setMuted: (isMuted: boolean) => void
  own: Level
  others: Level
}

const IDLE: LineState = { phase: 'idle', grant: null, failure: null, isMuted: false, stall: null }

/** A line of audio to a call; it is closed when the page is left. */
export function useAudioLine(): UsedLine {
  const line = useRef<AudioLine>(null)
  const [state, setState] = useState(IDLE)
  useEffect(() => {
    const leave = () => line.current?.close()
    // A page that is closed or loaded anew takes nothing down, and its line would count as lost.
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('pagehide', leave)
      leave()
    }
  }, [])

  function open(kind: LineKind, grant: () => Promise<LineGrant>): void {
    line.current?.close()
    setState({ ...IDLE, phase: 'opening' })
    const made = new AudioLine({
      ...{ kind, grant },
      onOpen: (given) => setState((before) => ({ ...before, phase: 'open', grant: given })),
      onStalled: (stall) => setState((before) => ({ ...before, stall })),
      onOver: (failure) => {
        if (line.current !== made) return
        setState((before) => ({ ...before, phase: 'over', failure: failure && asFailure(failure) }))
      },
    })
    line.current = made
  }

  function setMuted(isMuted: boolean): void {
    if (line.current) line.current.isMuted = isMuted
    setState((before) => ({ ...before, isMuted }))
  }

  return {
    ...state,
    ...{ open, setMuted },
    close: () => line.current?.close(),
    press: (digit) => line.current?.press(digit),
    own: useCallback(() => line.current?.own() ?? 0, []),
    others: useCallback(() => line.current?.others() ?? 0, []),
  }
}
