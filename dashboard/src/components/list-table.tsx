import { Skeleton } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type AnchorHTMLAttributes, memo, type ReactNode, useRef } from 'react'
import styles from './list-table.module.css'

/** A column of a list. */
export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  /** The width from which on there is room for it. Left out: always. */
  from?: 'tablet' | 'desktop' | 'wide'
  isNumber?: boolean
  /** Somebody writes what stands in it: however long a word of that is, it makes room for the other columns. */
  isWritten?: boolean
  /** Its buttons are in sight however narrow the window is. */
  isActions?: boolean
}

type ListTableProps<Row> = {
  label: string
  columns: Column<Row>[]
  /** Undefined: not known yet. */
  rows: Row[] | undefined
  keyOf: (row: Row) => string
}

/** As high as a row is until it is drawn and measured: in a narrow window what stands in it takes two lines. */
const ROW_PX = 49
/** Longer lists draw what is in the window alone. */
const MOST_DRAWN = 150
const UNSEEN_ROWS = 20
const EXPECTED_ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

function RowAnchor({ children, className: _class, ...props }: AnchorHTMLAttributes<HTMLAnchorElement>) {
  return (
    <a {...props} className={styles.rowLink}>
      {children}
    </a>
  )
}

/** A link in a row that the whole row stands for. */
export const RowLink = createLink(RowAnchor)

/** Rows in columns. What is not known yet has the height that it will have. */
export function ListTable<Row>({ label, columns, rows, keyOf }: ListTableProps<Row>) {
  const table = useRef<HTMLTableElement>(null)
  const count = rows?.length ?? 0
  const isLong = count > MOST_DRAWN
  const virtual = useWindowVirtualizer({
    count: isLong ? count : 0,
    estimateSize: () => ROW_PX,
    overscan: UNSEEN_ROWS,
    scrollMargin: table.current?.offsetTop ?? 0,
  })
  const items = virtual.getVirtualItems()
  const drawn = isLong ? items.map(({ index }) => index) : (rows ?? []).map((_row, at) => at)
  const abovePx = (items[0]?.start ?? 0) - (items[0] ? virtual.options.scrollMargin : 0)
  const belowPx = virtual.getTotalSize() + virtual.options.scrollMargin - (items.at(-1)?.end ?? 0)

  return (
    // What is wider than the page is moved by the keyboard as well.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached
    <fieldset className={styles.frame} aria-label={label} tabIndex={0}>
      <table className={styles.table} ref={table} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space heightPx={isLong ? abovePx : 0} columns={columns.length} />
          {rows === undefined
            ? EXPECTED_ROWS.map((row) => (
                <tr key={row}>
                  {columns.map((column) => (
                    <td key={column.name} className={classOf(column)}>
                      <Skeleton height={12} width="70%" my={6} ms={column.isNumber ? 'auto' : 0} />
                    </td>
                  ))}
                </tr>
              ))
            : drawn.map((at) => {
                const row = rows[at] as Row
                const measured = isLong && { at, measure: virtual.measureElement }
                return <DrawnRow key={keyOf(row)} row={row} columns={columns} {...measured} />
              })}
          <Space heightPx={isLong ? belowPx : 0} columns={columns.length} />
        </tbody>
      </table>
    </fieldset>
  )
}

function classOf<Row>({ from, isNumber, isWritten, isActions }: Column<Row>): string {
  const kinds = [isNumber && styles.number, isWritten && styles.written, isActions && styles.actions]
  return [from && styles[from], ...kinds].filter(Boolean).join(' ')
}

type TableRowProps<Row> = {
  row: Row
  columns: Column<Row>[]
  /** Where it stands in a long list, and who wants to know how high it is. */
  at?: number
  measure?: (row: HTMLTableRowElement | null) => void
}

function TableRow<Row>({ row, columns, at, measure }: TableRowProps<Row>) {
  return (
    <tr className={styles.row} ref={measure} data-index={at}>
      {columns.map((column) => (
        <td key={column.name} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** While a long list is scrolled only the rows that come into sight are drawn, where its columns stay the same. */
const DrawnRow = memo(TableRow) as typeof TableRow

/** As high as the rows that are not drawn. */
function Space({ heightPx, columns }: { heightPx: number; columns: number }) {
  if (heightPx <= 0) return null
  return (
    <tr>
      <td colSpan={columns} className={styles.space} style={{ height: heightPx }} />
    </tr>
  )
}
