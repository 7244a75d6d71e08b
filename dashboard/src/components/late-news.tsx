import { useParams } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { type Failed, LateFailures } from './late-failures.tsx'
import styles from './late-news.module.css'
import { LateSecrets, type Secret } from './late-secrets.tsx'
import { useAskBeforeUnload } from './use-ask-before-unload.ts'

type News = { fail: (failed: Omit<Failed, 'id'>) => void; keep: (secret: Secret) => void }

/** More failures nobody reads: the oldest is left out. Of secrets none is, which nobody tells again. */
const MOST_FAILURES = 3

const NewsContext = createContext<News>({ fail: () => {}, keep: () => {} })

/**
 * Around all pages: tells beneath them, in one place, of what came when nothing was there any more that could show it. What failed stays
 * until it has been read, a secret until it has been taken.
 */
export function LateNews({ children }: { children: ReactNode }) {
  const [failures, setFailures] = useState<Failed[]>([])
  const [secrets, setSecrets] = useState<Secret[]>([])
  const { tenantId } = useParams({ strict: false })
  useAskBeforeUnload(secrets.length > 0)
  const [news] = useState<News>(() => ({
    fail: (failed) =>
      setFailures((before) => [...before, { ...failed, id: (before.at(-1)?.id ?? 0) + 1 }].slice(-MOST_FAILURES)),
    keep: (secret) => setSecrets((before) => [...before, secret]),
  }))

  function dismiss(id: number): void {
    setFailures((before) => before.filter((failed) => failed.id !== id))
    focusPage()
  }

  function take(taken: Secret): void {
    setSecrets((before) => before.filter((secret) => secret !== taken))
    focusPage()
  }

  return (
    <NewsContext value={news}>
      {children}
      {failures.length + secrets.length > 0 && (
        <div className={styles.late}>
          <LateSecrets secrets={secrets} onTake={take} />
          <LateFailures failures={failures} shownTenant={tenantId} onDismiss={dismiss} />
        </div>
      )}
    </NewsContext>
  )
}

/** The button that was pressed is gone. */
function focusPage(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Returns what tells of a failure once nothing is there any more that could show it. */
export function useTellLate(): News['fail'] {
  return useContext(NewsContext).fail
}

/** Returns what takes over a secret whose page is left. */
export function useKeepSecret(): News['keep'] {
  return useContext(NewsContext).keep
}
