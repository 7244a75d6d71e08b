import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { makeBus } from '../bus/bus.ts'
import { memoryWire } from '../bus/memory.ts'
import type { Bus } from '../bus/port.ts'
import { redisWire } from '../bus/redis.ts'
import type { Db } from '../db/schema.ts'
import type { HealthCheck } from '../http/health-checks.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Log } from '../log.ts'
import { makeClusterMetrics } from './cluster-metrics.ts'
import { watchNodeCount } from './node-count.ts'
import type { RateCounter } from './rate-counter.ts'
import { openRedis, type RedisLink } from './redis-link.ts'
import { takeInRedis } from './redis-rate-counter.ts'
import { aloneRateCounter, sharedRateCounter } from './shared-rate-counter.ts'

/** What joins this node to the others of its installation. */
export type Cluster = {
  bus: Bus
  rates: RateCounter
  /** None of them is needed: without them the node works on alone. */
  checks: HealthCheck[]
  /** Repeating it does nothing. */
  close(): void
}

type Deps = { redisUrl: string | null; clock: Clock; log: Log; metrics: Metrics; db: Db }

/** Joins the other nodes by way of Redis; without one this node is alone. A Redis that is away is waited for in the background. */
export async function joinCluster(deps: Deps): Promise<Cluster> {
  const { redisUrl: url, clock, log } = deps
  return url === null ? alone(deps) : among(deps, await openRedis({ url, clock, log }))
}

function alone({ clock, log }: Deps): Cluster {
  const bus = makeBus({ wire: memoryWire(), clock, log, onDropped: () => {} })
  return { bus, rates: aloneRateCounter(clock), checks: [], close: () => bus.close() }
}

function among({ clock, log, metrics, db }: Deps, link: RedisLink): Cluster {
  const count = watchNodeCount({ db, clock })
  const nodes = () => count.nodes
  const { onDropped } = makeClusterMetrics(metrics.registry, { isUp: () => link.doesWork, nodes })
  const bus = makeBus({ wire: redisWire(link), clock, log, onDropped })
  const rates = sharedRateCounter({
    clock,
    takeShared: (name, limit) => takeInRedis(link, name, limit),
    sharedForMs: () => link.upForMs,
    nodes,
  })
  return {
    bus,
    rates,
    checks: [{ name: 'redis', isOptional: true, check: async () => expectUp(link) }],
    close() {
      count.stop()
      bus.close()
      link.close()
    },
  }
}

function expectUp(link: RedisLink): void {
  if (!link.isUp) throw new AppError('unavailable', 'Redis is away.')
  if (!link.doesWork) throw new AppError('unavailable', 'Redis refuses what it is told.')
}
