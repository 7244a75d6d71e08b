import { queryOptions } from '@tanstack/react-query'
import { allRows } from '../../api/all-rows.ts'
import type { Answer } from '../../api/answers.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import { ApiFailure, asHeld } from '../../api/failure.ts'
import { foundRow } from '../../api/found-row.ts'
import type { ListPart } from '../../components/list-part.ts'
import type { AgentValues } from './agent-fields.tsx'

const AGENTS = '/api/v1/admin/tenants/{tenant_id}/agents'
const VERSIONS = '/api/v1/admin/tenants/{tenant_id}/agent-versions'
const ROLLOUTS = '/api/v1/admin/tenants/{tenant_id}/agents/{agent_id}/rollouts'
const POLICY = '/api/v1/admin/tenants/{tenant_id}/agents/{agent_id}/rollout-policy'
const JUDGE = '/api/v1/admin/tenants/{tenant_id}/agents/{agent_id}/rollout-governance/evaluate'

/** Who answers calls. */
export type Agent = Answer<typeof AGENTS, 'post'>['agent']

/** What makes it speak as it does, at one time. */
export type Version = Answer<typeof VERSIONS, 'post'>['version']

/** A version and its share of the calls in percent. */
export type Share = { agent_version_id: string; traffic_percentage: number }

/** By what a rollout is to be judged. */
export type Policy = NonNullable<Answer<typeof POLICY, 'get'>['policy']>

/** What the scores of calls say of a rollout. */
export type Evaluation = Answer<typeof JUDGE, 'post'>['evaluation']

/** Something that was said in a chat. */
export type Said = { role: 'caller' | 'agent'; text: string }

/** More than these are not looked through for one. */
const MOST_ROWS = 500

/** Of all agents of a tenant, their versions and rollouts. */
export const agentsKey = (tenantId: string) => ['agents', tenantId]

/** One page of the agents, newest first. */
export async function listAgents(tenantId: string, cursor: string | undefined): Promise<ListPart<Agent>> {
  const params = { path: { tenant_id: tenantId }, query: { cursor } }
  const answer = await answerOf(api.GET(AGENTS, { params }))
  return { rows: answer.agents, next: answer.next_cursor }
}

/** Makes an agent, which says nothing until a version of it is published. */
export async function createAgent(tenantId: string, body: AgentValues & { agent_key: string }) {
  const made = answerOf(api.POST(AGENTS, { params: { path: { tenant_id: tenantId } }, body }))
  return (await made.catch((error: unknown) => asHeld(error, '/body/agent_key'))).agent
}

/** Changes what is given of an agent. */
export async function changeAgent({ tenant_id, id }: Agent, body: Partial<AgentValues>): Promise<void> {
  const params = { path: { tenant_id, agent_id: id } }
  await answerOf(api.PATCH(`${AGENTS}/{agent_id}`, { params, body }))
}

/** One agent, found among all of the tenant. */
export const agentQuery = (tenantId: string, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey(tenantId), agentId],
    queryFn: async () => {
      const agent = await foundRow<Agent>(
        ({ id }) => id === agentId,
        async (query) => {
          const params = { path: { tenant_id: tenantId }, query }
          const answer = await answerOf(api.GET(AGENTS, { params }))
          return { rows: answer.agents, next: answer.next_cursor }
        },
      )
      return found(agent, 'agent')
    },
  })

/** The versions of an agent, newest first. */
export const versionsQuery = (tenantId: string, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey(tenantId), agentId, 'versions'],
    queryFn: () =>
      allRows(MOST_ROWS, async (page) => {
        const params = { path: { tenant_id: tenantId }, query: { agent_id: agentId, ...page } }
        const answer = await answerOf(api.GET(VERSIONS, { params }))
        return { rows: answer.versions, next: answer.next_cursor }
      }),
  })

/** A version among those of its agent. @throws ApiFailure when there is none. */
export function versionIn(versions: Version[], versionId: string): Version {
  return found(
    versions.find(({ id }) => id === versionId),
    'version of the agent',
  )
}

