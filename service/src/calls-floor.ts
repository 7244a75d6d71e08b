import type { Prompts } from './agents/prompts.ts'
import type { ResolveAgent } from './agents/resolve.ts'
import { makeBrowserCalls } from './calls/browser-call.ts'
import { browserCallRoutes } from './calls/browser-call-routes.ts'
import { makeCallResume } from './calls/call-resume.ts'
import { makeCallStatusCallbacks } from './calls/call-status.ts'
import { makeCancelCall } from './calls/cancel-call.ts'
import { cancelCallRoutes } from './calls/cancel-call-routes.ts'
import { CarrierRequests } from './calls/carrier-requests.ts'
import { makeChats } from './calls/chat.ts'
import { chatRoutes } from './calls/chat-routes.ts'
import { makeDialCheck } from './calls/dial-check.ts'
import { dialCheckRoutes } from './calls/dial-check-routes.ts'
import { makeDialGate } from './calls/dial-gate.ts'
import { makeGoesOn } from './calls/goes-on.ts'
import type { HangingUp } from './calls/hang-up.ts'
import { makeDecideInbound } from './calls/inbound-decision.ts'
import { makeIncoming, makeNotTaking } from './calls/incoming.ts'
import { incomingRoutes } from './calls/incoming-routes.ts'
import { makeCallbackSignatures } from './calls/incoming-signature.ts'
import type { LateRefusals } from './calls/late-refusals.ts'
import type { LateReports } from './calls/late-reports.ts'
import type { LateUnanswered } from './calls/late-unanswered.ts'
import { makeOutbound } from './calls/outbound.ts'
import { makePutThrough } from './calls/put-through.ts'
import type { CallStatuses } from './calls/record-status.ts'
import { makeRefusedCalls } from './calls/refused-calls.ts'
import { resumeAddress } from './calls/stream-verbs.ts'
import { makeTransferCallbacks } from './calls/transfer-callbacks.ts'
import { transferRoutes } from './calls/transfer-routes.ts'
import type { Deps } from './deps.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { hasHeir, isLive } from './platform/nodes/heartbeat-store.ts'
import { isLoopback } from './public-url.ts'
import type { Resuming } from './records/resuming.ts'
import type { Sessions } from './records/sessions.ts'
import type { TelephonyDefaults, TenantRuntime } from './tenancy/tenant-runtime.ts'
import type { LiveSessions } from './voice/live-sessions.ts'
import type { Voice } from './voice-floor.ts'
import { SILENCE_MS } from './watch-floor.ts'

/** What the beginnings and ends of calls need of those around them. */
export type CallNeeds = {
  nodeId: NodeId
  /** The carrier account of tenants that name none. */
  defaults: TelephonyDefaults
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  prompts: Pick<Prompts, 'textFor'>
  sessions: Sessions
  resuming: Resuming
  statuses: CallStatuses
  late: LateReports
  lateRefusals: LateRefusals
  lateUnanswered: LateUnanswered
  carrierCalls: Pick<HangingUp, 'letLast' | 'dropApology'>
  live: LiveSessions
  /** The public address of this service, asked once it listens. */
  publicUrl: () => string
}

/** Wires the floor `calls`: what carriers ask and tell, and, for tenants, calls from a page. */
export function makeCallRoutes(deps: Deps, needs: CallNeeds, voice: Voice) {
  const { config, clock, log, carriers, database } = deps
  const { db } = database
  const { defaults, tenants, resolveAgent, sessions, resuming, statuses, late, live, publicUrl, nodeId } = needs
  const { capacity, tokens } = voice
  const hasModel = deps.model !== null
  const isSimulated = deps.simulated.carrier
  const takesUnsigned = () => config.simulator && isLoopback(publicUrl())
  const signatures = makeCallbackSignatures({ db, clock, log, tenants, carriers, defaults, isSimulated, takesUnsigned })
  const hasHeirNow = () => hasHeir(db, nodeId, SILENCE_MS)
  const addresses = () => ({
    stream: voice.streamUrl(),
    streamStatus: `${publicUrl()}/api/v1/call-status`,
    // The fragment tells the carrier how often to try; it is never sent.
    resume: resumeAddress(publicUrl()),
    incoming: `${publicUrl()}/api/v1/incoming-call#rc=3&rp=all`,
  })
  const tokenTtlMs = config.streamTokenTtlSeconds * 1_000
  const begin = { clock, tenants, resolveAgent, sessions, tokens, capacity, hasModel }
  const putThrough = makePutThrough({ db, clock })
  const { bus } = deps.cluster
  const transferCallbacks = makeTransferCallbacks({
    ...{ clock, log, bus, tokens, tenants, signatures, putThrough },
    isLive: (node) => isLive(db, node, SILENCE_MS),
  })
  const refused = makeRefusedCalls({ db, clock, log, late: needs.lateRefusals })
  const resume = makeCallResume({
    ...{ db, clock, log, nodeId, tenants, resolveAgent, signatures, live, capacity, statuses, resuming },
    ...{ putThrough, refused, carrierCalls: needs.carrierCalls, unanswered: needs.lateUnanswered },
    again: { tokens, addresses, hasModel, hasHeir: hasHeirNow },
  })
  const callbacks = makeCallStatusCallbacks({ db, clock, log, tenants, signatures, statuses, late, live, capacity })
  const given = { ...begin, db, log, signatures, addresses, hasHeir: hasHeirNow }
  const of = { ...given, carriers, live, reports: statuses, statuses: callbacks, resume }
  const decide = makeDecideInbound({ clock, log, ask: deps.outbound.request })
  const gate = makeDialGate({ clock })
  const isAlone = database.kind !== 'server'
  const outbound = makeOutbound({
    ...{ ...of, bus, isAlone, gate, lateUnanswered: needs.lateUnanswered, publicUrl },
    expectDiskRoom: () => database.expectRoom(),
  })
  const { toolsFor } = voice
  const requests = new CarrierRequests({ clock, carriers })
  const chats = makeChats({ clock, log, tenants, resolveAgent, prompts: needs.prompts, toolsFor, model: deps.chat })
  const browserCalls = makeBrowserCalls({ ...begin, log, statuses, tokenTtlMs, streamUrl: voice.streamUrl })
  return {
    transferRoutes: transferRoutes({ callbacks: transferCallbacks, carriers, publicUrl }),
    carrierRoutes: incomingRoutes({
      ...{ clock, carriers, publicUrl },
      incoming: config.standby
        ? makeNotTaking(given)
        : makeIncoming({ ...given, decide, refused, hasNoRoutes: database.kind === 'memory' }),
      resume,
      statuses: callbacks,
    }),
    outboundCallbackRoutes: outbound.callbackRoutes,
    tenantRoutes: browserCallRoutes(browserCalls),
    chatRoutes: chatRoutes(chats),
    dialCheckRoutes: dialCheckRoutes(makeDialCheck({ db, tenants, gate, resolveAgent })),
    makeCallRoutes: outbound.tenantRoutes,
    cancelCallRoutes: cancelCallRoutes(makeCancelCall({ db, clock, tenants, statuses, requests })),
    campaigns: outbound.campaigns,
    placeTaskCall: outbound.placeTaskCall,
    checkTaskCall: outbound.checkTaskCall,
    taskCallOpensAt: outbound.taskCallOpensAt,
    goesOn: makeGoesOn(requests),
    /** What became of calls of which that is not known is found out from now on. */
    start: () => outbound.start(),
    async close() {
      browserCalls.close()
      requests.close()
      await Promise.all([outbound.close(), refused.close()])
    },
  }
}
