import { until } from '../harness/wait.ts'
import { check, type Damage } from './crash-check.ts'
import { CrashLedger } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'
import type { CrashPoint, Workload } from './points.ts'
import type { Sabotage } from './sabotage.ts'
import { reach } from './ways.ts'
import { type Plan, putTenant, work } from './workloads.ts'

/** What one kill came to. `startMs`: how long the service took to start again; `told`: how much clients had been told. */
export type CrashResult = Damage & { failures: string[]; isReached: boolean; startMs: number; told: number }

/** A kill at a moment, the n-th one of its kind, or after a time. */
export type Kill = { point: CrashPoint; times: number } | { afterMs: number; kinds: Workload[] }

/** `settleMs`: how long the service has for putting in order what it need not wait with. */
export type RoundOptions = { settleMs: number; sabotage: Sabotage | null }

/** Lets clients work until the kill, starts the service again, and looks at what is left. */
export async function crash(stage: Stage, kill: Kill, { settleMs, sabotage }: RoundOptions): Promise<CrashResult> {
  const ledger = new CrashLedger()
  const isReached = await workUntilKilled(stage, kill, ledger)
  if (sabotage?.startDelayMs !== undefined) stage.delayStart(sabotage.startDelayMs)
  const startMs = await stage.restart()
  for (const { sid, streams } of await stage.carrier.hangUp()) if (streams.length > 0) ledger.streams.add(sid)
  await sabotage?.spoil?.(stage, ledger)
  return { ...(await check(stage, ledger, settleMs)), failures: [], isReached, startMs, told: ledger.told }
}

/** Resolves when the service is dead and no client asks for anything. */
async function workUntilKilled(stage: Stage, kill: Kill, ledger: CrashLedger): Promise<boolean> {
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  const before = await nameBefore(stage)
  Object.assign(ledger.names, { tried: before, acknowledged: before })
  const plan = planOf(kill)
  await putTenant(stage, before, plan.isRecorded)
  const working = work({ stage, ledger, plan, isOver: () => isOver })
  const reached = 'afterMs' in kill ? killAfter(stage, kill.afterMs, over) : reach({ ...kill, stage, ledger, over })
  const isReached = await Promise.race([reached, failed(working)])
  over()
  await stage.carrier.stopRinging()
  await Promise.all([working, stage.node.program.end('SIGKILL')])
  return isReached
}

/** Never resolves; rejects when the work could not be done. */
function failed(working: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => void working.catch(reject))
}

function planOf(kill: Kill): Plan {
  if ('afterMs' in kill) return { kinds: kill.kinds, way: 'at-once', isRecorded: true }
  const { does, way, talk, isRecorded = false } = kill.point
  return { kinds: does === 'start' ? [] : [does], way, ...(talk && { talk }), isRecorded }
}

async function killAfter(stage: Stage, afterMs: number, over: () => void): Promise<boolean> {
  const dueMs = performance.now() + afterMs
  const isDue = () => performance.now() >= dueMs
  await until(isDue, { what: 'the kill', timeoutMs: afterMs + 1_000, everyMs: 1 })
  over()
  stage.kill()
  return true
}

/** The name that the tenant has: a number. */
async function nameBefore({ database }: Stage): Promise<number> {
  const { rows } = await database.query<{ name: string | null }>("select document->>'name' as name from tenants")
  return Number(rows[0]?.name ?? 0)
}
