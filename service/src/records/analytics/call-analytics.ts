import type { Clock } from '../../kernel/clock.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import { LocalTime } from '../../kernel/local-time.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { addUp, type Figures, figuresOf, sumsOf } from './figures.ts'
import {
  type FigureAsk,
  type FigureKey,
  type FigureRow,
  type Grouping,
  listFigures,
  listOutcomes,
  type Outcomes,
} from './figures-store.ts'
import { oldestChange } from './rollup-store.ts'
import { cutRange, type Interval, type RangeAsk, type Spans } from './spans.ts'

/** What figures somebody wants. Without a time zone it is the tenant's, else UTC. */
export type AnalyticsAsk = Omit<RangeAsk, 'timeZone'> & {
  timeZone: string | null
  groupBy: Grouping | null
  agentKey?: string | undefined
  agentVersionId?: string | undefined
}

/** The figures of a span, and of what it was told apart by. */
export type AnalyticsRow = Omit<FigureKey, 'span'> & Figures & { startsAt: Date; endsAt: Date }

/** What calls came to, in all and by span. */
export type Analytics = {
  interval: Interval
  timeZone: string
  since: Date
  until: Date
  /** What was written of calls by then is counted. */
  countedUntil: Date
  totals: Figures
  /** In the order of their spans. Every span has a row, unless they are told apart: then those have that have calls. */
  rows: AnalyticsRow[]
}

/** What calls came to, by hour or day. */
export type CallAnalytics = {
  /** @throws AppError `invalid_request` for a range or a time zone that is none, and for more than 5,000 rows. */
  ofTenant(tenantId: TenantId, ask: AnalyticsAsk): Promise<Analytics>
  /** Of all tenants together, or by tenant. @throws as `ofTenant`. */
  acrossTenants(ask: AnalyticsAsk): Promise<Analytics>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

const MAX_ROWS = 5_000
const USUAL_ZONE = 'UTC'

export function makeCallAnalytics({ db, clock, tenants }: Deps): CallAnalytics {
  const local = new LocalTime()

  async function read(tenantId: TenantId | null, ask: AnalyticsAsk, timeZone: string): Promise<Analytics> {
    const now = new Date(clock.now())
    const spans = cutRange(local, { ...ask, timeZone }, now)
    // Asked for before the figures: what changes in between is told as not counted.
    const countedUntil = (await oldestChange(db, tenantId)) ?? now
    const { figures, outcomes, inAll } = await rowsOf(db, tenantId, { ask, spans })
    const outcomesOf = new Map(outcomes.map((row) => [nameOf(row), row.outcomes]))
    const sums = figures.map((row) => ({ row, sums: sumsOf(row) }))
    const rows = sums.map(({ row, sums: own }) => shownRow(row, figuresOf(own, outcomesOf.get(nameOf(row))), spans))
    const { edges, interval } = spans
    const [since = now, until = now] = [edges[0], edges.at(-1)]
    return {
      ...{ interval, timeZone, since, until, countedUntil },
      totals: figuresOf(addUp(sums.map((each) => each.sums)), inAll),
      rows: ask.groupBy === null ? withEmpty(rows, spans) : rows,
    }
  }

  return {
    async ofTenant(tenantId, ask) {
      const zone = ask.timeZone ?? (await tenants.get(tenantId))?.compliance.timezone
      return read(tenantId, ask, zone ?? USUAL_ZONE)
    },
    acrossTenants: (ask) => read(null, ask, ask.timeZone ?? USUAL_ZONE),
  }
}

type Asked = { ask: AnalyticsAsk; spans: Spans }
type Read = Outcomes & { figures: FigureRow[] }

async function rowsOf(db: Db, tenantId: TenantId | null, { ask, spans: { edges } }: Asked): Promise<Read> {
  const { groupBy, agentKey, agentVersionId } = ask
  // An id that nothing can have is an unknown one.
  if (agentVersionId !== undefined && !isUuid(agentVersionId)) return { figures: [], outcomes: [], inAll: [] }
  const wanted: FigureAsk = {
    ...{ tenantId, groupBy, edges, agentKey, limit: MAX_ROWS },
    agentVersionId: agentVersionId as AgentVersionId | undefined,
  }
  const [figures, outcomes] = await Promise.all([listFigures(db, wanted), listOutcomes(db, wanted)])
  if (figures.length > MAX_ROWS) throw tooMany()
  return { figures, ...outcomes }
}

function tooMany() {
  const message = `asks for more than ${MAX_ROWS} rows: ask for fewer days, for days in place of hours, or for one agent`
  return invalidRequest([{ path: '/query/interval', message }])
}

function nameOf({ span, tenant_id, agent_key, agent_version_id }: FigureKey): string {
  return JSON.stringify([span, tenant_id, agent_key, agent_version_id])
}

function shownRow({ span, ...row }: FigureRow, figures: Figures, { edges }: Spans): AnalyticsRow {
  const { tenant_id, agent_key, agent_version_id, version_number } = row
  return {
    ...spanAt(edges, span - 1),
    ...(tenant_id !== undefined && { tenant_id }),
    ...(agent_key !== undefined && { agent_key }),
    ...(agent_version_id !== undefined && { agent_version_id }),
    ...(version_number !== undefined && { version_number }),
    ...figures,
  }
}

function spanAt(edges: Date[], at: number): { startsAt: Date; endsAt: Date } {
  const [startsAt = new Date(0), endsAt = new Date(0)] = edges.slice(at, at + 2)
  return { startsAt, endsAt }
}

/** With a row for each span in which nobody called: a chart of them has no gaps. */
function withEmpty(rows: AnalyticsRow[], { edges }: Spans): AnalyticsRow[] {
  const known = new Map(rows.map((row) => [row.startsAt.getTime(), row]))
  const none = figuresOf(addUp([]))
  return edges.slice(0, -1).map((edge, at) => known.get(edge.getTime()) ?? { ...spanAt(edges, at), ...none })
}
