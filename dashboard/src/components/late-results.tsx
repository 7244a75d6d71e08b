import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './late-news.module.css'
import { onFirstClick } from './second-click.ts'

/** Something that came when its page was left already: the label of what was asked for, for what where that does not say so, of which tenant the page was, and what it shows. */
export type Come = { id: number; label: string; about?: string; tenantId: string; shown: ReactNode }

type LateResultsProps = { results: Come[]; shownTenant: string | undefined; onDismiss: (id: number) => void }

/** What came after its page was left. */
export function LateResults({ results, shownTenant, onDismiss }: LateResultsProps) {
  if (results.length === 0) return null
  return (
    <section className={styles.part} aria-label="Came after its page was left">
      {results.map(({ id, label, about, tenantId, shown }) => (
        <div key={id} className={styles.one}>
          <p>
            “{label}” {about !== undefined && <>for {<bdi>{about}</bdi>} </>}
            {tenantId !== shownTenant && (
              <>
                of <bdi className="mono">{tenantId}</bdi>{' '}
              </>
            )}
            went on after it was left. This came of it:
          </p>
          <div className={styles.shown}>{shown}</div>
          <Button variant="default" size="xs" onClick={onFirstClick(() => onDismiss(id))}>
            Dismiss
          </Button>
        </div>
      ))}
    </section>
  )
}
