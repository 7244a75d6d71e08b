import type { ResolveAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { hasCallbackTask } from '../operators/callback-task-store.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { Sessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import type { CallResume } from './call-resume.ts'
import type { CallStatusCallbacks } from './call-status.ts'
import { makeCampaignWork } from './campaigns/campaign-work.ts'
import type { DialGate } from './dial-gate.ts'
import { makeDialing } from './dialing.ts'
import { startForgettingKeys } from './forget-keys.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import type { LateUnanswered } from './late-unanswered.ts'
import { makeMachineCalls } from './machine-calls.ts'
import { makeMakeCall } from './make-call.ts'
import { makeCallRoutes } from './make-call-routes.ts'
import { makeOutboundAnswer } from './outbound-answer.ts'
import { makeOutboundCallbacks } from './outbound-callbacks.ts'
import { outboundRoutes } from './outbound-routes.ts'
import { makeCheckTaskCall, makePlaceTaskCall } from './place-task-call.ts'
import type { CallStatuses } from './record-status.ts'
import type { RoomAsked } from './room-to-dial.ts'
import { makeSettlingDials } from './settle-dials.ts'
import type { CallAddresses } from './stream-verbs.ts'

type Deps = {
  db: Db
  clock: Clock
  log: Log
  carriers: Carriers
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  resolveAgent: ResolveAgent
  sessions: Sessions
  tokens: StreamTokens
  capacity: LiveCapacity
  expectDiskRoom: RoomAsked['expectDiskRoom']
  live: LiveSessions
  bus: Bus
  /** No other node could be told anything. */
  isAlone: boolean
  hasModel: boolean
  gate: DialGate
  reports: CallStatuses
  statuses: CallStatusCallbacks
  lateUnanswered: LateUnanswered
  resume: CallResume
  /** Whether another node takes calls. */
  hasHeir: () => Promise<boolean>
  addresses: () => CallAddresses
  publicUrl: () => string
}

/** Wires what places calls, answers them and finds out what became of them. `start` begins to find out, `close` stops what was started for that. */
export function makeOutbound(deps: Deps) {
  const { db, publicUrl } = deps
  // The fragment tells the carrier how often to try; it is never sent.
  const answerUrl = (dialRef: string) => `${publicUrl()}/api/v1/call-resume/${dialRef}#rc=3&rp=all`
  const statusUrl = (dialRef: string) => `${publicUrl()}/api/v1/call-status/${dialRef}`
  const dialing = makeDialing({
    ...deps,
    addresses: (dialRef) => ({ answer: answerUrl(dialRef), status: statusUrl(dialRef) }),
  })
  const hasTask = (tenantId: TenantId, taskId: string) => hasCallbackTask(db, tenantId, taskId)
  const machines = makeMachineCalls(deps)
  const callbacks = makeOutboundCallbacks({ ...deps, machines })
  const answers = makeOutboundAnswer({ ...deps, callbacks, late: deps.lateUnanswered, answerUrl })
  const settling = makeSettlingDials({ ...deps, statuses: deps.reports })
  const campaigns = makeCampaignWork({ ...deps, dialing })
  let forgettingKeys: { close(): Promise<void> } | null = null
  return {
    campaigns,
    callbackRoutes: outboundRoutes({ ...deps, answers, callbacks }),
    tenantRoutes: makeCallRoutes(makeMakeCall({ ...deps, dialing, hasTask })),
    placeTaskCall: makePlaceTaskCall({ ...deps, dialing }),
    checkTaskCall: makeCheckTaskCall(deps),
    taskCallOpensAt: (tenant: TenantRuntime, to: string) => deps.gate.opensAt(tenant, { to, hours: null }),
    start() {
      settling.start()
      machines.start()
      forgettingKeys = startForgettingKeys(deps)
    },
    async close() {
      await Promise.all([machines.close(), dialing.close(), settling.close(), forgettingKeys?.close()])
    },
  }
}
