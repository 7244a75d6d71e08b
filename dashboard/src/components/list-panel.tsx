import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { LastReadFailed } from './empty-state.tsx'
import { FailureState } from './failure-state.tsx'
import { Column as Below, Buttons } from './fields.tsx'
import { HeldRows, useHeldRows } from './held-rows.ts'
import { type Column, ListTable } from './list-table.tsx'
import { Panel } from './panel.tsx'
import { useStillRows } from './still-rows.ts'
import { useKeptFocus } from './use-kept-focus.ts'
import type { List } from './use-list.ts'

type ListPanelProps<Row> = {
  title: string
  aside?: ReactNode
  /** Above the rows. */
  children?: ReactNode
  list: List<Row>
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  /** An `EmptyState`, for a list without rows. */
  empty: ReactNode
}

/** A list that is a part of a page. */
export function ListPanel<Row>({ title, aside, children, list, columns, keyOf, empty }: ListPanelProps<Row>) {
  const { error, hasMore, isLoadingMore, loadMore, reload } = list
  const place = useKeptFocus([error, isLoadingMore, hasMore].join())
  const { rows, note } = useHeldRows(useStillRows(list, keyOf, place))
  const hasTable = rows === undefined ? error === null : rows.length > 0
  return (
    <Panel title={title} aside={aside}>
      <div ref={place} tabIndex={-1}>
        <Below>
          {children}
          {error !== null && <FailureState error={error} onRetry={reload} />}
          {rows?.length === 0 && <LastReadFailed value={error !== null}>{empty}</LastReadFailed>}
          {hasTable && (
            <HeldRows value={note}>
              <ListTable label={title} columns={columns} rows={rows} keyOf={keyOf} />
            </HeldRows>
          )}
          {hasMore && (
            <Buttons>
              <Button variant="default" loading={isLoadingMore} onClick={loadMore}>
                Load more
              </Button>
            </Buttons>
          )}
        </Below>
      </div>
    </Panel>
  )
}
