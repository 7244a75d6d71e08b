import type uPlot from 'uplot'
import { LOCALE, mendLanguage } from './locale.ts'
import { pageColour, paperColour } from './page-colour.ts'

/** One value for each span. A gap is null. */
export type ChartLine = {
  name: string
  /** A colour of `tokens.css`. */
  colour: '--accent' | '--busy' | '--wait'
  shape: 'bars' | 'line' | 'dashes'
  values: (number | null)[]
}

/** What a chart shows: values over spans of time, which follow on each other. */
export type ChartData = {
  /** Where the spans begin, and the last one ends, in ms: one more than there are values. */
  edges: number[]
  lines: ChartLine[]
  /** Writes a value at the left edge. */
  valueText: (value: number) => string
  /** There is nothing between one and the next: no line stands for a half. */
  isWhole?: boolean
  /** The value at the upper edge, when it is always the same. */
  most?: number
}

/** A chart that is drawn. */
export type Drawing = { resize: (widthPx: number) => void; close: () => void }

/** Returns what tells a colour of `tokens.css` whenever something is drawn with it. */
type ColourOf = (name: string) => () => string

type Marks = {
  /** The span under the pointer; null: none. */
  onPoint: (at: number | null) => void
  onPick: (at: number) => void
}

const HEIGHT_PX = 176
const LABELS_PX = 56
const TIMES_PX = 34
/** The lowest value stands half below its line: the times begin below that. */
const TIMES_GAP_PX = 11
const TIMES_APART_PX = 76
/** The last time stands with its middle at the right edge. */
const HALF_A_TIME_PX = 32
const FONT = '12px ui-sans-serif, system-ui, sans-serif'
const BAR_SHARE = 0.72
const MOST_BAR_PX = 48
const HEADROOM = 1.1
const POINT_PX = 6

/** Draws a chart into an element of the page. The library is loaded when it is needed first. */
export async function drawChart(container: HTMLElement, data: ChartData, marks: Marks): Promise<Drawing> {
  mendLanguage()
  const { default: Chart } = await import('uplot')
  const { edges, lines } = data
  const starts = edges.slice(0, -1).map((ms) => ms / 1_000)
  let isOnPaper = false
  const colourOf: ColourOf = (name) => () => (isOnPaper ? paperColour : pageColour)(name)
  const chart = new Chart(
    {
      width: container.clientWidth,
      height: HEIGHT_PX,
      padding: [null, HALF_A_TIME_PX, null, null],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { range: [(edges[0] ?? 0) / 1_000, (edges.at(-1) ?? 0) / 1_000] }, y: { range: rangeOf(data) } },
      axes: axesOf(data, colourOf),
      series: [{}, ...lines.map((line) => seriesOf(line, { library: Chart, colourOf }))],
      hooks: { setCursor: [({ cursor }) => marks.onPoint(spanAt(cursor, chart, starts))] },
    },
    [starts, ...lines.map(({ values }) => values)],
    container,
  )
  chart.over.addEventListener('click', () => {
    const at = spanAt(chart.cursor, chart, starts)
    if (at !== null) marks.onPick(at)
  })
  function drawFor(paper: boolean): void {
    isOnPaper = paper
    // What lines and bars are drawn with is kept with their paths. At once: Firefox prints what is there when it has told of that.
    chart.batch(() => chart.redraw(true))
  }
  const toPaper = () => drawFor(true)
  const toScreen = () => drawFor(false)
  // Of a machine, that somebody may change while they look at it.
  const fewColours = matchMedia('(forced-colors: active)')
  addEventListener('beforeprint', toPaper)
  addEventListener('afterprint', toScreen)
  fewColours.addEventListener('change', toScreen)
  return {
    resize: (width) => chart.setSize({ width, height: HEIGHT_PX }),
    close() {
      removeEventListener('beforeprint', toPaper)
      removeEventListener('afterprint', toScreen)
      fewColours.removeEventListener('change', toScreen)
      chart.destroy()
    },
  }
}

/** The span in which the pointer is: the one that began last. */
function spanAt({ left = -1 }: uPlot.Cursor, chart: uPlot | undefined, starts: number[]): number | null {
  if (chart === undefined || left < 0) return null
  const seconds = chart.posToVal(left, 'x')
  const at = starts.findLastIndex((start) => start <= seconds)
  return at === -1 ? null : at
}

function rangeOf({ most }: ChartData): uPlot.Range.Function {
  return (_chart, _min, max) => [0, most ?? Math.max(1, (max ?? 1) * HEADROOM)]
}

/** What lines may be apart: a quarter of something would be written as 0.3 of it. */
const STEPS = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))

/** What the lines of a chart may be apart. */
export function stepsOf(isWhole = false): number[] {
  return isWhole ? STEPS.filter((step) => step >= 1) : STEPS
}

function axesOf({ valueText, isWhole }: ChartData, colourOf: ColourOf): uPlot.Axis[] {
  const line = { stroke: colourOf('--line'), width: 1 }
  const both = { stroke: colourOf('--soft'), font: FONT, grid: line, ticks: { show: false } }
  return [
    { ...both, grid: { show: false }, size: TIMES_PX, gap: TIMES_GAP_PX, space: TIMES_APART_PX, values: timeTexts },
    {
      ...both,
      size: LABELS_PX,
      incrs: stepsOf(isWhole),
      values: (_chart, values) => values.map(valueText),
    },
  ]
}

const TIME = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const DAY_SECONDS = 86_400

/** Times of day while the marks are hours apart, else days. */
function timeTexts(_chart: uPlot, seconds: number[]): string[] {
  const apart = (seconds[1] ?? 0) - (seconds[0] ?? 0)
  return seconds.map((each) => {
    const date = new Date(each * 1_000)
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
    return (apart >= DAY_SECONDS || isMidnight ? DAY : TIME).format(date)
  })
}

/** The values between two gaps: no line goes through them. */
function aloneIn(values: (number | null)[]): number[] {
  const isGap = (at: number) => (values[at] ?? null) === null
  return values.flatMap((_value, at) => (!isGap(at) && isGap(at - 1) && isGap(at + 1) ? [at] : []))
}

type SeriesTools = { library: typeof uPlot; colourOf: ColourOf }

function seriesOf({ name, colour, shape, values }: ChartLine, { library, colourOf }: SeriesTools): uPlot.Series {
  const stroke = colourOf(colour)
  if (shape !== 'bars') {
    const points = { show: true, size: POINT_PX, fill: stroke, filter: () => aloneIn(values) }
    return { label: name, stroke, width: 2, points, ...(shape === 'dashes' && { dash: [5, 4] }) }
  }
  const { bars } = library.paths
  const paths = bars?.({ size: [BAR_SHARE, MOST_BAR_PX], align: 1 })
  return { label: name, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) }
}
