import { queryOptions } from '@tanstack/react-query'
import { allRows } from '../../api/all-rows.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { LineGrant } from '../../audio/audio-line.ts'
import type { Filters } from '../../components/filters.tsx'
import { words } from '../../components/text.ts'

/** Whom one talks to, as it stands in the address: a version goes before what callers get. */
export type TalkChoice = Filters<'agent_key' | 'agent_version_id'>

/** As many as a list of choices holds. */
const MOST = 500
const LOOK_AGAIN_MS = 2_000

/** An agent that can be talked to, with its versions, newest first. */
export type Talker = {
  agentKey: string
  name: string
  hasPublished: boolean
  versions: { id: string; label: string }[]
}

/** The agents of a tenant that have something to say. */
export const talkersQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['talkers', tenantId],
    queryFn: async (): Promise<Talker[]> => {
      const path = { tenant_id: tenantId }
      const asked = { params: { path, query: { limit: MOST } } }
      const [{ agents }, versions] = await Promise.all([
        answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}/agents', asked)),
        allRows(MOST, async (query) => {
          const params = { path, query }
          const answer = await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}/agent-versions', { params }))
          return { rows: answer.versions, next: answer.next_cursor }
        }),
      ])
      const talkers = agents.map(({ id, agent_key: agentKey, name }) => {
        const own = versions.filter(({ agent_id }) => agent_id === id)
        const choices = own.map((version) => ({
          id: version.id,
          label: `Version ${version.version_number}, ${words(version.status).toLowerCase()}`,
        }))
        return { agentKey, name, hasPublished: own.some(({ status }) => status === 'published'), versions: choices }
      })
      return talkers.filter(({ versions: own }) => own.length > 0)
    },
  })

/** What the agent calls itself that has the call: it may hand over to another one. */
export const talkingQuery = (tenantId: string, streamSid: string) =>
  queryOptions({
    queryKey: ['talking', tenantId, streamSid],
    queryFn: async () => {
      const params = { path: { stream_sid: streamSid } }
      const headers = forTenant(tenantId)
      return (await answerOf(api.GET('/api/v1/sessions/{stream_sid}', { params, headers }))).session.agent_name
    },
    refetchInterval: LOOK_AGAIN_MS,
  })

/** Opens a call with an agent. The page names the stream. */
export async function openCall(tenantId: string, choice: TalkChoice): Promise<LineGrant> {
  const { agent_version_id, agent_key } = choice
  const body = agent_version_id ? { agent_version_id } : { agent_key: agent_key ?? '' }
  const opened = await answerOf(api.POST('/api/v1/browser-calls', { body, headers: forTenant(tenantId) }))
  const { stream_url: streamUrl, stream_token: streamToken, call_sid: callSid } = opened
  return { streamUrl, streamToken, callSid, streamSid: `MZ${crypto.randomUUID().replaceAll('-', '')}` }
}
