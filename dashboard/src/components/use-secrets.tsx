import { useEffect, useRef, useState } from 'react'
import { focusPage, useKeepSecret } from './late-news.tsx'
import type { Secret } from './late-secrets.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useAskBeforeUnload } from './use-ask-before-unload.ts'

/** Secrets that a page shows, each until it has been taken; where the page is left before that, or before they come, it is shown beneath the next one. */
export function useSecrets(of: Omit<Secret, 'secret' | 'whose'>) {
  const [shown, setShown] = useState<Secret[]>([])
  const keep = useKeepSecret()
  // What is to be handed on when the page is left, which no state tells then.
  const untaken = useRef<Secret[]>([])
  const isThere = useRef(false)
  useAskBeforeUnload(shown.length > 0)
  useEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
      for (const secret of untaken.current) keep(secret)
      untaken.current = []
    }
  }, [keep])

  function hold(secrets: Secret[]): void {
    untaken.current = secrets
    setShown(secrets)
  }

  function take(taken: Secret): void {
    hold(untaken.current.filter((secret) => secret !== taken))
    focusPage()
  }

  return {
    show(secret: string, whose: string) {
      const told = { ...of, secret, whose }
      if (isThere.current) hold([...untaken.current, told])
      else keep(told)
    },
    shown: shown.map((told) => <ShownOnce key={told.secret} {...told} onDone={() => take(told)} />),
  }
}
