import type { ReactNode } from 'react'
import { LastReadFailed } from './empty-state.tsx'
import { FailureState } from './failure-state.tsx'
import { HeldRows, useHeldRows } from './held-rows.ts'
import styles from './list-page.module.css'
import { type Column, ListTable } from './list-table.tsx'
import { LoadMore } from './load-more.tsx'
import { Page } from './page.tsx'
import { useStillRows } from './still-rows.ts'
import { useKeptFocus } from './use-kept-focus.ts'
import type { List } from './use-list.ts'

type ListPageProps<Row> = {
  title: string
  description?: ReactNode
  /** The way back, of a list that stands behind another page. */
  above?: ReactNode
  actions?: ReactNode
  /** A `FilterBar`. */
  filters?: ReactNode
  list: List<Row>
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  /** An `EmptyState`, for a list without rows. */
  empty: ReactNode
}

/** A page that is a list: filters, rows, more of them. What it had stays while it cannot be read again. */
export function ListPage<Row>({ list, filters, columns, keyOf, empty, ...page }: ListPageProps<Row>) {
  const { error, hasMore, reload } = list
  const place = useKeptFocus(error)
  const { rows, note } = useHeldRows(useStillRows(list, keyOf, place))
  const more = useKeptFocus([list.isLoadingMore, hasMore].join())
  const isEmpty = rows?.length === 0
  const hasTable = !isEmpty && !(error && rows === undefined)
  return (
    <Page {...page} isInOrder>
      {filters}
      <div ref={place} tabIndex={-1} className={styles.list}>
        {error !== null && <FailureState error={error} onRetry={reload} />}
        {isEmpty && <LastReadFailed value={error !== null}>{empty}</LastReadFailed>}
        {hasTable && (
          <HeldRows value={note}>
            <ListTable label={page.title} columns={columns} rows={rows} keyOf={keyOf} />
          </HeldRows>
        )}
      </div>
      <div ref={more} tabIndex={-1} className={styles.more}>
        <LoadMore list={list} />
        <output className={styles.count}>
          {/* What stands in their place says it to whoever sees that, and is not read out. */}
          {isEmpty && error === null ? <span className="unseen">None</span> : countOf(rows, hasMore)}
        </output>
      </div>
    </Page>
  )
}

function countOf(rows: unknown[] | undefined, hasMore: boolean): string {
  if (!rows || rows.length === 0) return ''
  if (hasMore) return `The first ${rows.length}`
  return rows.length === 1 ? 'One in all' : `${rows.length} in all`
}
