import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type ChartData, type ChartLine, type Drawing, drawChart } from './chart-drawing.ts'
import { Panel } from './panel.tsx'
import { spanText } from './span-text.ts'
import styles from './time-chart.module.css'

type TimeChartProps = {
  title: string
  /** In a sentence, for whoever does not see the chart, and while nothing is pointed at. */
  summary: string
  data: ChartData
  aside?: ReactNode
  /** Goes to what a span is made of. */
  onPick: (at: number) => void
  /** The same as a link, in the table of the values. */
  linkTo: (at: number, name: string) => ReactNode
}

/** Values over time as a chart, and as a table. What is clicked leads to what it is made of. */
export function TimeChart({ title, summary, data, aside, onPick, linkTo }: TimeChartProps) {
  const [pointed, setPointed] = useState<number | null>(null)
  const canvas = useCanvas(data, { onPoint: setPointed, onPick })
  return (
    <Panel title={title} aside={aside}>
      <p className={styles.readout}>{pointed === null ? summary : readout(data, pointed)}</p>
      <figure ref={canvas} className={styles.chart} aria-label={`${title}. ${summary}`} />
      {data.lines.length > 1 && (
        <ul className={styles.keys}>
          {data.lines.map(({ name, colour, shape }) => (
            <li key={name}>
              <span className={`${styles.key} ${styles[shape]}`} style={{ borderColor: `var(${colour})` }} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <Values title={title} data={data} linkTo={linkTo} />
    </Panel>
  )
}

type Marks = { onPoint: (at: number | null) => void; onPick: (at: number) => void }

/** Keeps the chart in the element in step with the data, its width and the colours of the page. */
function useCanvas(data: ChartData, marks: Marks) {
  const element = useRef<HTMLElement>(null)
  const told = useRef(marks)
  useEffect(() => {
    told.current = marks
  })
  const scheme = useComputedColorScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: with other colours it has to be drawn anew
  useEffect(() => {
    const container = element.current
    if (!container) return
    let drawing: Drawing | undefined
    let isGone = false
    const onPoint = (at: number | null) => told.current.onPoint(at)
    const onPick = (at: number) => told.current.onPick(at)
    void drawChart(container, data, { onPoint, onPick }).then((drawn) => {
      if (isGone) drawn.close()
      else drawing = drawn
    })
    const observer = new ResizeObserver(() => drawing?.resize(container.clientWidth))
    observer.observe(container)
    return () => {
      isGone = true
      observer.disconnect()
      drawing?.close()
    }
  }, [data, scheme])
  return element
}

function Values({ title, data, linkTo }: Pick<TimeChartProps, 'title' | 'data' | 'linkTo'>) {
  const [isOpen, setOpen] = useState(false)
  const { lines, valueText } = data
  const filled = data.edges.slice(0, -1).flatMap((_edge, at) => (lines.some((line) => isDrawn(line, at)) ? [at] : []))
  return (
    <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached
        <section className={styles.scroll} aria-label={`${title}: values`} tabIndex={0}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {filled.toReversed().map((at) => (
                <tr key={at}>
                  <th scope="row">{linkTo(at, spanText(data, at))}</th>
                  {lines.map(({ name, values }) => (
                    <td key={name}>{textOf(values[at], valueText)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}

/** A bar of nothing is not seen, but a point at nothing is. */
function isDrawn({ values, shape }: ChartLine, at: number): boolean {
  return shape === 'bars' ? (values[at] ?? 0) > 0 : (values[at] ?? null) !== null
}

function readout({ lines, valueText, ...data }: ChartData, at: number): string {
  const values = lines.map(({ name, values }) => `${name}: ${textOf(values[at], valueText)}`)
  return `${spanText(data, at)} · ${values.join(' · ')}`
}

function textOf(value: number | null | undefined, valueText: ChartData['valueText']): string {
  return value === null || value === undefined ? 'none' : valueText(value)
}
