import { type Static, Type } from 'typebox'
import { instantFilter, iso, nullable, Timestamp } from '../../platform/http/schemas.ts'
import type { Analytics, AnalyticsAsk, AnalyticsRow } from './call-analytics.ts'
import type { Grouping } from './figures-store.ts'
import { INTERVALS, type Interval } from './spans.ts'

const Count = Type.Integer({ minimum: 0 })
const share = (description: string) => nullable(Type.Number({ minimum: 0, maximum: 1, description }))

const figures = {
  calls: Type.Integer({ minimum: 0, description: 'Calls that were written down in the span, whatever came of them.' }),
  answered: Count,
  answer_rate: share('Of all calls; null without calls.'),
  statuses: Type.Object(
    { completed: Count, busy: Count, failed: Count, 'no-answer': Count, canceled: Count },
    { description: 'Of calls that are over.' },
  ),
  escalated: Count,
  minutes: Type.Number({ minimum: 0, description: 'From answers to ends, of calls that are over.' }),
  costed: Type.Integer({ minimum: 0, description: 'Calls whose cost is known.' }),
  cost_usd: nullable(Type.Number({ minimum: 0, description: 'Of those, by list price; null when none is known.' })),
  interruptions: Type.Integer({ minimum: 0, description: 'How often callers cut agents short.' }),
  responses: Type.Integer({ minimum: 0, description: 'Answers of agents whose time is known.' }),
  response_p50_ms: nullable(
    Type.Integer({
      minimum: 0,
      description:
        "Of all answers, from when the caller's turn was known to be over until the first audio was sent; to 4%.",
    }),
  ),
  response_p95_ms: nullable(Type.Integer({ minimum: 0 })),
  scored: Type.Integer({ minimum: 0, description: 'Sessions with a score of the model or a person.' }),
  avg_score: share('Null without scores.'),
  high_quality_rate: share('Of scored sessions.'),
  outcomes: Type.Array(Type.Object({ outcome: nullable(Type.String()), calls: Count }), {
    description: 'What agents recorded, the ten that occur most; null: all others together.',
  }),
}

/** What a row is told apart by, where that was asked for. */
const text = nullable(Type.String())
const key = {
  tenant_id: Type.Optional(Type.String()),
  agent_key: Type.Optional(text),
  agent_version_id: Type.Optional(text),
  version_number: Type.Optional(nullable(Type.Integer())),
}

/** What calls came to, in all and by span. */
export const CallAnalyticsAnswer = Type.Object({
  interval: Type.Enum(INTERVALS),
  time_zone: Type.String(),
  since: Type.String({ format: 'date-time', description: 'When the first span begins.' }),
  until: Type.String({ format: 'date-time', description: 'When the last span ends.' }),
  counted_until: Type.String({
    format: 'date-time',
    description: 'All that was written of calls by then is counted; what came later is in less than a minute.',
  }),
  totals: Type.Object(figures),
  rows: Type.Array(Type.Object({ starts_at: Timestamp, ends_at: Timestamp, ...key, ...figures })),
})

/** What every analytics can be asked for, to be spread into a query. */
export const analyticsFields = {
  interval: Type.Optional(
    Type.Enum(INTERVALS, { default: 'day', description: 'all: the whole range in one span, at most 400 days.' }),
  ),
  since: instantFilter(
    'Inclusive, to a whole span. Default: seven days before until. With hours at most 31 days, else 400.',
  ),
  until: instantFilter('Exclusive, to a whole span. Default: now.'),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Whose days and hours: an IANA name. Default: the tenant's, else UTC.",
    }),
  ),
}

type Fields = {
  interval?: Interval
  since?: string
  until?: string
  time_zone?: string
  group_by?: Grouping
  agent_key?: string
  agent_version_id?: string
}

/** Reads them, with what a tenant can be asked for beside them. */
export function readAnalyticsAsk(query: Fields): AnalyticsAsk {
  const date = (text: string | undefined) => (text === undefined ? null : new Date(text))
  return {
    interval: query.interval ?? 'day',
    since: date(query.since),
    until: date(query.until),
    timeZone: query.time_zone ?? null,
    groupBy: query.group_by ?? null,
    agentKey: query.agent_key,
    agentVersionId: query.agent_version_id,
  }
}

/** Writes analytics as the API shows them. */
export function showAnalytics(analytics: Analytics): Static<typeof CallAnalyticsAnswer> {
  const { timeZone, since, until, countedUntil, rows, ...shown } = analytics
  return {
    ...shown,
    ...{ time_zone: timeZone, since: iso(since), until: iso(until), counted_until: iso(countedUntil) },
    rows: rows.map(showRow),
  }
}

function showRow({ startsAt, endsAt, ...row }: AnalyticsRow) {
  return { starts_at: iso(startsAt), ends_at: iso(endsAt), ...row }
}
