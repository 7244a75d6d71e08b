import { type QueryKey, queryOptions, type UseQueryResult } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import { serviceNow } from '../../api/service-clock.ts'
import type { Range } from './overview-filters.ts'

/** What calls came to, in all and by span. */
export type Analytics = Answer<'/api/v1/analytics/calls', 'get'>['analytics']

/** What the calls of one span came to, or of one agent or tenant in it. */
export type AnalyticsRow = Analytics['rows'][number]

/** A queue in which tasks are late. */
export type LateQueue = Pick<
  Answer<'/api/v1/admin/operator-queues/breaches', 'get'>['queues'][number],
  'tenant_id' | 'queue_key' | 'breached'
>

/** Calls are counted twice a minute. */
const REFRESH_MS = 30_000
/** Whoever makes the first call looks whether it is there. */
const REFRESH_OF_NOTHING_MS = 5_000
const DAY_MS = 86_400_000
/** No tenant is called so. */
const ALL = null
const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
/** Days and hours are those of whoever looks. A browser that does not know its zone shows UTC, by a name that nobody takes. */
const time_zone = timeZone === 'Etc/Unknown' ? 'UTC' : timeZone

/** What was read stays while it is read of another span, but none of what was read of another tenant. */
const often = <Data>(whose: string | null) => ({
  refetchInterval: ({ state: { data } }: { state: { data: Data | undefined } }) =>
    isNothing(data) ? REFRESH_OF_NOTHING_MS : REFRESH_MS,
  placeholderData: (before: Data | undefined, query?: { queryKey: QueryKey }) =>
    query?.queryKey[1] === whose ? before : undefined,
})
const isNothing = (data: unknown) => (data as Partial<Analytics> | undefined)?.totals?.calls === 0
const since = ({ days }: Range) => new Date(serviceNow() - days * DAY_MS).toISOString()

/** What a tenant's calls came to. */
export const callsQuery = (tenantId: string, range: Range) =>
  queryOptions({
    queryKey: ['overview', tenantId, range.value],
    queryFn: async () => {
      const query = { interval: range.interval, since: since(range), time_zone }
      const asked = { params: { query }, headers: forTenant(tenantId) }
      return (await answerOf(api.GET('/api/v1/analytics/calls', asked))).analytics
    },
    ...often<Analytics>(tenantId),
  })

/** Since when a range is told of: it is widened to whole parts, each of what is asked for. Undefined until that is known. */
type Since = string | undefined

/** Since when calls are told of, of the range that is shown: what another one was told stands there until then. */
export function sinceOf({ data, isPlaceholderData }: UseQueryResult<Analytics>): Since {
  return isPlaceholderData ? undefined : data?.since
}

/** Whether it is told that calls cannot be read: what is asked for since when they are told of is not asked for then. */
export function isUnread({ data, error }: UseQueryResult<Analytics>): boolean {
  return data === undefined && error !== null
}

/** The same of each of its agents, since when the calls were told of. */
export const agentsQuery = (tenantId: string, range: Range, toldSince: Since) =>
  queryOptions({
    queryKey: ['overview', tenantId, range.value, 'agents', toldSince],
    enabled: toldSince !== undefined,
    queryFn: async () => {
      const query = { interval: 'all', group_by: 'agent', since: toldSince ?? since(range), time_zone } as const
      const asked = { params: { query }, headers: forTenant(tenantId) }
      return (await answerOf(api.GET('/api/v1/analytics/calls', asked))).analytics
    },
    ...often<Analytics>(tenantId),
  })

/** What the calls of all tenants came to. */
export const allCallsQuery = (range: Range) =>
  queryOptions({
    queryKey: ['overview', ALL, range.value],
    queryFn: async () => {
      const query = { interval: range.interval, since: since(range), time_zone }
      return (await answerOf(api.GET('/api/v1/admin/analytics/calls', { params: { query } }))).analytics
    },
    ...often<Analytics>(ALL),
  })

/** A span that was picked; null: the whole range. */
export type Picked = { since: string; until: string } | null

/** The same of each tenant, in the span that was picked or since when the calls of all were told of. */
export const tenantsQuery = (range: Range, picked: Picked, toldSince: Since) =>
  queryOptions({
    queryKey: ['overview', ALL, range.value, 'tenants', picked ?? toldSince],
    enabled: picked !== null || toldSince !== undefined,
    queryFn: async () => {
      const span = picked ?? { since: toldSince ?? since(range) }
      const query = { interval: 'all', group_by: 'tenant', time_zone, ...span } as const
      return (await answerOf(api.GET('/api/v1/admin/analytics/calls', { params: { query } }))).analytics
    },
    ...often<Analytics>(ALL),
  })

const MOST_QUEUES = 500

/** The tenant's queues in which tasks are late. */
export const lateQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['overview', tenantId, 'late'],
    queryFn: async (): Promise<LateQueue[]> => {
      const asked = { params: { query: { limit: MOST_QUEUES } }, headers: forTenant(tenantId) }
      const { queues } = await answerOf(api.GET('/api/v1/operator-queues', asked))
      const late = queues.filter(({ breached }) => breached > 0).toSorted((a, b) => b.breached - a.breached)
      return late.map(({ queue_key, breached }) => ({ tenant_id: tenantId, queue_key, breached }))
    },
    ...often<LateQueue[]>(tenantId),
  })

/** Those of all tenants. */
export const allLateQuery = queryOptions({
  queryKey: ['overview', ALL, 'late'],
  queryFn: async (): Promise<LateQueue[]> => {
    const asked = { params: { query: { limit: MOST_QUEUES } } }
    return (await answerOf(api.GET('/api/v1/admin/operator-queues/breaches', asked))).queues
  },
  ...often<LateQueue[]>(ALL),
})
