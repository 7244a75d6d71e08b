import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import { takeLock } from '../../platform/db/advisory-locks.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { RunResult, SimulationRunId } from './run-store.ts'
import type { SimulationId } from './simulation-store.ts'

/** A run that is ours as long as its lease runs and nobody has cancelled it. */
export type ClaimedRun = {
  tenantId: TenantId
  simulationId: SimulationId
  id: SimulationRunId
  scenarioIndex: number
  /** With this one. */
  attempts: number
  claimToken: string
}

/**
 * Claims one run that is due, or whose lease is over, under a new token, of the tenant that has the fewest under way; null when
 * there is none, or all tenants have `perTenant` under way, on whatever node.
 */
export async function claimRunAcrossTenants(
  db: Db,
  { now, perTenant, leaseMs }: { now: Date; perTenant: number; leaseMs: number },
): Promise<ClaimedRun | null> {
  return db.transaction().execute(async (tx) => {
    // Only who claims alone can count what is under way.
    await takeLock(tx, 'simulationRuns', null)
    const { rows } = await sql<ClaimedRun>`
      with busy as (
        select tenant_id, count(*) as runs from simulation_runs
         where status = 'running' and leased_until > now() group by tenant_id),
      picked as materialized (
        select run.tenant_id, run.id
          from simulation_runs run left join busy on busy.tenant_id = run.tenant_id
         where (run.status = 'pending' and run.due_at <= ${now}
                or run.status = 'running' and run.leased_until <= now())
           and coalesce(busy.runs, 0) < ${perTenant}
         order by coalesce(busy.runs, 0), run.due_at, run.id limit 1 for update of run skip locked)
      update simulation_runs run
         set status = 'running', claim_token = gen_random_uuid(), attempts = run.attempts + 1,
             leased_until = now() + ${leaseMs} * interval '1 millisecond',
             started_at = coalesce(run.started_at, ${now})
        from picked
       where run.tenant_id = picked.tenant_id and run.id = picked.id
      returning run.tenant_id as "tenantId", run.simulation_id as "simulationId", run.id,
                run.scenario_index as "scenarioIndex", run.attempts, run.claim_token as "claimToken"`.execute(tx)
    return rows[0] ?? null
  })
}

/** Keeps a run for `leaseMs` from now. False when it is not held by this token any more: then nothing more is to be done. */
export async function renewRun(db: Db, claimed: ClaimedRun, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await heldBy(db, claimed)
    .set({ leased_until: sql<Date>`now() + ${leaseMs} * interval '1 millisecond'` })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives a run back, to be run from its beginning from `dueAt` on; with `isFree` that it was begun does not count. */
export async function releaseRun(
  db: Db,
  claimed: ClaimedRun,
  { dueAt, isFree }: { dueAt: Date; isFree: boolean },
): Promise<void> {
  const attempts = isFree ? claimed.attempts - 1 : claimed.attempts
  await heldBy(db, claimed)
    .set({ status: 'pending', due_at: dueAt, attempts, claim_token: null, leased_until: null })
    .execute()
}

/** Writes down what has come of a run. False when it is not held by this token any more: then nothing is written. */
export async function settleRun(tx: Tx, claimed: ClaimedRun, { result, now }: Settled): Promise<boolean> {
  const { reasons, transcript, function_calls, criteria, ...plain } = result
  const { numUpdatedRows } = await heldBy(tx, claimed)
    .set({
      ...plain,
      reasons: JSON.stringify(reasons),
      transcript: JSON.stringify(transcript),
      function_calls: JSON.stringify(function_calls),
      criteria: criteria && JSON.stringify(criteria),
      ...{ claim_token: null, leased_until: null, ended_at: now },
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type Settled = { result: RunResult; now: Date }

function heldBy(db: Db, { tenantId, id, claimToken }: ClaimedRun) {
  return db
    .updateTable('simulation_runs')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('claim_token', '=', claimToken)
}

/** Ends all leases: for the start of a process that is the only one on its database, so that who held them is gone. */
export async function endRunLeasesAcrossTenants(db: Db): Promise<void> {
  await db
    .updateTable('simulation_runs')
    .set({ leased_until: sql<Date>`now()` })
    .where('status', '=', 'running')
    .execute()
}
