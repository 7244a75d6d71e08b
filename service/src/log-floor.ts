import type { Deps } from './deps.ts'
import type { NodeId } from './kernel/ids.ts'
import type { Followers } from './platform/http/followers.ts'
import { type FindTenant, readerGuard } from './platform/http/guards.ts'
import type { People } from './platform/http/people.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { WebSockets } from './platform/http/web-sockets.ts'
import { makeLiveLog } from './platform/live-log/live-log.ts'
import { logRoutes } from './platform/live-log/log-routes.ts'
import { liveNodes } from './platform/nodes/heartbeat-store.ts'
import { SILENCE_MS } from './watch-floor.ts'

type Needs = {
  nodeId: NodeId
  people: People
  findTenant: FindTenant
  rateLimits: RateLimits
  logSubscribers: Followers
  webSockets: WebSockets
}

/** Wires the log as tenants and administrators read it. */
export function makeLogReading({ config, log, clock, cluster: { bus }, database: { db } }: Deps, needs: Needs) {
  const { nodeId, people, findTenant, webSockets } = needs
  const nodes = () => liveNodes(db, SILENCE_MS)
  const liveLog = makeLiveLog({ log, clock, bus, nodeId, nodes })
  const guard = (takesQueryTokens: boolean) =>
    readerGuard({ adminKey: config.adminKey, people, findTenant, takesQueryTokens })
  return {
    routes: logRoutes({
      ...{ clock, liveLog, webSockets },
      subscribers: needs.logSubscribers,
      guards: { recent: guard(false), socket: guard(config.legacyQueryAuth) },
      limits: needs.rateLimits,
    }),
    close: () => liveLog.close(),
  }
}
