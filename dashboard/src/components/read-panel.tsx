import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LastReadFailed } from './empty-state.tsx'
import { FailureState } from './failure-state.tsx'
import { Column } from './fields.tsx'
import { Panel } from './panel.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

type ReadPanelProps<Data> = {
  title: string
  aside?: ReactNode
  query: UseQueryResult<Data>
  children: (data: Data) => ReactNode
}

/** A part of a page that reads something of its own. What it had stays while it cannot be read again. */
export function ReadPanel<Data>({ title, aside, query, children }: ReadPanelProps<Data>) {
  const { data, error, refetch } = query
  const place = useKeptFocus(error)
  return (
    <Panel title={title} aside={aside}>
      <div ref={place} tabIndex={-1}>
        <Column>
          {error && <FailureState error={error} onRetry={() => void refetch()} />}
          {data !== undefined && <LastReadFailed value={error !== null}>{children(data)}</LastReadFailed>}
          {data === undefined && !error && <Skeleton height={80} radius="md" aria-busy="true" />}
        </Column>
      </div>
    </Panel>
  )
}
