import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'

/** Of everything on this page. */
export const DIAGNOSTICS_KEY = ['diagnostics']

const REFRESH_MS = 10_000
const MOST_ROWS = 100

export type Alerts = Answer<'/api/v1/admin/alerts/auth-transport', 'get'>
export type CachedTenant = Answer<'/api/v1/admin/tenants/cached', 'get'>['tenants'][number]
export type CredentialUse = Answer<'/api/v1/admin/tenants/cache-metrics/by-token', 'get'>['items'][number]
export type AudioItem = Answer<'/api/v1/admin/tenants/audio-providers', 'get'>['items'][number]
export type Depth = Answer<'/api/v1/admin/outboxes/depth', 'get'>['depths'][number]

function asked<Data>(name: string, queryFn: () => Promise<Data>) {
  return queryOptions({ queryKey: [...DIAGNOSTICS_KEY, name], queryFn, refetchInterval: REFRESH_MS })
}

/** How credentials travel, and what should be changed about it. */
export const alertsQuery = asked('alerts', () => answerOf(api.GET('/api/v1/admin/alerts/auth-transport')))

/** What is waiting, in each outbox. */
export const depthsQuery = asked('depths', async () => (await answerOf(api.GET('/api/v1/admin/outboxes/depth'))).depths)

const GIVEN_UP = '/api/v1/admin/outboxes/{outbox}/deliveries'

/** What was given up of an outbox that is the operator's. */
export type GivenUp = Answer<typeof GIVEN_UP, 'get'>['outbox_deliveries'][number]
export type Outbox = 'billing-outcomes' | 'notifications'

export const givenUpKey = (outbox: Outbox) => [...DIAGNOSTICS_KEY, 'given up', outbox]

/** What could not be sent until the last attempt, newest first. */
export async function listGivenUp(outbox: Outbox, cursor: string | undefined): Promise<ListPart<GivenUp>> {
  const params = { path: { outbox }, query: { status: 'failed' as const, cursor } }
  const answer = await answerOf(api.GET(GIVEN_UP, { params }))
  return { rows: answer.outbox_deliveries, next: answer.next_cursor }
}

/** Sends these again, or all that were given up. Returns how many. */
export async function sendAgain(outbox: Outbox, wanted: { ids: string[] } | { status: 'failed' }): Promise<number> {
  return (await answerOf(api.POST(GIVEN_UP, { params: { path: { outbox } }, body: wanted }))).requeued
}

/** How often tenants were found in memory. */
export const cacheQuery = asked('cache', () => answerOf(api.GET('/api/v1/admin/tenants/cache-metrics')))

/** The same for each credential. */
export const usesQuery = asked('uses', async () => {
  const params = { query: { limit: MOST_ROWS } }
  return (await answerOf(api.GET('/api/v1/admin/tenants/cache-metrics/by-token', { params }))).items
})

/** The tenants that are in memory. */
export const cachedQuery = asked(
  'cached',
  async () => (await answerOf(api.GET('/api/v1/admin/tenants/cached'))).tenants,
)

/** Whose voice tenants ask for, and whose they get. */
export const audioQuery = asked('audio', () => {
  const params = { query: { include_uncached: true, limit: MOST_ROWS } }
  return answerOf(api.GET('/api/v1/admin/tenants/audio-providers', { params }))
})

/** Reads the tenants in memory again. */
export function reloadCached() {
  return answerOf(api.POST('/api/v1/admin/tenants/reload-cached'))
}

/** Forgets the tenants that nobody has asked for in a while. */
export function evictIdle(max_idle_secs: number) {
  return answerOf(api.POST('/api/v1/admin/tenants/evict-idle', { params: { query: { max_idle_secs } } }))
}

/** Delivers billing outcomes that are due. */
export function sweepBilling() {
  return answerOf(api.POST('/api/v1/admin/outboxes/billing-outcomes/sweep'))
}
