import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import { TicketFault, type TicketState } from '../../platform/ticketing/port.ts'
import type { TicketSystems } from '../../platform/ticketing/registry.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { listTenantsWithAcrossTenants } from '../../tenancy/tenant-store.ts'
import { moveTask } from '../callback-task-move-store.ts'
import { reopen, type TaskMove } from '../callback-task-moves.ts'
import { type CallbackTaskRow, lockCallbackTask } from '../callback-task-store.ts'
import { isUnwanted, tellTaskChange } from '../change-callback-task.ts'
import { dueAnew } from '../edit-callback-task.ts'
import { type SweepAsk, type SweepDeps, type SweepResult, SweepRun, type Taken } from './sweep-run.ts'
import { beginCheck, endCheck, findTicketCompletion, listTicketedTasks, type TicketedTask } from './ticket-store.ts'

/** `minAgeMs`: tickets about which was asked more lately are left alone. */
export type TicketAsk = SweepAsk & { minAgeMs: number }

export type TicketSweepResult = SweepResult & {
  candidate_tasks: number
  reconciled_tasks: number
  unchanged_tasks: number
  webhooks_enqueued: number
}

export type TicketSweepDeps = SweepDeps & { db: Db; systems: TicketSystems }

/** A system that takes its time holds up its own tenant, and no other one as long as fewer than these do. */
const LANES = 32
/** Longer than any question. */
const CHECK_MS = 30_000
/** A ticket that is opened again later is another matter. */
const REOPENED_WITHIN_MS = 30 * 86_400_000

const AWAKE = { snoozed_until: null, snooze_reason: null }

/**
 * Has tasks follow the tickets that they name: a ticket that was closed completes its task, and one that is open again opens
 * what was completed so. No transaction is open while a system is asked.
 */
export async function sweepTickets(deps: TicketSweepDeps, ask: TicketAsk): Promise<TicketSweepResult> {
  const { db, clock } = deps
  const run = new SweepRun(deps, ask)
  await run.goThrough({
    lanes: LANES,
    tenants: () => listTenantsWithAcrossTenants(db, 'ticketing'),
    async tasks({ tenant_id, ticketing }, page) {
      if (!ticketing) return []
      const nowMs = clock.now()
      const checkedBefore = new Date(nowMs - ask.minAgeMs)
      const completedAfter = new Date(nowMs - REOPENED_WITHIN_MS)
      return listTicketedTasks(db, tenant_id, { ...page, now: new Date(nowMs), checkedBefore, completedAfter })
    },
    take: (tenant, task) => reconcile(deps, tenant, task, ask),
    endsTenant: (error) => isAboutSystem(error),
  })
  return {
    ...run.result,
    candidate_tasks: run.candidates,
    reconciled_tasks: run.count('reconciled') + run.count('reopened'),
    unchanged_tasks: run.count('unchanged'),
    webhooks_enqueued: run.webhooks,
  }
}

async function reconcile(
  deps: TicketSweepDeps,
  tenant: TenantRuntime,
  task: TicketedTask,
  { emitWebhooks }: TicketAsk,
): Promise<Taken | null> {
  const { db, clock, systems } = deps
  const { tenant_id: tenantId, ticketing } = tenant
  if (!ticketing) return null
  const now = new Date(clock.now())
  if (!(await beginCheck(db, tenantId, task, { now, until: new Date(now.getTime() + CHECK_MS) }))) return null
  try {
    const state = await systems[ticketing.driver].find(ticketing, task.ticket_id)
    if (state !== null) return await follow(deps, tenant, task, { state, emitWebhooks })
  } catch (error) {
    await noteCheck(deps, tenantId, task)
    throw error instanceof TicketFault ? new AppError('upstream_failed', error.message, { cause: error }) : error
  }
  await noteCheck(deps, tenantId, task)
  return { item: { outcome: 'ticket_missing', ticket_id: task.ticket_id }, webhooks: 0 }
}

/** Whether the system would not have told of another ticket either. */
function isAboutSystem(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : null
  return cause instanceof TicketFault && cause.kind !== 'answer'
}

/** What failed is asked about again behind the others. */
function noteCheck({ db, clock }: TicketSweepDeps, tenantId: TenantId, { id }: TicketedTask): Promise<void> {
  return endCheck(db, tenantId, id, { checked_at: new Date(clock.now()) })
}

type Followed = { state: TicketState; emitWebhooks: boolean }

function follow(
  { db, clock }: TicketSweepDeps,
  tenant: TenantRuntime,
  { id, ticket_id }: TicketedTask,
  { state, emitWebhooks }: Followed,
): Promise<Taken | null> {
  return db.transaction().execute(async (tx) => {
    const { tenant_id: tenantId } = tenant
    const now = new Date(clock.now())
    await holdKnownTenant(tx, tenantId)
    const task = await lockCallbackTask(tx, tenantId, id)
    // It may name another one by now.
    const isNamed = task !== null && ticketOf(task) === ticket_id
    const follows = isNamed && !(state === 'open' && (await isUnwanted(tx, task)))
    const move = follows && moveOf(task, state, { completedAt: await findTicketCompletion(tx, tenantId, id), now })
    const told = { ticket_id, ticket_status: state }
    if (!move) {
      await endCheck(tx, tenantId, id, { checked_at: now })
      return { item: { outcome: 'unchanged', ...told }, webhooks: 0 }
    }
    const { from, set } = move
    const anew = set.status === 'open' ? await dueAnew(tx, tenant, task, now) : null
    const moved = await moveTask(tx, tenantId, id, { from, set: { ...set, ...anew, updated_at: now } })
    if (!moved) throw new Error('a task is gone that is locked')
    await endCheck(tx, tenantId, id, { checked_at: now, completed_at: moved.completed_at })
    const change = { action: 'reconcile' as const, operator: null, note: null, details: told }
    const event = emitWebhooks ? ('callback.task.reconciled' as const) : null
    const webhooks = await tellTaskChange(tx, tenant, { task: moved, change, event }, now)
    return { item: { outcome: state === 'closed' ? 'reconciled' : 'reopened', ...told }, webhooks }
  })
}

/** The id of the ticket that a task names; null when it names none. */
function ticketOf({ metadata }: CallbackTaskRow): string | null {
  const ticket = metadata['external_ticket'] as { id?: unknown } | null | undefined
  return typeof ticket?.id === 'string' || typeof ticket?.id === 'number' ? String(ticket.id) : null
}

/** What a ticket makes of its task; null for nothing. `completedAt`: when it was completed because its ticket was closed. */
function moveOf(
  task: CallbackTaskRow,
  state: TicketState,
  { completedAt, now }: { completedAt: Date | null; now: Date },
): Pick<TaskMove, 'from' | 'set'> | null {
  const from = [task.status]
  if (state === 'closed') {
    const follows = task.status === 'open' || task.status === 'claimed' || task.status === 'snoozed'
    const set = { status: 'completed' as const, disposition: 'resolved' as const, completed_at: now, ...AWAKE }
    return follows ? { from, set } : null
  }
  // Whoever else completed it, or completed it again, has the last word.
  const isOurs = task.status === 'completed' && task.completed_at?.getTime() === completedAt?.getTime()
  return isOurs ? { from, set: reopen({ operator: null, note: null }).set } : null
}
