import { makeAnalytics } from './analytics-floor.ts'
import { makeTenantCalls } from './calls/tenant-calls.ts'
import { makeCallRoutes } from './calls-floor.ts'
import type { Deps } from './deps.ts'
import { makeErasing } from './erasing-floor.ts'
import { makeEvaluating } from './evaluation-floor.ts'
import type { Floors } from './floors.ts'
import { makeLogReading } from './log-floor.ts'
import { makeOperators } from './operators-floor.ts'
import type { OneCall } from './records/ended-calls.ts'
import type { RecordingFiles } from './records/recording-files.ts'
import { makeSimulating } from './simulation-floor.ts'
import type { CallFloors, LiveParts } from './voice-wiring.ts'

/** What stands around live calls. */
export type CallSubjects = ReturnType<typeof makeCallSubjects>

/** Wires how calls begin, and what is done with what remains of them. */
export function makeCallSubjects(deps: Deps, floors: CallFloors, live: LiveParts) {
  const { credentials, cache: tenants, delivery, resolveAgent } = floors
  const { needs, voice, findTenant } = live
  const routes = makeCallRoutes(deps, { ...needs, carrierCalls: live.carrierCalls }, voice)
  const operators = makeOperators(deps, {
    ...{ tenants, credentials, place: routes.placeTaskCall, check: routes.checkTaskCall },
    ...{ opensAt: routes.taskCallOpensAt, goesOn: routes.goesOn },
    notify: delivery.notify,
  })
  const noteEndOf = async (call: OneCall) => {
    await routes.campaigns.noteEndOf(call)
    await operators.noteEndOf(call)
  }
  return {
    routes,
    operators,
    erasing: makeErasing(deps, { tenants, files: filesOf(floors), noteEndOf }),
    evaluating: makeEvaluating(deps, { tenants, resolveAgent }),
    simulating: makeSimulating(deps, needs, voice),
    analytics: makeAnalytics(deps, { tenants, credentials }),
    logs: makeLogReading(deps, { ...floors, findTenant, webSockets: voice.webSockets }),
    ofTenants: makeTenantCalls({
      ...{ db: deps.database.db, clock: deps.clock, log: deps.log, tenants },
      ...{ carrierCalls: live.carrierCalls, live: live.reachable, statuses: needs.statuses },
    }),
  }
}

/** All that sessions have on the disk, to be erased with them. */
function filesOf({ recordingFiles, eventLogFiles }: Floors): Pick<RecordingFiles, 'remove'> {
  return {
    async remove(tenantId, sessionId) {
      const removals = [recordingFiles, eventLogFiles].map((files) => files.remove(tenantId, sessionId))
      // One that cannot be removed does not keep the other.
      const failed = (await Promise.allSettled(removals)).find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  }
}
