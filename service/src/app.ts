import { makeAdministration } from './admin-floor.ts'
import { agentRoutes } from './agents/agent-routes.ts'
import { agentVersionRoutes } from './agents/agent-version-routes.ts'
import { makeConnectNumber } from './calls/connect-number.ts'
import { phoneRouteRoutes } from './calls/phone-route-routes.ts'
import { renewing, takeSealingKey } from './changed-key.ts'
import { type Delivery, makeDelivery } from './delivery-floor.ts'
import { hasDemo, makeDemoOnce } from './demo.ts'
import type { Deps } from './deps.ts'
import { type Floors, makeFloors, rateLimitsOf } from './floors.ts'
import { startForgetting } from './forgetting.ts'
import { byChance, type NodeId, newId } from './kernel/ids.ts'
import { wireCalls } from './live-wiring.ts'
import { asksDatabase, needsNoDatabase } from './offline-routes.ts'
import { wirePages } from './pages-floor.ts'
import { tellStandstills } from './platform/event-loop.ts'
import { adminGuard } from './platform/http/guards.ts'
import { expectAnswer, expectDatabase } from './platform/http/needs-database.ts'
import { makeNodeMetrics } from './platform/http/node-metrics.ts'
import type { People } from './platform/http/people.ts'
import { type Phase, probes } from './platform/http/probes.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import { answersBegun, buildServer, type HttpServer, prepareChecks, sendElsewhere } from './platform/http/server.ts'
import { startHeartbeat } from './platform/nodes/heartbeat.ts'
import { SteadyBeats } from './platform/nodes/steady-beats.ts'
import { watchOpenFiles } from './platform/open-files.ts'
import { publicAddressFault } from './public-address.ts'
import { publicUrlOf } from './public-url.ts'
import { makeSchedule, type Schedule } from './schedule.ts'
import { withoutOutside } from './standby.ts'
import { expectServedInStandby } from './standby-routes.ts'
import { wireSteering } from './steering-floor.ts'
import { CLOSE_WITHIN_MS, stop } from './stopping.ts'
import { apiKeyRoutes } from './tenancy/api-key-routes.ts'
import { tenantRoutes } from './tenancy/tenant-routes.ts'
import { loadTenants } from './tenants-file.ts'
import { startVacuuming } from './vacuuming.ts'

/** The service, wired and ready to listen. */
export type App = {
  server: HttpServer
  /** Whether there is a demo tenant to be tried. */
  hasDemo(): Promise<boolean>
  /** The address at which carriers and pages reach this service; without PUBLIC_URL one of this machine, known once it listens. */
  publicUrl(): string
  /** Starts to take requests. Returns the base address, with the port that was really taken. Closes everything when it cannot. */
  listen(): Promise<string>
  /** Does what a start does not wait for and a first request would: to be called once it listens. */
  prepare(): Promise<void>
  /** Takes no call from now on, and lets those that there are end, or ends them when DRAIN_SECONDS are over. */
  drain(): Promise<void>
  /**
   * Ends what is left of calls, requests in flight, then everything that was started, the database last. Again, it waits for
   * the same end.
   */
  close(): Promise<void>
  /** `close` takes no longer. */
  closeWithinMs: number
}

const STANDS_BY = 'standing by: no calls, no deliveries, nothing by itself, because STANDBY is true'
/** As long as tenants wait to be told that the database is silent. */
const ANSWER_WITHIN_MS = 1_000
const PING_WITHIN_MS = 2_000

/** Wires the floors together. Owns what it is given: `close` closes the database too, and so does a failure here. */
export async function buildApp(deps: Deps): Promise<App> {
  try {
    return await wire(deps.config.standby ? withoutOutside(deps) : deps)
  } catch (error) {
    deps.cluster.close()
    await deps.database.close()
    throw error
  }
}