function found<Thing>(thing: Thing | undefined, what: string): Thing {
  if (thing === undefined)
    throw new ApiFailure({ status: 404, code: 'not_found', message: `The tenant has no such ${what}.` })
  return thing
}

/** Drafts a version. */
export async function createVersion(tenantId: string, agentId: string, config: Version['config'] | object) {
  const body = { agent_id: agentId, config }
  return (await answerOf(api.POST(VERSIONS, { params: { path: { tenant_id: tenantId } }, body }))).version
}

/** Replaces what a draft says, if its config is still that of the tag; else a 412. The answer warns of what will hardly work. */
export function changeVersion({ tenant_id, id }: Version, config: object, etag: string) {
  const params = { path: { tenant_id, version_id: id }, header: { 'if-match': etag } }
  return answerOf(api.PATCH(`${VERSIONS}/{version_id}`, { params, body: { config } }))
}

/** Lets calls talk to a version from now on, if its config is still that of the tag; else a 412. Returns what will hardly work. */
export async function publishVersion({ tenant_id, id }: Version, etag: string): Promise<string[]> {
  const params = { path: { tenant_id, version_id: id }, header: { 'if-match': etag } }
  return (await answerOf(api.POST(`${VERSIONS}/{version_id}/publish`, { params }))).warnings ?? []
}

/** Which versions answer a share of the calls. */
export const rolloutQuery = (tenantId: string, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey(tenantId), agentId, 'rollout'],
    queryFn: async () =>
      shownRollout(await answerOf(api.GET(ROLLOUTS, { params: { path: { tenant_id: tenantId, agent_id: agentId } } }))),
  })

/** The shares of an agent, and what a write over them names. */
export type Rollout = { shares: Share[]; etag: string }

type RolloutAnswer = Answer<typeof ROLLOUTS, 'get'>

/** What a rollout has lost by its policy: when, and why. */
export type LastRollback = NonNullable<RolloutAnswer['last_rollback']>

/** A rollout as it is stored, with what it has lost last; null if it has lost nothing. */
export type StoredRollout = Rollout & { lost: LastRollback | null }

function shownRollout({ rollouts, etag, last_rollback: lost }: RolloutAnswer): StoredRollout {
  const shares = rollouts.map(({ agent_version_id, traffic_percentage }) => ({ agent_version_id, traffic_percentage }))
  return { shares, etag, lost }
}

/** Replaces the shares, if they are still those of the ETag; else a 409. */
export async function putRollout(tenantId: string, agentId: string, { shares, etag }: Rollout): Promise<StoredRollout> {
  const params = { path: { tenant_id: tenantId, agent_id: agentId }, header: { 'if-match': etag } }
  return shownRollout(await answerOf(api.PUT(ROLLOUTS, { params, body: { entries: shares } })))
}

/** By what the rollout of an agent is judged; null by nothing. */
export async function readPolicy(tenantId: string, agentId: string): Promise<Policy | null> {
  const params = { path: { tenant_id: tenantId, agent_id: agentId } }
  return (await answerOf(api.GET(POLICY, { params }))).policy
}

/** The same, for the page that shows it. */
export const policyQuery = (tenantId: string, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey(tenantId), agentId, 'policy'],
    queryFn: () => readPolicy(tenantId, agentId),
  })

/** Writes the whole policy. */
export async function putPolicy(tenantId: string, agentId: string, body: Policy): Promise<void> {
  const params = { path: { tenant_id: tenantId, agent_id: agentId } }
  await answerOf(api.PUT(POLICY, { params, body }))
}

/** Judges the rollout by its policy, and changes nothing. */
export async function evaluateRollout(tenantId: string, agentId: string): Promise<Evaluation> {
  const params = { path: { tenant_id: tenantId, agent_id: agentId } }
  return (await answerOf(api.POST(JUDGE, { params, body: { apply: false } }))).evaluation
}

/** What a version says next. Nothing is stored, and no tool is run. */
export function askInText(tenantId: string, versionId: string, messages: Said[]) {
  const body = { agent_version_id: versionId, messages }
  return answerOf(api.POST('/api/v1/chats', { body, headers: forTenant(tenantId) }))
}
