import { type Expression, type SqlBool, sql } from 'kysely'
import type { CallDirection, CallStatus } from './call-values.ts'

/** What calls, and the sessions of calls, can be looked for by. What is undefined is not asked. */
export type RecordFilter = {
  status?: CallStatus | undefined
  direction?: CallDirection | undefined
  agentKey?: string | undefined
  /** Only what no agent with a key has. */
  isWithoutAgent?: boolean | undefined
  from?: string | undefined
  to?: string | undefined
  /** Inclusive. */
  startedAfter?: Date | undefined
  /** Exclusive. */
  startedBefore?: Date | undefined
  /** Inclusive. */
  createdAfter?: Date | undefined
  /** Exclusive. */
  createdBefore?: Date | undefined
}

/** A call that has not started a day after it was logged never will: it was closed long ago. */
const LATEST_START_MS = 86_400_000

/**
 * The filter as conditions on a table of `call_logs`' kind. Each condition on the start comes with one on `created_at`, the
 * order of the lists, that follows from it: so a list of long ago is found as fast as one of today.
 */
export function filterConditions(
  table: string,
  filter: RecordFilter,
  statusColumn: 'status' | 'call_status',
): Expression<SqlBool>[] {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const equals: [name: string, value: string | undefined][] = [
    [statusColumn, filter.status],
    ['direction', filter.direction],
    ['agent_key', filter.agentKey],
    ['from', filter.from],
    ['to', filter.to],
  ]
  const { startedAfter: after, startedBefore: before, createdAfter, createdBefore } = filter
  return [
    ...equals.flatMap(([name, value]) => (value === undefined ? [] : [sql<SqlBool>`${column(name)} = ${value}`])),
    ...(filter.isWithoutAgent ? [sql<SqlBool>`${column('agent_key')} is null`] : []),
    ...(after ? [sql<SqlBool>`${column('started_at')} >= ${after}`] : []),
    ...(after ? [sql<SqlBool>`${column('created_at')} >= ${new Date(after.getTime() - LATEST_START_MS)}`] : []),
    ...(before ? [sql<SqlBool>`${column('started_at')} < ${before} and ${column('created_at')} < ${before}`] : []),
    ...(createdAfter ? [sql<SqlBool>`${column('created_at')} >= ${createdAfter}`] : []),
    ...(createdBefore ? [sql<SqlBool>`${column('created_at')} < ${createdBefore}`] : []),
  ]
}
