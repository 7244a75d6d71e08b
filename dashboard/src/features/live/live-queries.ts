import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import { isRefused } from '../../api/failure.ts'
import type { LineGrant } from '../../audio/audio-line.ts'

type Answer = paths['/api/v1/sessions/{stream_sid}']['get']['responses'][200]['content']['application/json']

/** A call that goes on. */
export type LiveCall = Answer['session']

const REFRESH_MS = 2_000
const ENDED = 'ended'

/** Of all live calls of a tenant. */
export const liveKey = (tenantId: string) => ['live', tenantId]

async function listLive(tenantId: string): Promise<LiveCall[]> {
  return (await answerOf(api.GET('/api/v1/sessions/active', { headers: forTenant(tenantId) }))).sessions
}

/** The calls that go on, newest first. */
export const liveCallsQuery = (tenantId: string) =>
  queryOptions({
    queryKey: liveKey(tenantId),
    queryFn: () => listLive(tenantId),
    refetchInterval: REFRESH_MS,
  })

/** So often a call that has moved is looked for: it is there again within seconds, and one that is over nowhere. */
const LOOKS = 10

/** The calls that go on, for the page of one that does not any more. Looks that were had at a list of them before count for nothing. */
export const callsElsewhereQuery = (tenantId: string, streamSid: string) =>
  queryOptions({
    queryKey: [...liveKey(tenantId), 'instead of', streamSid],
    queryFn: () => listLive(tenantId),
    refetchInterval: ({ state }) => (state.dataUpdateCount < LOOKS ? REFRESH_MS : false),
  })

type AllAnswer = paths['/api/v1/admin/sessions']['get']['responses'][200]['content']['application/json']

/** A call that goes on, as the list over all tenants shows it. */
export type LiveCallOfAll = AllAnswer['sessions'][number]

/** Every tenant that has a call is asked for its calls: less often than the page of one. */
const ALL_REFRESH_MS = 5_000

/** The calls of all tenants that go on, newest first, which the service tells at once. */
export const allLiveQuery = queryOptions({
  queryKey: ['live-of-all'],
  queryFn: async () => (await answerOf(api.GET('/api/v1/admin/sessions'))).sessions,
  refetchInterval: ALL_REFRESH_MS,
})

/** One of them. It is asked for until it is over, or refused for good. */
export const liveCallQuery = (tenantId: string, streamSid: string) =>
  queryOptions({
    queryKey: [...liveKey(tenantId), streamSid],
    queryFn: async () => {
      const params = { path: { stream_sid: streamSid } }
      const headers = forTenant(tenantId)
      const answer = await answerOf(api.GET('/api/v1/sessions/{stream_sid}', { params, headers }))
      return answer.session
    },
    refetchInterval: ({ state: { error, data } }) =>
      isRefused(error) || (data && hasEnded(data)) ? false : REFRESH_MS,
  })

/** Whether it goes on no more. */
export function hasEnded({ state }: Pick<LiveCall, 'state'>): boolean {
  return state === ENDED
}

/** Notes that it is over, so that nobody asks for it in vain. */
export async function noteEnd(client: QueryClient, tenantId: string, streamSid: string): Promise<void> {
  const { queryKey } = liveCallQuery(tenantId, streamSid)
  await client.cancelQueries({ queryKey })
  client.setQueryData(queryKey, (known) => known && { ...known, state: ENDED })
}

/** What somebody does to a call, with the words that it needs. */
export type CallAction = { action: string; text?: string; note?: string; reason?: string; target?: string }

/** Does it. @throws ApiFailure. */
export async function act(tenantId: string, streamSid: string, asked: CallAction & { supervisor: string }) {
  const params = { path: { stream_sid: streamSid } }
  const headers = forTenant(tenantId)
  await answerOf(api.POST('/api/v1/sessions/{stream_sid}/actions', { params, body: asked, headers }))
}

type AskedLine = { kind: 'listen' | 'takeover'; supervisor: string }

/** Asks for a line of audio into a call. @throws ApiFailure. */
export async function openLine(tenantId: string, call: LiveCall, { kind, supervisor }: AskedLine): Promise<LineGrant> {
  const { stream_sid: streamSid, call_sid: callSid } = call
  const asked = { params: { path: { stream_sid: streamSid } }, body: { supervisor }, headers: forTenant(tenantId) }
  const answer = await answerOf(
    kind === 'listen'
      ? api.POST('/api/v1/sessions/{stream_sid}/listen', asked)
      : api.POST('/api/v1/sessions/{stream_sid}/takeover', asked),
  )
  return { streamUrl: answer.stream_url, streamToken: answer.stream_token, callSid, streamSid }
}
