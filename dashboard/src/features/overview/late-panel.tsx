import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTenantNames } from '../../api/tenants.ts'
import { ReadPanel } from '../../components/read-panel.tsx'
import styles from './late-panel.module.css'
import type { LateQueue } from './overview-queries.ts'
import { countText } from './overview-text.ts'

type LatePanelProps = {
  query: UseQueryResult<LateQueue[]>
  /** Whether the queues are of several tenants. */
  ofAll?: boolean
}

/** The queues in which something should have been done: a bar for each, the longest as wide as there is room. */
export function LatePanel({ query, ofAll = false }: LatePanelProps) {
  const nameOf = useTenantNames()
  return (
    <ReadPanel title="Late tasks by queue" query={query}>
      {(queues) => {
        if (queues.length === 0) return <p className={styles.none}>Nothing is late.</p>
        const most = Math.max(...queues.map(({ breached }) => breached))
        return (
          <ul className={styles.queues}>
            {queues.map(({ tenant_id: tenantId, queue_key: queue, breached }) => (
              <li key={`${tenantId} ${queue}`} className={styles.queue}>
                <Link
                  to="/t/$tenantId/desk"
                  params={{ tenantId }}
                  search={{ queue_key: queue }}
                  className={styles.name}
                >
                  {ofAll && (
                    <>
                      <bdi>{nameOf(tenantId)}</bdi>
                      {' · '}
                    </>
                  )}
                  {queue}
                </Link>
                <span className={styles.bar} style={{ width: `${(100 * breached) / most}%` }} />
                <span className={styles.count}>{countText(breached)}</span>
              </li>
            ))}
          </ul>
        )
      }}
    </ReadPanel>
  )
}
