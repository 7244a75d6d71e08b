import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LastReadFailed } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { CountedUntil } from './counted-until.tsx'
import type { Analytics } from './overview-queries.ts'
import styles from './read-figures.module.css'

type ReadFiguresProps = {
  query: UseQueryResult<Analytics>
  /** Stands in place of charts of nothing. */
  empty: (analytics: Analytics) => ReactNode
  children: (analytics: Analytics) => ReactNode
}

const EXPECTED_PX = 480

/** What calls came to, once it is read. What was there stays while it cannot be read again. */
export function ReadFigures({ query: { data, error, refetch }, empty, children }: ReadFiguresProps) {
  return (
    <>
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {data?.totals.calls === 0 && <LastReadFailed value={error !== null}>{empty(data)}</LastReadFailed>}
      {data && data.totals.calls > 0 && <Figures analytics={data}>{children(data)}</Figures>}
      {!data && !error && <Skeleton height={EXPECTED_PX} radius="md" aria-busy="true" />}
    </>
  )
}

function Figures({ analytics, children }: { analytics: Analytics; children: ReactNode }) {
  return (
    <>
      <p className={styles.counted}>
        Counted until <CountedUntil at={analytics.counted_until} />
      </p>
      {children}
    </>
  )
}
