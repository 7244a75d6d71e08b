import styles from './list-table.module.css'
import type { Column } from './list-table.tsx'

type PlainTableProps<Row> = { label: string; columns: Column<Row>[]; rows: Row[]; keyOf: (row: Row) => string }

/** A few rows in columns, all of which are drawn: `ListTable` is for lists. */
export function PlainTable<Row>({ label, columns, rows, keyOf }: PlainTableProps<Row>) {
  const classOf = ({ from, isNumber }: Column<Row>) => [from && styles[from], isNumber && styles.number].join(' ')
  return (
    // What is wider than the page is moved by the keyboard as well.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached
    <fieldset className={styles.frame} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
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
          {rows.map((row) => (
            <tr key={keyOf(row)} className={styles.row}>
              {columns.map((column) => (
                <td key={column.name} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </fieldset>
  )
}
