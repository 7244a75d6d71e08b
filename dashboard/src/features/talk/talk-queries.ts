import { queryOptions } from '@tanstack/react-query'
import { allRows } from '../../api/all-rows.ts'
import type { Answer } from '../../api/answers.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { LineGrant } from '../../audio/audio-line.ts'
import type { Filters } from '../../components/filters.tsx'
import { words } from '../../components/text.ts'

/** Whom one talks to, as it stands in the address: a version goes before what callers get. */
export type TalkChoice = Filters<'agent_key' | 'agent_version_id'>

/** As many as a list of choices holds. */
const MOST = 500
const LOOK_AGAIN_MS = 2_000

/** In which versions an agent can be heard, newest first. */
export type Sayings = { hasPublished: boolean; versions: { id: string; label: string }[] }

/** An agent that can be talked to. */
export type Talker = {
  id: string
  agentKey: string
  name: string
  /** Null: the tenant has more versions than are read at once, and those of the agent are asked for by themselves. */
  sayings: Sayings | null
}

const VERSIONS = '/api/v1/admin/tenants/{tenant_id}/agent-versions'

type Version = Answer<typeof VERSIONS, 'post'>['version']

/** Versions of a tenant, or of one of its agents, newest first. */
function readVersions(tenantId: string, of: { agent_id?: string } = {}): Promise<Version[]> {
  return allRows(MOST, async (page) => {
    const params = { path: { tenant_id: tenantId }, query: { ...of, ...page } }
    const answer = await answerOf(api.GET(VERSIONS, { params }))
    return { rows: answer.versions, next: answer.next_cursor }
  })
}

function sayingsOf(versions: Version[]): Sayings {
  return {
    hasPublished: versions.some(({ status }) => status === 'published'),
    versions: versions.map(({ id, version_number: number, status }) => ({
      id,
      label: `Version ${number}, ${words(status).toLowerCase()}`,
    })),
  }
}

/** The agents of a tenant that have something to say; where it has too many versions to know that, all of them. */
export const talkersQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['talkers', tenantId],
    queryFn: async (): Promise<Talker[]> => {
      const [agents, versions] = await Promise.all([
        allRows(MOST, async (query) => {
          const params = { path: { tenant_id: tenantId }, query }
          const answer = await answerOf(api.GET('/api/v1/admin/tenants/{tenant_id}/agents', { params }))
          return { rows: answer.agents, next: answer.next_cursor }
        }),
        readVersions(tenantId),
      ])
      const isWhole = versions.length < MOST
      const talkers = agents.map(({ id, agent_key: agentKey, name }) => {
        const own = versions.filter(({ agent_id }) => agent_id === id)
        return { id, agentKey, name, sayings: isWhole ? sayingsOf(own) : null }
      })
      return talkers.filter(({ sayings }) => sayings === null || sayings.versions.length > 0)
    },
  })

/** What one of them has to say. */
export const sayingsQuery = (tenantId: string, agentId: string) =>
  queryOptions({
    queryKey: ['talkers', tenantId, agentId],
    queryFn: async () => sayingsOf(await readVersions(tenantId, { agent_id: agentId })),
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
