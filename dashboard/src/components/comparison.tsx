import { type ComparedLine, compareLines, linesOf } from './compared-lines.ts'
import styles from './comparison.module.css'

type Side = { title: string; value: unknown }
type ComparisonProps = { before: Side; after: Side }

/** Equal lines that are shown around what differs. */
const AROUND = 3

/** Two values beside each other: what one has and the other has not. */
export function Comparison({ before, after }: ComparisonProps) {
  const lines = compareLines(linesOf(before.value), linesOf(after.value))
  const isEqual = lines.every((line) => line.before === line.after)
  if (isEqual) return <p>There is no difference.</p>
  const label = `${before.title} and ${after.title}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached
    <section className={styles.frame} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{before.title}</th>
            <th scope="col">{after.title}</th>
          </tr>
        </thead>
        <tbody>
          {shown(lines).map(({ key, line }) =>
            line === null ? <Skipped key={key} /> : <Line key={key} line={line} />,
          )}
        </tbody>
      </table>
    </section>
  )
}

function Line({ line: { before, after } }: { line: ComparedLine }) {
  const isEqual = before === after
  return (
    <tr>
      <td className={!isEqual && before !== null ? styles.gone : ''}>{before}</td>
      <td className={!isEqual && after !== null ? styles.come : ''}>{after}</td>
    </tr>
  )
}

function Skipped() {
  return (
    <tr className={styles.skipped}>
      <td>…</td>
      <td>…</td>
    </tr>
  )
}

/** What differs with what stands around it; null for what is left out between. */
function shown(lines: ComparedLine[]): { key: number; line: ComparedLine | null }[] {
  const near = new Set<number>()
  for (const [at, { before, after }] of lines.entries())
    if (before !== after) for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by)
  return lines.flatMap((line, at): { key: number; line: ComparedLine | null }[] => {
    if (near.has(at)) return [{ key: at, line }]
    return at === 0 || near.has(at - 1) ? [{ key: at, line: null }] : []
  })
}
