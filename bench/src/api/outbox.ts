import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { ADMIN_API_KEY, type RunningParley, startParley } from '../parley.ts'
import { profiling } from '../systems.ts'
import type { ApiPlan } from './plan.ts'
import type { Ground } from './rings.ts'
import { startTargets, type Targets } from './targets.ts'
import { putTenant, tenantIds, WEBHOOK_EVENT } from './tenants.ts'

/** What became of rows that fell due at once. Of tenants whose targets answer: `delivered` of `rows`, in `seconds`. */
export type DeliveryFigures = {
  rows: number
  delivered: number
  seconds: number
  perSecond: number
  p99DelaySeconds: number
}

/** Once with the tenants alone whose targets answer, once with a tenth beside them whose targets hang. */
export type OutboxFigures = {
  alone: DeliveryFigures
  besideHanging: DeliveryFigures
  nodes: number
  hangingTenants: number
}

const NODES = 2
const HANGING_SHARE = 0.1
/** Written and counted until then. */
const DUE_IN_SECONDS = 20
const LOOK_EVERY_MS = 500

type Tenants = { prompt: string[]; hanging: string[] }
type Bench = { client: pg.Client; plan: ApiPlan; tenants: Tenants; signal: AbortSignal }

/** Starts two nodes and has them deliver, twice. */
export async function measureOutbox(ground: Ground, client: pg.Client, plan: ApiPlan): Promise<OutboxFigures> {
  const ids = tenantIds(plan.tenants)
  const hangingTenants = Math.round(plan.tenants * HANGING_SHARE)
  const tenants = { hanging: ids.slice(0, hangingTenants), prompt: ids.slice(hangingTenants) }
  const bench = { client, plan, tenants, signal: ground.signal }
  const targets = await startTargets()
  const nodes: RunningParley[] = []
  try {
    for (let node = 0; node < NODES; node++) nodes.push(await startNode(ground, node))
    await tellTenants(nodes, tenants, targets)
    const alone = await deliver(bench, tenants.prompt)
    const besideHanging = await deliver(bench, ids)
    return { alone, besideHanging, nodes: NODES, hangingTenants }
  } finally {
    for (const node of nodes) await node.stop()
    targets.close()
  }
}

/** Both may use both cores, of which one has the database and the targets too. */
function startNode({ databaseUrl, profileFolder, loadCore, systemCore, ...place }: Ground, node: number) {
  const surroundings = { ...NO_PROVIDERS, certificate: undefined, profileFolder }
  const options = {
    name: `node-${node + 1}`,
    ...{ databaseUrl, minSpeechMs: undefined },
    settings: { OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' },
  }
  const nodeArgs = profiling(surroundings, options.name)
  return startParley(options, surroundings, { place: { ...place, cores: [loadCore, systemCore] }, nodeArgs })
}

/** Nobody calls. */
export const NO_PROVIDERS = { modelUrl: 'ws://127.0.0.1:9/', carrierUrl: 'http://127.0.0.1:9' }

async function tellTenants([node]: RunningParley[], { prompt, hanging }: Tenants, targets: Targets): Promise<void> {
  const admin = { address: node?.address ?? '', adminKey: ADMIN_API_KEY }
  for (const tenantId of prompt) await putTenant(admin, tenantId, targets.promptUrl)
  for (const tenantId of hanging) await putTenant(admin, tenantId, targets.hangingUrl)
}

async function deliver({ client, plan, tenants, signal }: Bench, tenantIds: string[]): Promise<DeliveryFigures> {
  await client.query('truncate webhook_outbox')
  const perTenant = Math.floor(plan.outboxRows / plan.tenants)
  const { rows: written } = await client.query<{ due_at: Date }>(ENQUEUE, [tenantIds, perTenant])
  await client.query('vacuum analyze webhook_outbox')
  const dueMs = written[0]?.due_at.getTime() ?? Number.NaN
  if (Date.now() > dueMs) throw new Error('the outbox could not be written before it fell due')
  const rows = perTenant * tenants.prompt.length
  for (;;) {
    await wait(LOOK_EVERY_MS, undefined, { signal })
    const { rows: counted } = await client.query<{ pending: number }>(PENDING, [tenants.prompt])
    if (counted[0]?.pending === 0 || Date.now() > dueMs + plan.outboxSecondsMax * 1_000) break
  }
  return figuresOf(client, tenants.prompt, rows)
}

async function figuresOf(client: pg.Client, tenantIds: string[], rows: number): Promise<DeliveryFigures> {
  const { rows: found } = await client.query<Found>(DELIVERED, [tenantIds])
  const { delivered = 0, seconds = Number.NaN, p99 = null } = found[0] ?? {}
  return { rows, delivered, seconds, perSecond: delivered / seconds, p99DelaySeconds: p99 ?? Number.POSITIVE_INFINITY }
}

type Found = { delivered: number; seconds: number; p99: number | null }

/** Each is an event of a call of its own. */
const ENQUEUE = `
  with due as (select clock_timestamp() + interval '${DUE_IN_SECONDS} seconds' as at),
       written as (
    insert into webhook_outbox (id, tenant_id, event, call_sid, sequence, body, status, attempts, due_at, created_at)
    select gen_random_uuid(), tenant_id, '${WEBHOOK_EVENT}', 'CA' || md5(tenant_id || n), 1,
           json_build_object('event', '${WEBHOOK_EVENT}', 'tenant_id', tenant_id, 'call_sid', 'CA' || md5(tenant_id || n),
                             'voice_session_id', '', 'created_at', due.at,
                             'payload', json_build_object('status', 'completed', 'duration_seconds', n)),
           'pending', 0, due.at, due.at
      from due, unnest($1::text[]) as tenant_id, generate_series(1, $2::integer) n)
  select at as due_at from due`

const PENDING = `
  select count(*)::integer as pending from webhook_outbox where status = 'pending' and tenant_id = any($1)`

/** Rows are made as they fall due. One that is not delivered yet has the longest delay of all. */
const DELIVERED = `
  select count(delivered_at)::integer as delivered,
         extract(epoch from max(delivered_at) - min(created_at))::float8 as seconds,
         percentile_disc(0.99) within group (order by extract(epoch from coalesce(delivered_at, 'infinity') - created_at))::float8
           as p99
    from webhook_outbox where tenant_id = any($1)`
