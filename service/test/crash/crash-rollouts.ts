import { administer } from '../kill/service-api.ts'

/** An agent that nobody calls, and the two versions of it that share its calls. */
export type RolloutAgent = { id: string; versionIds: readonly [string, string] }

type Share = { agent_version_id: string; traffic_percentage: number }

/** The two of them have this together; in hundredths of a percent. */
const TOGETHER = 5_000
const FIRST_MAX = 4_000

/** Makes it. */
export async function makeRolloutAgent(address: string): Promise<RolloutAgent> {
  const post = <Answer>(path: string, body: unknown) => administer<Answer>(address, 'POST', path, body)
  const { agent } = await post<{ agent: { id: string } }>('/agents', { agent_key: 'shared', name: 'Shared' })
  const makeVersion = async (greeting: string) => {
    const body = { agent_id: agent.id, config: { greeting } }
    return (await post<{ version: { id: string } }>('/agent-versions', body)).version.id
  }
  return { id: agent.id, versionIds: [await makeVersion('One.'), await makeVersion('Two.')] }
}

/** The rollout of this number: the first share says which it is. None for 0. */
export function rolloutOf({ versionIds: [first, second] }: RolloutAgent, number: number): Share[] {
  if (number === 0) return []
  const share = 1 + ((number - 1) % FIRST_MAX)
  return [
    { agent_version_id: first, traffic_percentage: share / 100 },
    { agent_version_id: second, traffic_percentage: (TOGETHER - share) / 100 },
  ]
}

/** The number of a stored rollout, by the share of its first entry. */
export function numberOf([first]: readonly Pick<Share, 'traffic_percentage'>[]): number {
  return first ? Math.round(first.traffic_percentage * 100) : 0
}

/** Writes that of the number, in place of the one that there is. */
export function putRollout(address: string, agent: RolloutAgent, number: number): Promise<unknown> {
  return administer(address, 'PUT', `/agents/${agent.id}/rollouts`, { entries: rolloutOf(agent, number) })
}

/** What there is. */
export async function readRollout(address: string, agent: RolloutAgent): Promise<Share[]> {
  const { rollouts } = await administer<{ rollouts: Share[] }>(address, 'GET', `/agents/${agent.id}/rollouts`)
  return rollouts.map(({ agent_version_id, traffic_percentage }) => ({ agent_version_id, traffic_percentage }))
}

/** What is wrong with a rollout of which these were tried and acknowledged last; empty for one of the two, whole. */
export function rolloutFaults(
  agent: RolloutAgent,
  found: readonly Share[],
  { tried, acknowledged }: { tried: number; acknowledged: number },
): string[] {
  const isOf = (number: number) => JSON.stringify(rolloutOf(agent, number)) === JSON.stringify(found)
  if (isOf(acknowledged) || isOf(tried)) return []
  const shares = found.map(({ traffic_percentage }) => traffic_percentage)
  return [`the rollout ${acknowledged}: its shares are ${shares.join(' and ') || 'none'}`]
}
