import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Call } from '../call.ts'
import { Carrier, type Entrance } from '../carrier.ts'
import type { Place } from '../child.ts'
import { REALTIME_PRIORITY } from '../child.ts'
import { LoadProcess } from '../load-process.ts'
import { startParley } from '../parley.ts'
import { percentile } from '../stats.ts'
import { profiling } from '../systems.ts'
import type { LoadReport } from '../tally.ts'
import type { ApiPlan } from './plan.ts'

/** How long `incoming-call` took while others talked. `refused`: those that there was no room for; `failed`: without an answer. */
export type RingFigures = {
  rings: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  refused: number
  failed: number
  failures: string[]
  /** How late the ringing itself was at p99. */
  lateP99Ms: number
  talk: LoadReport
}

/** Where things run. */
export type Ground = Omit<Place, 'cores'> & {
  loadCore: number
  systemCore: number
  databaseUrl: string
  profileFolder: string | undefined
  /** Whether all of it is at real-time priority, who rings and talks before the rest: the database is on their core. */
  isRingingRealtime: boolean
  /** Has the database come before all that does not ring or talk. */
  setDatabaseRealtime: (isRealtime: boolean) => void
}

/** Lets calls talk, and others ring beside them inside the window; who rang hangs up as soon as the answer is there. */
export async function measureRings(ground: Ground, plan: ApiPlan): Promise<RingFigures> {
  const { calls, warmupSeconds, ringSeconds, ringsPerSecond } = plan
  const isRealtime = ground.isRingingRealtime
  const load = await LoadProcess.start({ ...ground, isRealtime, cores: [ground.loadCore] })
  if (isRealtime) {
    setPolicy('-r', REALTIME_PRIORITY.yardstick)
    ground.setDatabaseRealtime(true)
  }
  try {
    const surroundings = { ...load.providers, certificate: undefined, profileFolder: ground.profileFolder }
    const options = { name: 'parley', databaseUrl: ground.databaseUrl, minSpeechMs: 0 }
    const place = { ...ground, isRealtime, cores: [ground.systemCore] }
    const nodeArgs = profiling(surroundings, 'parley-rings')
    const service = await startParley(options, surroundings, { place, nodeArgs })
    try {
      const { entrance } = service
      const steady = { rampPerSecond: 100, churnPerSecond: 1, callSeconds: 0 }
      let ringing: Promise<Omit<RingFigures, 'talk'>> | undefined
      const talk = await load.run({ ...steady, entrance, calls, warmupSeconds, seconds: ringSeconds }, (state) => {
        if (state === 'open') ringing = ring(entrance, { perSecond: ringsPerSecond, seconds: ringSeconds })
      })
      if (ringing === undefined) throw new Error('the load had no window')
      return { ...(await ringing), talk }
    } finally {
      await service.stop()
    }
  } finally {
    if (isRealtime) {
      setPolicy('-o', '0')
      ground.setDatabaseRealtime(false)
    }
    await load.stop()
  }
}

/** Children do not inherit the real-time one. */
function setPolicy(policy: '-r' | '-o', priority: string): void {
  execFileSync('chrt', ['-a', ...(policy === '-r' ? ['-R'] : []), policy, '-p', priority, String(process.pid)], {
    stdio: 'ignore',
  })
}

/** Rings so often a second, whether or not the answers come. */
async function ring(
  entrance: Entrance,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Omit<RingFigures, 'talk'>> {
  const carrier = new Carrier(entrance)
  const run = randomBytes(12).toString('hex')
  const [times, late, failures]: [number[], number[], string[]] = [[], [], []]
  let refused = 0
  const one = async (id: number) => {
    const call = new Call(id, run, Number.POSITIVE_INFINITY)
    const startMs = performance.now()
    try {
      const stream = await carrier.ring(call)
      times.push(performance.now() - startMs)
      if (stream === undefined) refused += 1
      await carrier.hungUp(call, 0)
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  const [startMs, under]: [number, Promise<void>[]] = [performance.now(), []]
  for (let i = 0; i < perSecond * seconds; i++) {
    const atMs = startMs + (i * 1_000) / perSecond
    const leftMs = atMs - performance.now()
    if (leftMs > 0) await wait(leftMs)
    late.push(performance.now() - atMs)
    under.push(one(i + 1))
  }
  await Promise.all(under)
  carrier.close()
  const [p50Ms, p99Ms, maxMs, lateP99Ms] = [
    percentile(times, 50),
    percentile(times, 99),
    percentile(times, 100),
    percentile(late, 99),
  ]
  const told = { refused, failed: failures.length, failures: failures.slice(0, 5) }
  return { rings: times.length, p50Ms, p99Ms, maxMs, lateP99Ms, ...told }
}
