import { Button } from '@mantine/core'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { ChangeDetails } from './change-details.tsx'
import styles from './desk.module.css'
import { listChanges, taskKey } from './task-queries.ts'

/** Who did what to a task, newest first. */
export function TaskHistory({ tenantId, id }: { tenantId: string; id: string }) {
  const { rows, error, hasMore, isLoadingMore, loadMore, reload } = useList({
    queryKey: [...taskKey(tenantId, id), 'history'],
    part: (cursor) => listChanges(tenantId, id, cursor),
  })
  return (
    <Panel title="History">
      {error !== null && <FailureState error={error} onRetry={reload} />}
      {rows?.length === 0 && error === null && (
        <EmptyState title="Nothing yet">What somebody does is written down here.</EmptyState>
      )}
      <ol className={styles.history}>
        {rows?.map((change) => (
          <li key={change.id}>
            <div className={styles.change}>
              <strong>{words(change.action)}</strong>
              {change.operator && <span>{change.operator}</span>}
              <Instant at={change.created_at} />
            </div>
            <ChangeDetails tenantId={tenantId} details={change.details} />
            {change.note && (
              <p className={styles.text} dir="auto">
                {change.note}
              </p>
            )}
          </li>
        ))}
      </ol>
      {hasMore && (
        <Button variant="default" size="xs" loading={isLoadingMore} onClick={loadMore}>
          Load more
        </Button>
      )}
    </Panel>
  )
}
