import { isAtLeast } from '../../src/kernel/actor.ts'
import { ROLE_TABLE } from '../../src/role-table.ts'
import type { Actor, Answer, Asked, Json, World } from './world.ts'

/** A thing as the API shows it. */
export type Row = Json & { id: string }

/** What a tenant should have: rows as they should be read, the last made at the end. */
type TenantModel = {
  tasks: Row[]
  /** By number: what no answer shows an id of. */
  dnc: Json[]
  queues: Record<string, Json>
  agents: Row[]
  versions: Row[]
  /** By agent: the entries of its rollout, in their order. */
  rollouts: Record<string, Json[]>
  /** By agent: the tag of its rollout as far as it was told. */
  rolloutTags: Record<string, string>
  policies: Record<string, Json>
  routes: Row[]
  keys: Row[]
  users: Row[]
  campaigns: Row[]
  sessions: Row[]
  calls: Row[]
  evaluations: Row[]
  /** By key: the body that came with it, and what was made of it. */
  taskKeys: Record<string, { body: string; id: string }>
  campaignKeys: Record<string, { body: string; id: string }>
}

/** A tenant that comes and goes: its tag, and the number of its document. */
export type Umbrella = { tag: string; number: string | null }

/** What the service should have. Plain data, so that it can be copied to try another order. */
export type Model = { tenants: Record<string, TenantModel>; prompts: Row[]; umbrella: Umbrella | null; nowMs: number }

/** An event or a row of the audit log that should be written, by the id of what it tells of. */
export type Told = { kind: 'event' | 'audit'; name: string; of: string }

/**
 * What should come of an operation. `row`: what the answer should hold, by its name; what it leaves out is not looked at. `untold`: ids of
 * what it takes the events of away, sent or not.
 */
export type Predicted = {
  status: number
  row?: [name: string, row: Json | null]
  told?: Told[]
  untold?: string[]
  counts?: Record<string, number>
}

/** An operation that may be asked for: what is sent, and what the model makes of it. */
export type Op = Asked & {
  tenant: string | null
  actor: Actor
  /** Changes the model as the service should. An id that only the service knows is read from the answer. */
  predict(model: Model, answer: Answer): Predicted
}

/** Stands for an id that no answer shows. */
export const ANY = '*'

export const refused = (status: number): Predicted => ({ status })

export function tenantOf(model: Model, tenant: string | null): TenantModel {
  const known = model.tenants[tenant ?? '']
  if (!known) throw new Error(`the model has no tenant ${tenant}`)
  return known
}

export const isoOf = ({ nowMs }: Model, afterMs = 0): string => new Date(nowMs + afterMs).toISOString()

/** The thing that an answer holds; an empty one where it holds none. */
export function rowIn({ body }: Answer, name: string): Row {
  return (body[name] ?? {}) as Row
}

/** What the table of roles makes of whoever asks; null: it lets them. `tenant`: whose rows are named. */
export function refusalOf({ route, actor, tenant }: Pick<Op, 'route' | 'actor' | 'tenant'>): number | null {
  const needed = ROLE_TABLE[route]
  if (needed === undefined) throw new Error(`${route} is not in the table of roles`)
  const isAdmin = route.includes('/api/v1/admin/')
  if (actor.kind === 'stranger') return 401
  if (actor.kind === 'administrator') return isAdmin ? null : 401
  if (actor.kind === 'key') return isAdmin ? 401 : null
  if (isAdmin && tenant !== null && actor.tenant !== tenant) return 404
  const mayDo = needed !== 'administrator' && needed !== 'everybody' && actor.role && isAtLeast(actor.role, needed)
  return mayDo ? null : 403
}

/** The model of what a world begins with: whatever its tenants were furnished with. */
export async function modelOf(world: World, tenants: readonly string[]): Promise<Model> {
  const model: Model = { tenants: {}, prompts: [], umbrella: null, nowMs: world.clock.now() }
  for (const tenant of tenants) model.tenants[tenant] = await furnishedOf(world, tenant)
  return model
}

async function furnishedOf(world: World, tenant: string): Promise<TenantModel> {
  const rows = async (by: string | null, path: string, name: string) => {
    const { body } = await world.read(by, `${path}?limit=500`)
    return (body[name] as Row[]).toReversed()
  }
  const administered = (what: string, name: string) => rows(null, `/admin/tenants/${tenant}/${what}`, name)
  return {
    ...{ tasks: [], dnc: [], queues: {}, rollouts: {}, rolloutTags: {}, policies: {}, campaigns: [] },
    ...{ taskKeys: {}, campaignKeys: {}, evaluations: [] },
    ...{ agents: await administered('agents', 'agents'), versions: await administered('agent-versions', 'versions') },
    ...{ routes: await administered('phone-routes', 'phone_routes'), keys: await administered('api-keys', 'api_keys') },
    ...{ users: await administered('users', 'users'), calls: await rows(tenant, '/call-logs', 'call_logs') },
    sessions: await rows(tenant, '/voice-sessions', 'voice_sessions'),
  }
}
