import { registerCallRoutes, registerTenantRoutes } from './call-route-wiring.ts'
import { type CallSubjects, makeCallSubjects } from './call-subjects.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import type { HttpServer } from './platform/http/server.ts'
import { type CallFloors, type LiveParts, wireVoice } from './voice-wiring.ts'

/** Live calls and what remains of them. */
export async function wireCalls(deps: Deps, floors: CallFloors, server: HttpServer) {
  const live = await wireVoice(deps, floors, server)
  const subjects = makeCallSubjects(deps, floors, live)
  await registerCallRoutes(deps, { floors, live, subjects }, server)
  await registerTenantRoutes(deps, { floors, live, subjects }, server)
  const { operators, analytics, erasing } = subjects
  return {
    ofTenants: { calls: subjects.ofTenants, erasing: erasing.ofTenants },
    watching: live.watching,
    scheduled: [...operators.scheduled, ...analytics.scheduled, ...erasing.scheduled],
    ...beginnings(live, subjects),
    ...endings(floors, live, subjects),
  }
}

/** What is begun once the service listens. */
function beginnings({ voice }: LiveParts, { evaluating, simulating, routes, operators }: CallSubjects) {
  return {
    /** What becomes of calls, and what they leave, is looked after. */
    startLooking() {
      voice.start()
      routes.start()
      operators.start()
    },
    /** Sessions that end from now on, and those that ended before, are scored. */
    startScoring: () => evaluating.start(),
    /** Simulations that were asked for before go on. */
    startSimulations: () => simulating.start(),
    /** Starts to call for the campaigns that run. */
    startCampaigns: routes.campaigns.runner.start,
  }
}

/** How it stops, in this order. */
function endings({ kept }: Floors, live: LiveParts, subjects: CallSubjects) {
  const { voice, carrierCalls } = live
  const { routes, operators, erasing, evaluating, simulating, analytics, logs } = subjects
  const { runner } = routes.campaigns
  return {
    drain() {
      runner.stop()
      simulating.stop()
      return voice.drain()
    },
    async closeLive() {
      erasing.close()
      analytics.close()
      await Promise.all([
        ...[runner.close(), routes.close(), voice.close()],
        ...[operators.close(), evaluating.close(), simulating.close()],
      ])
      live.close()
      logs.close()
    },
    /** The carrier may be away while the database is not, and the other way round: neither waits for the other. */
    async closeRecords() {
      await Promise.all([carrierCalls.close(), voice.closeRecorders(), kept.close()])
    },
  }
}
