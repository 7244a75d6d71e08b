import type { Column } from '../../components/list-table.tsx'
import { usdText } from '../../components/text.ts'
import type { AnalyticsRow } from './overview-queries.ts'
import { minutesText, scoreText, shareText, waitText } from './overview-text.ts'

/** What stands beside the name of whoever's calls these are. */
export const FIGURE_COLUMNS: Column<AnalyticsRow>[] = [
  { name: 'Minutes', isNumber: true, from: 'tablet', cell: ({ minutes }) => minutesText(minutes) },
  { name: 'Cost', isNumber: true, cell: ({ cost_usd }) => usdText(cost_usd) },
  { name: 'Answered', isNumber: true, from: 'desktop', cell: ({ answer_rate }) => shareText(answer_rate) },
  { name: 'Response', isNumber: true, from: 'tablet', cell: ({ response_p50_ms }) => waitText(response_p50_ms) },
  { name: '95%', isNumber: true, from: 'desktop', cell: ({ response_p95_ms }) => waitText(response_p95_ms) },
  { name: 'Score', isNumber: true, cell: ({ avg_score }) => scoreText(avg_score) },
]
