import { type ReactNode, useMemo } from 'react'
import type { ChartData, ChartLine } from '../../components/chart-drawing.ts'
import { TimeChart } from '../../components/time-chart.tsx'
import styles from './call-charts.module.css'
import type { Analytics, AnalyticsRow } from './overview-queries.ts'
import { answeredText, numberOf, scoreText, shareText, shortText, spokenText, waitText } from './overview-text.ts'

type CallChartsProps = {
  analytics: Analytics
  /** Goes to the calls of a span. */
  onPick: (row: AnalyticsRow) => void
  /** The same as a link. */
  linkTo: (row: AnalyticsRow, name: string) => ReactNode
}

/** How calls went over time: how many, how many were answered, how soon agents spoke, how good it was, how long it took. */
export function CallCharts({ analytics, onPick, linkTo }: CallChartsProps) {
  const { rows, totals, interval } = analytics
  const per = interval === 'hour' ? 'hour' : 'day'
  const charts = useMemo(() => chartsOf(rows), [rows])
  const each = {
    onPick: (at: number) => rows[at] && onPick(rows[at]),
    linkTo: (at: number, name: string) => rows[at] && linkTo(rows[at], name),
  }
  const { response_p50_ms: p50, response_p95_ms: p95 } = totals
  return (
    <div className={styles.charts}>
      <TimeChart title={`Calls per ${per}`} summary={answeredText(totals)} data={charts.calls} {...each} />
      <TimeChart
        title="Answer rate"
        summary={
          totals.answer_rate === null ? 'No calls.' : `${shareText(totals.answer_rate)} of all calls were answered.`
        }
        data={charts.rate}
        {...each}
      />
      <TimeChart
        title="Response time"
        summary={
          p50 === null
            ? 'No answers.'
            : `Half of the answers came within ${waitText(p50)}, 95% within ${waitText(p95)}.`
        }
        data={charts.responses}
        {...each}
      />
      <TimeChart
        title="Average score"
        summary={
          totals.avg_score === null
            ? 'No scored conversations.'
            : `${scoreText(totals.avg_score)} on average, of ${numberOf(totals.scored, 'scored conversation')}.`
        }
        data={charts.score}
        {...each}
      />
      <TimeChart title={`Minutes per ${per}`} summary={spokenText(totals.minutes)} data={charts.minutes} {...each} />
    </div>
  )
}

function chartsOf(rows: AnalyticsRow[]): Record<'calls' | 'rate' | 'responses' | 'score' | 'minutes', ChartData> {
  const edges = [...rows.map(({ starts_at }) => Date.parse(starts_at)), Date.parse(rows.at(-1)?.ends_at ?? '')]
  const of = (value: (row: AnalyticsRow) => number | null) => rows.map(value)
  const line = (name: string, values: ChartLine['values'], facts: Omit<ChartLine, 'name' | 'values'>) => {
    return { name, values, ...facts }
  }
  const accent = { colour: '--accent', shape: 'line' } as const
  return {
    calls: {
      edges,
      lines: [
        line(
          'All calls',
          of(({ calls }) => calls),
          { colour: '--wait', shape: 'bars' },
        ),
        line(
          'Answered',
          of(({ answered }) => answered),
          { colour: '--accent', shape: 'bars' },
        ),
      ],
      ...{ valueText: shortText, isWhole: true },
    },
    rate: {
      ...{ edges, most: 1, valueText: shareText },
      lines: [
        line(
          'Answer rate',
          of(({ answer_rate }) => answer_rate),
          accent,
        ),
      ],
    },
    responses: {
      edges,
      lines: [
        line(
          'Median',
          of(({ response_p50_ms }) => response_p50_ms),
          accent,
        ),
        line(
          '95%',
          of(({ response_p95_ms }) => response_p95_ms),
          { colour: '--busy', shape: 'dashes' },
        ),
      ],
      ...{ valueText: waitText, isWhole: true },
    },
    score: {
      ...{ edges, most: 1, valueText: scoreText },
      lines: [
        line(
          'Average score',
          of(({ avg_score }) => avg_score),
          accent,
        ),
      ],
    },
    minutes: {
      ...{ edges, valueText: shortText },
      lines: [
        line(
          'Minutes',
          of(({ minutes }) => minutes),
          { colour: '--busy', shape: 'bars' },
        ),
      ],
    },
  }
}
