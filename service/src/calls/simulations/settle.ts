import type { Db, Tx } from '../../platform/db/schema.ts'
import { type ClaimedRun, settleRun } from '../../records/simulations/run-claim-store.ts'
import type { RunResult } from '../../records/simulations/run-store.ts'
import { type ListedSimulation, lockSimulation, updateSimulation } from '../../records/simulations/simulation-store.ts'
import { counted } from './simulations.ts'

/**
 * Writes down what has come of a run, and with the last one whether the simulation has passed. Nothing is written for a run that
 * somebody else has by now, or that was cancelled.
 */
export async function settle(db: Db, claimed: ClaimedRun, settled: { result: RunResult; now: Date }): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const simulation = await lockSimulation(tx, claimed.tenantId, claimed.simulationId)
    if (simulation && (await settleRun(tx, claimed, settled))) await completeIfOver(tx, simulation, settled.now)
  })
}

async function completeIfOver(tx: Tx, simulation: ListedSimulation, now: Date): Promise<void> {
  const { counts } = await counted(tx, simulation)
  const { pending, running, passed, failed, error } = counts
  if (pending + running > 0) return
  const passRate = passed / (passed + failed + error)
  await updateSimulation(tx, simulation, {
    ...{ status: 'completed', completed_at: now, pass_rate: passRate },
    passed: passRate >= simulation.pass_threshold,
  })
}

/** What comes of a run that could not be run to its end. */
export function notRun(reason: string): RunResult {
  return {
    ...{ status: 'error', reasons: [reason], transcript: [], function_calls: [], ended_by: null, score: null },
    ...{ criteria: null, summary: null, slowest_ms: null },
  }
}
