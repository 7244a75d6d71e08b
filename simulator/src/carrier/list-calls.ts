import type { CallRecord } from './call-record.ts'

const USUAL_PAGE = 50
const LARGEST_PAGE = 1000

/**
 * A page of calls, newest first, narrowed by To, From, Status, ParentCallSid and the day of StartTime (also with `>=`
 * or `<=` after the name). Calls made less than `lagMs` ago are not in it yet.
 */
export function listCalls(
  records: Iterable<CallRecord>,
  query: URLSearchParams,
  { path, now, lagMs }: { path: string; now: Date; lagMs: number },
): Record<string, unknown> {
  const pageSize = Math.min(LARGEST_PAGE, Math.max(1, Number(query.get('PageSize') ?? USUAL_PAGE) || USUAL_PAGE))
  const page = Math.max(0, Number(query.get('Page') ?? 0) || 0)
  const found = [...records]
    .filter((record) => now.getTime() - record.createdAt.getTime() >= lagMs && fits(record, query))
    .reverse()
  const calls = found.slice(page * pageSize, (page + 1) * pageSize)
  const uri = (wanted: number) => `${path}?${withPage(query, { page: wanted, pageSize })}`
  return {
    calls: calls.map((record) => record.toJson()),
    page,
    page_size: pageSize,
    start: page * pageSize,
    end: page * pageSize + Math.max(0, calls.length - 1),
    uri: uri(page),
    first_page_uri: uri(0),
    next_page_uri: (page + 1) * pageSize < found.length ? uri(page + 1) : null,
    previous_page_uri: page > 0 ? uri(page - 1) : null,
  }
}

function fits(record: CallRecord, query: URLSearchParams): boolean {
  const { to, from, parentSid } = record.identity
  const wanted: [string, string | null][] = [
    ['To', to],
    ['From', from],
    ['Status', record.status],
    ['ParentCallSid', parentSid],
  ]
  const day = record.createdAt.toISOString().slice(0, 10)
  return (
    wanted.every(([name, value]) => !query.has(name) || query.get(name) === value) &&
    (!query.has('StartTime') || query.get('StartTime') === day) &&
    day >= (query.get('StartTime>') ?? '') &&
    day <= (query.get('StartTime<') ?? '9999')
  )
}

function withPage(query: URLSearchParams, { page, pageSize }: { page: number; pageSize: number }): string {
  const next = new URLSearchParams(query)
  next.set('Page', String(page))
  next.set('PageSize', String(pageSize))
  return next.toString()
}
