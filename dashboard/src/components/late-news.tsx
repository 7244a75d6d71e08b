import { useParams } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { type Failed, LateFailures } from './late-failures.tsx'
import styles from './late-news.module.css'
import { type Come, LateResults } from './late-results.tsx'
import { LateSecrets, type Secret } from './late-secrets.tsx'
import { useAskBeforeUnload } from './use-ask-before-unload.ts'

type News = {
  fail: (failed: Omit<Failed, 'id'>) => void
  come: (come: Omit<Come, 'id'>) => void
  keep: (secret: Secret) => void
}

/** More of a kind nobody reads: the oldest is left out. Of secrets none is, which nobody tells again. */
const MOST_KEPT = 3

const NewsContext = createContext<News>({ fail: () => {}, come: () => {}, keep: () => {} })

/**
 * Around all pages: tells beneath them, in one place, of what came when nothing was there any more that could show it. That stays until
 * it has been read, a secret until it has been taken.
 */
export function LateNews({ children }: { children: ReactNode }) {
  const [failures, setFailures] = useState<Failed[]>([])
  const [results, setResults] = useState<Come[]>([])
  const [secrets, setSecrets] = useState<Secret[]>([])
  const { tenantId } = useParams({ strict: false })
  useAskBeforeUnload(secrets.length > 0)
  const [news] = useState<News>(() => ({
    fail: (failed) => setFailures((before) => withNext(before, failed)),
    come: (come) => setResults((before) => withNext(before, come)),
    keep: (secret) => setSecrets((before) => [...before, secret]),
  }))

  function dismiss(id: number): void {
    setFailures((before) => before.filter((failed) => failed.id !== id))
    focusPage()
  }

  function read(id: number): void {
    setResults((before) => before.filter((come) => come.id !== id))
    focusPage()
  }

  function take(taken: Secret): void {
    setSecrets((before) => before.filter((secret) => secret !== taken))
    focusPage()
  }

  return (
    <NewsContext value={news}>
      {children}
      {failures.length + results.length + secrets.length > 0 && (
        <div className={styles.late}>
          <LateSecrets secrets={secrets} onTake={take} />
          <LateResults results={results} shownTenant={tenantId} onDismiss={read} />
          <LateFailures failures={failures} shownTenant={tenantId} onDismiss={dismiss} />
        </div>
      )}
    </NewsContext>
  )
}

function withNext<Told extends { id: number }>(before: Told[], next: Omit<Told, 'id'>): Told[] {
  return [...before, { ...next, id: (before.at(-1)?.id ?? 0) + 1 } as Told].slice(-MOST_KEPT)
}

/** For whoever uses the keyboard, where the button that was pressed is gone. */
export function focusPage(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Returns what tells of a failure once nothing is there any more that could show it. */
export function useTellLate(): News['fail'] {
  return useContext(NewsContext).fail
}

/** Returns what shows something that came of a page once that is left: by the label of what was asked for there. */
export function useShowLate(): News['come'] {
  return useContext(NewsContext).come
}

/** Returns what takes over a secret whose page is left. */
export function useKeepSecret(): News['keep'] {
  return useContext(NewsContext).keep
}