async function wire(deps: Deps): Promise<App> {
  const { config, clock, log, metrics, database } = deps
  const { db } = database
  const nodeId = newId<NodeId>(clock.now())
  const beats = new SteadyBeats(clock)
  const floors = makeFloors(deps, nodeId)
  await takeSealingKey(deps)
  if (database.kind === 'embedded' && !config.standby) await makeDemoOnce({ db, ...floors })
  if (config.tenantsFile !== null) await loadTenants(config.tenantsFile, floors.tenants)
  if (!config.standby) await floors.kept.start()

  let phase: Phase = 'starting'
  const rateLimits = rateLimitsOf(deps, floors)
  const server = buildServer({ log, clock, metrics, trustProxy: config.trustProxy, rateLimits })
  const administration = makeAdministration(deps, { origin: () => publicUrlOf(deps, server), limits: rateLimits })
  const { people, standing } = administration
  guard(server, deps, { people, rateLimits })
  await server.register(probesOf(deps, { beats, phase: () => phase }))
  await administration.register(server)
  await server.register(apiKeyRoutes(floors.apiKeys))
  await server.register(agentRoutes(floors.agents))
  await server.register(agentVersionRoutes(floors.versions))
  await server.register(
    phoneRouteRoutes({ routes: floors.phoneRoutes, connectNumber: connecting(deps, floors, server) }),
  )
  const delivery = makeDelivery(deps, { tenants: floors.cache, changes: floors.changes })
  const steering = await wireSteering(deps, { ...floors, rateLimits, notify: delivery.notify }, server)
  await server.register(delivery.adminRoutes)
  await server.register(delivery.outboxRoutes)
  await server.register(delivery.operatorOutboxRoutes)
  const calls = await wireCalls(deps, { ...floors, delivery, rateLimits, nodeId, beats, people, standing }, server)
  await server.register(tenantRoutes(floors.tenants, calls.ofTenants))
  await wirePages(deps, rateLimits, server)
  await server.ready()
  const schedule = makeSchedule({
    ...{ clock, log, intervalMs: config.sweepIntervalSeconds * 1_000, chance: byChance },
    work: database.kind === 'memory' ? [] : [...calls.scheduled, ...steering.scheduled, ...renewing(deps)],
  })

  const forgetting = database.kind === 'memory' ? startForgetting({ db, clock, log }) : null
  const isStopping = () => phase === 'stopping'
  const living = config.standby ? null : startLiving(deps, { nodeId, beats, isStopping })
  const stopWatchingFiles = watchOpenFiles({ clock, log })
  const stopTelling = tellStandstills({
    ...{ eventLoop: metrics.eventLoop, log },
    liveCalls: () => floors.live.size,
    isStarting: () => phase === 'starting',
  })
  let closed: Promise<void> | undefined
  const close = async () => {
    stopWatchingFiles()
    stopTelling()
    phase = 'stopping'
    await stop(deps, { server, floors, administration, delivery, steering, calls, schedule, forgetting, living })
  }
  return {
    server,
    hasDemo: () => hasDemo(floors.tenants),
    publicUrl: () => publicUrlOf(deps, server),
    async drain() {
      phase = 'stopping'
      // Who keeps a connection, or a balancer that passes it on as it is, would meet this node until its last call is over.
      sendElsewhere(server)
      // It would place calls.
      await schedule.close()
      await Promise.all([calls.watching.stopping(), calls.drain()])
      await answersBegun(server)
    },
    async listen() {
      try {
        const address = await server.listen({ host: config.host, port: config.port })
        phase = config.standby ? 'standby' : 'serving'
        if (config.standby) log.warn({}, STANDS_BY)
        else await begin(deps, { calls, delivery, schedule })
        return address
      } catch (error) {
        closed ??= close()
        await closed
        throw error
      }
    },
    prepare: () => prepareChecks(server),
    closeWithinMs: CLOSE_WITHIN_MS,
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** What each request passes before its route is asked. */
function guard(
  server: HttpServer,
  { config, database }: Deps,
  { people, rateLimits }: { people: People; rateLimits: RateLimits },
): void {
  server.addHook('onRequest', adminGuard({ adminKey: config.adminKey, people }))
  server.addHook('onRequest', rateLimits.asWhoever)
  if (database.kind === 'memory') server.addHook('preParsing', expectDatabase(needsNoDatabase))
  if (database.kind === 'server') {
    server.addHook('preParsing', expectAnswer({ asks: asksDatabase, ping: () => database.ping(ANSWER_WITHIN_MS) }))
  }
  if (config.standby) server.addHook('preParsing', expectServedInStandby)
}

/** What this node says of itself to those who look after it. */
function probesOf(deps: Deps, { beats, phase }: { beats: SteadyBeats; phase: () => Phase }) {
  const { config, clock, log, metrics, database, version, commit = null } = deps
  const name = database.kind === 'memory' ? 'memory' : 'database'
  const check = async () => {
    await database.pingPrimary(PING_WITHIN_MS)
    beats.expectTaken()
  }
  makeNodeMetrics(metrics.registry, { phase, takesBeats: config.standby ? null : () => beats.isTaking })
  return probes({ clock, log, metrics, version, commit, phase, checks: [{ name, check }, ...deps.cluster.checks] })
}

/** Says that this node is here, and keeps a database in order that does not do so itself. */
function startLiving(
  { clock, log, database, version, sharedClock }: Deps,
  { nodeId, beats, isStopping }: { nodeId: NodeId; beats: SteadyBeats; isStopping: () => boolean },
) {
  const { vital: db, expectRoom } = database
  return {
    vacuuming: startVacuuming({ database, clock, log, isStopping, chance: byChance }),
    heartbeat: startHeartbeat({ db, expectRoom, clock, log, version, nodeId, beats, sharedClock }),
  }
}

type Begun = { calls: Awaited<ReturnType<typeof wireCalls>>; delivery: Delivery; schedule: Schedule }

/** Begins what is done by itself: what was begun elsewhere would go on in a process that stands by. */
async function begin({ database }: Deps, { calls, delivery, schedule }: Begun): Promise<void> {
  calls.startLooking()
  calls.watching.start()
  if (database.kind !== 'memory') calls.startCampaigns()
  await delivery.start()
  await calls.startScoring()
  await calls.startSimulations()
  schedule.start()
}

function connecting(deps: Deps, { cache }: Floors, server: HttpServer) {
  const { clock, carriers, config } = deps
  const publicUrl = () => publicUrlOf(deps, server)
  return makeConnectNumber({
    clock,
    carriers,
    tenants: cache,
    publicUrl,
    addressFault: () => publicAddressFault(config),
  })
}
