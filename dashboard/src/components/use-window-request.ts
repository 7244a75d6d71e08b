import { useParams } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { asUnsent } from '../api/failure.ts'
import { useHoldRoleFor } from '../api/held-role.ts'
import { useTellLate } from './late-news.tsx'

/**
 * What a window asks of the service: whether that is under way, and why it failed. Whoever has closed the window, or left its page, is not
 * led away by what comes of it then, nor is the next one that they open changed; of a failure they are told on whatever page they are.
 * @param about for whom or what it is asked, where the label does not say so.
 */
export function useWindowRequest(label: string, about?: string) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const tellLate = useTellLate()
  const { tenantId } = useParams({ strict: false })
  useHoldRoleFor({ isPending: isBusy, error })
  // Of the window that is open: what was asked in an earlier one is not of this one.
  const turn = useRef(0)
  useEffect(
    () => () => {
      turn.current += 1
    },
    [],
  )

  /** `isOpen`: nobody has closed the window meanwhile. */
  async function ask(work: (isOpen: () => boolean) => Promise<unknown>): Promise<void> {
    const askedIn = turn.current
    const isOpen = () => turn.current === askedIn
    setBusy(true)
    setError(null)
    try {
      await work(isOpen)
    } catch (refused) {
      const failure = asUnsent(refused)
      if (isOpen()) setError(failure)
      else tellLate({ label, about, tenantId, error: failure })
    } finally {
      if (isOpen()) setBusy(false)
    }
  }

  /** The window is closed, or opened anew. */
  function leave(): void {
    turn.current += 1
    setBusy(false)
    setError(null)
  }

  return { isBusy, error, ask, leave }
}
