import { PHONES, QUEUES } from './asking.ts'
import { isoOf, type Model, type Row, tenantOf } from './model.ts'
import { CALLER } from './record-ops.ts'
import { unlikeSingles } from './single-reads.ts'
import { unlikeRow } from './unlike.ts'
import type { Json, World } from './world.ts'

/** A list, and the rows that it should have, in no order. */
export type List = { tenant: string | null; path: string; name: string; rows: Json[] }

/** What the service shows that is not as the model has it. */
export async function unlikeReads(world: World, model: Model): Promise<string[]> {
  const faults: string[] = []
  for (const list of allLists(model)) faults.push(...(await unlikeList(world, list)))
  return [...faults, ...(await unlikeSingles(world, model))]
}

export function allLists(model: Model): List[] {
  const ofTenants = Object.keys(model.tenants).flatMap((tenant) => [
    ...listsOf(model, tenant),
    ...adminListsOf(model, tenant),
  ])
  const prompts = model.prompts.map(({ id: _id, ...shown }) => shown)
  const tasks = Object.values(model.tenants).flatMap(({ tasks: own }) => own)
  return [
    ...ofTenants,
    { tenant: null, path: '/admin/prompts?limit=500', name: 'prompts', rows: prompts },
    { tenant: null, path: '/admin/callback-tasks?limit=500', name: 'tasks', rows: tasks },
    {
      tenant: null,
      path: '/admin/callback-tasks?limit=500&status=open',
      name: 'tasks',
      rows: tasks.filter(({ status }) => status === 'open'),
    },
  ]
}

/** What tells a row of a list from the others. */
export const keyOf = (row: Json): string =>
  String(row['id'] ?? row['phone'] ?? row['call_sid'] ?? row['key'] ?? row['queue_key'])

export async function rowsOfPage(
  world: World,
  { tenant, path, name }: List,
): Promise<{ ids: string[]; nextCursor: string | null }> {
  const { body } = await world.read(tenant, path)
  return { ids: ((body[name] ?? []) as Json[]).map(keyOf), nextCursor: (body['next_cursor'] ?? null) as string | null }
}

function listsOf(model: Model, tenant: string): List[] {
  const { tasks, dnc, calls, sessions, evaluations } = tenantOf(model, tenant)
  const query =
    (path: string, name: string, rows: Row[]) =>
    (asked: string, isOf: (row: Row) => boolean): List => ({
      ...{ tenant, path: `/${path}?limit=500&${asked}`, name, rows: rows.filter(isOf) },
    })
  const ofCalls = query('call-logs', 'call_logs', calls)
  const ofSessions = query('voice-sessions', 'voice_sessions', sessions)
  const ofEvaluations = query('evaluations', 'evaluations', evaluations)
  const middle = String(calls[2]?.['created_at'] ?? isoOf(model))
  const phone = encodeURIComponent(CALLER)
  const of = (query: string, rows: Row[]): List => ({ tenant, path: `/callback-tasks?${query}`, name: 'tasks', rows })
  const by = (field: string, values: readonly unknown[]) =>
    values.map((value) =>
      of(
        `${field}=${encodeURIComponent(String(value))}&limit=500`,
        tasks.filter((task) => task[field] === value),
      ),
    )
  return [
    of('limit=500', tasks),
    ...by('status', ['open', 'claimed', 'snoozed', 'completed', 'cancelled', 'dispatching']),
    ...by('queue_key', QUEUES),
    ...by('customer_phone', PHONES),
    ...by('assigned_to', ['ann', 'Çelik ☎']),
    ...by('disposition', ['resolved', 'do_not_call']),
    ...by('priority', ['urgent', 'normal']),
    ...by('call_sid', ['CA1']),
    of(
      'order=due&limit=500',
      tasks.filter(({ status }) => !['completed', 'cancelled'].includes(String(status))),
    ),
    { tenant, path: '/dnc?limit=500', name: 'entries', rows: dnc },
    ...[ofCalls, ofSessions].flatMap((of) => [
      of('', () => true),
      of(
        `from=${phone}`,
        ({ from, call_sid }) => (from ?? calls.find((each) => each['call_sid'] === call_sid)?.['from']) === CALLER,
      ),
      of('agent_key=desk', ({ agent_key }) => agent_key === 'desk'),
      of('without_agent=true', ({ agent_key }) => agent_key === null),
      of(`created_after=${middle}`, ({ created_at, started_at }) => String(created_at ?? started_at) >= middle),
      of(`started_before=${middle}`, ({ started_at }) => started_at !== null && String(started_at) < middle),
    ]),
    ofCalls('status=no-answer', ({ status }) => status === 'no-answer'),
    ofSessions('tag=t1', ({ tags }) => (tags as string[]).includes('t1')),
    ofSessions('end_reason=caller_hangup', ({ end_reason }) => end_reason === 'caller_hangup'),
    ofEvaluations('', () => true),
    ofEvaluations('source=model', () => false),
    ofEvaluations(
      'agent_key=desk',
      ({ voice_session_id }) => sessions.find(({ id }) => id === voice_session_id)?.['agent_key'] === 'desk',
    ),
  ]
}

function adminListsOf(model: Model, tenant: string): List[] {
  const { agents, versions, routes, keys, users, rollouts, campaigns } = tenantOf(model, tenant)
  const of = (path: string, name: string, rows: Json[]): List => ({
    tenant: null,
    path: `/admin/tenants/${tenant}/${path}`,
    name,
    rows,
  })
  return [
    of('agents?limit=500', 'agents', agents),
    of('agent-versions?limit=500', 'versions', versions),
    ...agents.flatMap(({ id }) => [
      of(
        `agent-versions?limit=500&agent_id=${id}`,
        'versions',
        versions.filter(({ agent_id }) => agent_id === id),
      ),
      of(`agents/${id}/rollouts`, 'rollouts', rollouts[id] ?? []),
    ]),
    of('phone-routes?limit=500', 'phone_routes', routes),
    of(
      'api-keys?limit=500',
      'api_keys',
      keys.map(({ last_used_at: _used, ...key }) => key as Json),
    ),
    of('users?limit=500', 'users', users),
    ...[null, 'draft', 'running', 'paused', 'cancelled'].map((status) => ({
      ...{ tenant, path: `/campaigns?limit=500${status ? `&status=${status}` : ''}`, name: 'campaigns' },
      rows: campaigns.filter((each) => status === null || each['status'] === status),
    })),
  ]
}

async function unlikeList(world: World, { tenant, path, name, rows }: List): Promise<string[]> {
  const { status, body } = await world.read(tenant, path)
  if (status !== 200) return [`GET ${path}: ${status}`]
  const got = body[name] as Row[]
  const faults =
    got.length === rows.length && body['count'] === got.length
      ? []
      : [`GET ${path} of ${tenant}: ${got.length} rows instead of ${rows.length}`]
  for (const row of rows) {
    const own = got.find((each) => keyOf(each) === keyOf(row))
    faults.push(
      ...(own ? unlikeRow(own, row) : ['is missing']).map(
        (fault) => `GET ${path} of ${tenant}: ${keyOf(row)} ${fault}`,
      ),
    )
  }
  return faults
}
