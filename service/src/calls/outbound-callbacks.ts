import { machineOf } from '../records/answered-by.ts'
import { isOver } from '../records/call-status.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import { type AdoptDeps, type AdoptDial, makeAdoptDial, type OfDial } from './adopt-dial.ts'
import type { CallStatusCallbacks, ToldStatus } from './call-status.ts'
import type { MachineCalls } from './machine-calls.ts'

/** Takes what carriers tell of calls that were asked for. */
export type OutboundCallbacks = {
  adopt: AdoptDial
  /**
   * Notes what is told, and lets a live call know that a machine answered it.
   *
   * @throws AppError as `adopt`.
   */
  take(told: ToldStatus & OfDial): Promise<void>
}

type Deps = AdoptDeps & {
  statuses: CallStatusCallbacks
  machines: Pick<MachineCalls, 'answered'>
  live: Pick<LiveSessions, 'callHere'>
  capacity: Pick<LiveCapacity, 'rang'>
}

export function makeOutboundCallbacks(deps: Deps): OutboundCallbacks {
  const { statuses, machines, live, capacity } = deps
  const adopt = makeAdoptDial(deps)
  return {
    adopt,
    async take(told) {
      // A call that is here is known, also while the database is away.
      const tenantId = live.callHere(told.callSid)?.tenantId ?? (await adopt(told))?.tenant.tenant_id
      await statuses.take(told)
      // The result of detection alone comes without a status: the others repeat it.
      const { report, callSid, dialRef } = told
      if (report && report.status !== null && isOver(report.status)) capacity.rang(dialRef)
      const kind = report?.status === null ? machineOf(report.answeredBy) : null
      if (tenantId && kind !== null) machines.answered(tenantId, callSid, kind)
    },
  }
}
