import { Button } from '@mantine/core'
import { FailureState } from './failure-state.tsx'
import styles from './late-news.module.css'
import { onFirstClick } from './second-click.ts'

/** Something that failed when its window was closed already: the label of that, for whom or what it was, and of which tenant its page was. */
export type Failed = {
  id: number
  label: string
  about: string | undefined
  tenantId: string | undefined
  error: unknown
}

type LateFailuresProps = { failures: Failed[]; shownTenant: string | undefined; onDismiss: (id: number) => void }

/** What failed after its window was closed. */
export function LateFailures({ failures, shownTenant, onDismiss }: LateFailuresProps) {
  if (failures.length === 0) return null
  return (
    <section className={styles.part} aria-label="Failed after its window was closed">
      {failures.map(({ id, label, about, tenantId, error }) => (
        <div key={id} className={styles.one}>
          <p>
            “{label}” {about !== undefined && <>for {<bdi>{about}</bdi>} </>}
            {tenantId !== shownTenant && tenantId !== undefined && <>of {<bdi className="mono">{tenantId}</bdi>} </>}
            went on after its window was closed, and failed:
          </p>
          <FailureState error={error} />
          <Button variant="default" size="xs" onClick={onFirstClick(() => onDismiss(id))}>
            Dismiss
          </Button>
        </div>
      ))}
    </section>
  )
}
