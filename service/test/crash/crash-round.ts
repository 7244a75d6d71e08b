import { until } from '../harness/wait.ts'
import { check, type Damage } from './crash-check.ts'
import { CrashLedger } from './crash-ledger.ts'
import { numberOf, readRollout } from './crash-rollouts.ts'
import type { Stage } from './crash-stage.ts'
import type { CrashPoint, Workload } from './points.ts'
import type { Sabotage } from './sabotage.ts'
import { reach } from './ways.ts'
import { type Plan, putTenant, work } from './workloads.ts'

/**
 * What one kill came to. `isReached`: it was done, at its moment; `isTriedAgain`: it was not, and another one took its place; `startMs`: how long the service took to start again; `told`: how
 * much clients had been told; `repeats`: webhooks that came once more.
 */
export type CrashResult = Damage & {
  failures: string[]
  isReached: boolean
  isTriedAgain?: boolean
  startMs: number
  told: number
  repeats: number
}

/** A kill at a moment, the n-th one of its kind, or after a time. */
export type Kill = { point: CrashPoint; times: number } | { afterMs: number; kinds: Workload[] }

/** `reachMs`: within which the moment has to come; `settleMs`: in which the service puts in order what it need not wait with. */
export type RoundOptions = { reachMs: number; settleMs: number; sabotage: Sabotage | null }

/** Lets clients work until the kill, starts the service again, and looks at what is left. */
export async function crash(stage: Stage, kill: Kill, options: RoundOptions): Promise<CrashResult> {
  const { reachMs, settleMs, sabotage } = options
  const ledger = new CrashLedger()
  const isReached = await workUntilKilled(stage, kill, { ledger, reachMs })
  if (sabotage?.startDelayMs !== undefined) stage.delayStart(sabotage.startDelayMs)
  const startMs = await stage.restart()
  for (const { sid, streams } of await stage.carrier.hangUp()) if (streams.length > 0) ledger.streams.add(sid)
  await sabotage?.spoil?.(stage, ledger)
  const damage = await check(stage, ledger, settleMs)
  // A moment may not come because the service refuses what leads to it.
  const failures = isReached || ledger.refusal === null ? [] : [ledger.refusal]
  return { ...damage, failures, isReached, startMs, told: ledger.told, repeats: stage.receiver.takeRepeats() }
}

/** Resolves when the service is dead and no client asks for anything. */
async function workUntilKilled(stage: Stage, kill: Kill, { ledger, reachMs }: Noting): Promise<boolean> {
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  const before = await nameBefore(stage)
  const rollout = numberOf(await readRollout(stage.node.address, stage.rolloutAgent))
  Object.assign(ledger.names, { tried: before, acknowledged: before })
  Object.assign(ledger.rollouts, { tried: rollout, acknowledged: rollout })
  const plan = planOf(kill)
  await putTenant(stage, before, plan.isRecorded)
  const working = work({ stage, ledger, plan, isOver: () => isOver })
  const reached =
    'afterMs' in kill ? killAfter(stage, kill.afterMs, over) : reach({ ...kill, stage, ledger, reachMs, over })
  const isReached = await Promise.race([reached, failed(working)])
  over()
  await stage.carrier.stopRinging()
  await Promise.all([working, stage.node.program.end('SIGKILL')])
  return isReached
}

type Noting = { ledger: CrashLedger; reachMs: number }

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
