import { at, audited, ifMatch, path, ROUTE, someId } from './administering.ts'
import type { Asking } from './asking.ts'
import { isoOf, type Model, type Op, type Predicted, refused, tenantOf } from './model.ts'
import type { Answer, Json } from './world.ts'

const lowered = (id: string) => id.toLowerCase()

export const placed = (entries: Json[], now: string): Json[] =>
  entries.map((entry, position) => ({ ...entry, position, updated_at: now }))

export function putRollout(asking: Asking): Op {
  const { draw, model, tenant, actor } = asking
  const { random } = draw
  const agentId = someId(asking, 'agents')
  const own = tenantOf(model, tenant)
    .versions.filter((each) => each['agent_id'] === agentId)
    .map(({ id }) => id)
  const count = random.below(4)
  const entries = Array.from({ length: count }, () => ({
    agent_version_id: own.length > 0 && random.chance(0.9) ? random.pick(own) : someId(asking, 'versions'),
    traffic_percentage: random.pick([0, 0.01, 10, 33.33, 50, 100]),
  }))
  const tags = [null, null, '*', '"stale"', ...Array(2).fill(tenantOf(model, tenant).rolloutTags[agentId] ?? null)]
  const tag = random.pick(tags) as string | null
  const { body, isSound } = draw.body({
    entries: {
      good: [entries],
      bad: [null, [{}], [{ agent_version_id: 'a', traffic_percentage: 33.333 }]],
      isNeeded: true,
    },
  })
  return {
    route: `PUT ${ROUTE}/agents/:agent_id/rollouts`,
    ...{ path: at(tenant, `agents/${path(agentId)}/rollouts`), body, tenant, actor, ...ifMatch(tag) },
    predict: (later, answer) => (isSound ? rolled(later, answer, { tenant, agentId, entries, tag }) : refused(400)),
  }
}

type Rolling = {
  tenant: string
  agentId: string
  entries: { agent_version_id: string; traffic_percentage: number }[]
  tag: string | null
}

function rolled(model: Model, answer: Answer, { tenant, agentId, entries, tag }: Rolling): Predicted {
  const of = tenantOf(model, tenant)
  const ids = entries.map(({ agent_version_id: id }) => lowered(id))
  const sum = entries.reduce((total, { traffic_percentage: share }) => total + Math.round(share * 100), 0)
  if (new Set(ids).size < ids.length || sum > 10_000) return refused(400)
  const agent = of.agents.find(({ id }) => id === agentId)
  if (!agent) return refused(404)
  const known = of.rolloutTags[agentId]
  if (tag !== null && tag !== '*' && tag !== known) return refused(409)
  const versions = ids.map((id) => of.versions.find((each) => each.id === id && each['agent_id'] === agentId))
  if (versions.includes(undefined)) return refused(400)
  const now = isoOf(model)
  const shown = (answer.body['rollouts'] ?? []) as Json[]
  const before = of.rollouts[agentId] ?? []
  of.rolloutTags[agentId] = String(answer.body['etag'])
  of.rollouts[agentId] = entries.map((entry, position) => {
    const known = before.find((each) => each['agent_version_id'] === ids[position])
    return {
      ...{
        id: known?.['id'] ?? shown[position]?.['id'],
        tenant_id: tenant,
        agent_id: agentId,
        agent_key: agent['agent_key'],
      },
      ...{
        agent_name: agent['name'],
        agent_version_id: ids[position],
        version_number: versions[position]?.['version_number'],
      },
      ...{
        position,
        traffic_percentage: entry.traffic_percentage,
        created_at: known?.['created_at'] ?? now,
        updated_at: now,
      },
    }
  })
  return {
    status: 200,
    row: ['rollouts', of.rollouts[agentId] as unknown as Json],
    told: [audited('rollout.changed', agentId)],
  }
}

const POLICY = {
  enabled: false,
  lookback_hours: 24,
  min_avg_score: 0.7,
  min_eval_count: 20,
  min_high_quality_rate: 0.6,
}

export function putPolicy(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const agentId = someId(asking, 'agents')
  const rate = { good: [0, 0.25, 1], bad: [-0.1, 1.1, null, '0.5'] }
  const { body, isSound } = draw.body({
    ...{ enabled: { good: [true, false], bad: [null, 'true'] }, min_avg_score: rate, min_high_quality_rate: rate },
    ...{
      lookback_hours: { good: [1, 8_760], bad: [0, 1.5, 8_761] },
      min_eval_count: { good: [1, 1_000_000], bad: [0, 1.5] },
    },
  })
  return {
    route: `PUT ${ROUTE}/agents/:agent_id/rollout-policy`,
    ...{ path: at(tenant, `agents/${path(agentId)}/rollout-policy`), body, tenant, actor },
    predict(model) {
      if (!isSound) return refused(400)
      const of = tenantOf(model, tenant)
      if (!of.agents.some(({ id }) => id === agentId)) return refused(404)
      of.policies[agentId] = { ...POLICY, ...body }
      return { status: 200, row: ['policy', of.policies[agentId]], told: [audited('rollout_policy.changed', agentId)] }
    },
  }
}
