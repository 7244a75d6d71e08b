import { isDeepStrictEqual } from 'node:util'
import { AGENT_KEYS, at, audited, ETAG, ifMatch, path, ROUTE, someId } from './administering.ts'
import type { Asking } from './asking.ts'
import { isoOf, type Op, type Row, refused, rowIn, tenantOf } from './model.ts'
import { placed } from './rollout-ops.ts'
import type { Json } from './world.ts'

const NAMES = ['Desk', 'ü ☎ "quoted"', ' x ']
const CONFIGS: Json[] = [
  {},
  { greeting: 'Hello.' },
  { instructions: 'Be brief.\nü', voice: 'cedar' },
  { metadata: { a: [1] } },
]

export function createAgent({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body({
    agent_key: { good: AGENT_KEYS, bad: ['Desk', '', '-a', 'a'.repeat(64), null], isNeeded: true },
    name: { good: NAMES, bad: ['', ' ', 'x'.repeat(201), null], isNeeded: true },
    description: { good: ['', 'Answers.'], bad: [null, 'x'.repeat(2_001)] },
    require_simulation: { good: [false], bad: ['no', null, 1] },
  })
  return {
    ...{ route: `POST ${ROUTE}/agents`, path: at(tenant, 'agents'), body, tenant, actor },
    predict(model, answer) {
      if (!isSound) return refused(400)
      const { agents } = tenantOf(model, tenant)
      if (agents.some(({ agent_key }) => agent_key === body['agent_key'])) return refused(409)
      const { id } = rowIn(answer, 'agent')
      const now = isoOf(model)
      const agent: Row = {
        ...{
          id,
          tenant_id: tenant,
          agent_key: body['agent_key'],
          name: body['name'],
          description: body['description'] ?? '',
        },
        ...{ require_simulation: body['require_simulation'] ?? false, created_at: now, updated_at: now },
      }
      agents.push(agent)
      return { status: 200, row: ['agent', agent], told: [audited('agent.created', id)] }
    },
  }
}

export function changeAgent(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const id = someId(asking, 'agents')
  const { body, isSound } = draw.body({
    name: { good: NAMES, bad: ['', ' ', 'x'.repeat(201), null] },
    description: { good: ['', 'Answers.'], bad: [null, 'x'.repeat(2_001)] },
    require_simulation: { good: [false], bad: ['no', null] },
  })
  return {
    ...{ route: `PATCH ${ROUTE}/agents/:agent_id`, path: at(tenant, `agents/${path(id)}`), body, tenant, actor },
    predict(model) {
      if (!isSound || Object.keys(body).length === 0) return refused(400)
      const of = tenantOf(model, tenant)
      const agent = of.agents.find((each) => each.id === id)
      if (!agent) return refused(404)
      Object.assign(agent, body, { updated_at: isoOf(model) })
      for (const version of of.versions) if (version['agent_id'] === id) version['agent_name'] = agent['name']
      for (const entry of of.rollouts[id] ?? []) entry['agent_name'] = agent['name']
      return { status: 200, row: ['agent', agent], told: [audited('agent.changed', id)] }
    },
  }
}

const configField = (isNeeded: boolean) => ({
  good: CONFIGS,
  bad: [null, [], { greetings: 'x' }, { greeting: 5 }, { limits: { idle_seconds: -1 } }],
  isNeeded,
})

export function draftVersion(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const agentId = someId(asking, 'agents')
  const { body, isSound } = draw.body({
    agent_id: { good: [agentId], bad: ['', 5, null], isNeeded: true },
    config: configField(true),
  })
  return {
    ...{ route: `POST ${ROUTE}/agent-versions`, path: at(tenant, 'agent-versions'), body, tenant, actor },
    predict(model, answer) {
      if (!isSound) return refused(400)
      const of = tenantOf(model, tenant)
      const agent = of.agents.find(({ id }) => id === agentId)
      if (!agent) return refused(404)
      const { id, config, etag } = rowIn(answer, 'version')
      const numbers = of.versions
        .filter((each) => each['agent_id'] === agentId)
        .map(({ version_number }) => Number(version_number))
      const now = isoOf(model)
      const version: Row = {
        ...{ id, tenant_id: tenant, agent_id: agentId, agent_key: agent['agent_key'], agent_name: agent['name'] },
        ...{
          version_number: Math.max(0, ...numbers) + 1,
          status: 'draft',
          created_at: now,
          updated_at: now,
          published_at: null,
        },
        // With its defaults, which others hold; what was sent must be in it.
        config: { ...(config as Json), ...(body['config'] as Json) },
        etag,
        [SENT]: body['config'],
      }
      of.versions.push(version)
      return { status: 200, row: ['version', version], told: [audited('agent_version.created', id)] }
    },
  }
}

/** Where the model keeps what a version's last writer sent: what was answered holds the defaults as well. */
const SENT = '~sent'

/** What a writer read of a version: its tag, one of before, or none. */
function someTag({ draw, model, tenant }: Asking, id: string): string | null {
  const version = tenantOf(model, tenant).versions.find((each) => each.id === id)
  const tags: (string | null)[] = [
    null,
    null,
    '*',
    '"stale"',
    ...(typeof version?.[ETAG] === 'string' ? [version[ETAG], version[ETAG]] : []),
  ]
  return draw.random.pick(tags)
}

const isStale = (tag: string | null, row: Row): boolean => tag !== null && tag !== '*' && tag !== row[ETAG]

export function changeVersion(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const id = someId(asking, 'versions')
  const tag = someTag(asking, id)
  const { body, isSound } = draw.body({ config: configField(true) })
  return {
    route: `PATCH ${ROUTE}/agent-versions/:version_id`,
    ...{ path: at(tenant, `agent-versions/${path(id)}`), body, tenant, actor, ...ifMatch(tag) },
    predict(model, answer) {
      if (!isSound) return refused(400)
      const version = tenantOf(model, tenant).versions.find((each) => each.id === id)
      if (!version) return refused(404)
      if (version['status'] !== 'draft') return refused(409)
      if (isStale(tag, version)) return refused(412)
      if (isDeepStrictEqual(version[SENT], body['config'])) return { status: 200, row: ['version', version] }
      const { config, etag } = rowIn(answer, 'version')
      Object.assign(version, {
        config: { ...(config as Json), ...(body['config'] as Json) },
        etag,
        updated_at: isoOf(model),
        [SENT]: body['config'],
      })
      return { status: 200, row: ['version', version], told: [audited('agent_version.changed', id)] }
    },
  }
}

export function publishVersion(asking: Asking): Op {
  const { tenant, actor } = asking
  const id = someId(asking, 'versions')
  const tag = someTag(asking, id)
  return {
    route: `POST ${ROUTE}/agent-versions/:version_id/publish`,
    ...{ path: at(tenant, `agent-versions/${path(id)}/publish`), tenant, actor, ...ifMatch(tag) },
    predict(model) {
      const of = tenantOf(model, tenant)
      const version = of.versions.find((each) => each.id === id)
      if (!version) return refused(404)
      if (isStale(tag, version)) return refused(412)
      if (version['status'] === 'published') return { status: 200, row: ['version', version] }
      const now = isoOf(model)
      const agentId = String(version['agent_id'])
      const former = of.versions.find((each) => each['agent_id'] === agentId && each['status'] === 'published')
      if (former) Object.assign(former, { status: 'superseded', updated_at: now })
      Object.assign(version, { status: 'published', published_at: now, updated_at: now })
      const told = [audited('agent_version.published', id)]
      const entries = of.rollouts[agentId] ?? []
      const left = entries.filter((entry) => entry['agent_version_id'] !== id)
      if (left.length < entries.length) {
        of.rollouts[agentId] = placed(left, now)
        // Whoever read it before has read another one.
        delete of.rolloutTags[agentId]
        told.push(audited('rollout.changed', agentId))
      }
      return { status: 200, row: ['version', version], told }
    },
  }
}
