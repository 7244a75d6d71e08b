import type { ResolveAgent } from './agents/resolve.ts'
import { makeCallWatch } from './calls/call-watch.ts'
import { CarrierRequests } from './calls/carrier-requests.ts'
import { makeHandOver } from './calls/hand-over.ts'
import { makeLetGo } from './calls/let-go.ts'
import { makeEndLostCall } from './calls/lost-calls.ts'
import { makeOpenCalls } from './calls/open-calls.ts'
import { makeOrphanedCalls } from './calls/orphaned-calls.ts'
import { makeHeedOthers } from './calls/others-word.ts'
import type { CallStatuses } from './calls/record-status.ts'
import { makeSendCallBack } from './calls/send-call-back.ts'
import { resumeAddress } from './calls/stream-verbs.ts'
import type { Deps } from './deps.ts'
import { withTimeout } from './kernel/clock.ts'
import type { AgentVersionId, NodeId, TenantId } from './kernel/ids.ts'
import { saysStopping } from './platform/nodes/heartbeat-store.ts'
import type { SteadyBeats } from './platform/nodes/steady-beats.ts'
import type { Journal } from './records/journal.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import type { LiveSessions } from './voice/live-sessions.ts'

/** What looking after calls needs of those around it. */
export type WatchNeeds = {
  nodeId: NodeId
  beats: SteadyBeats
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  statuses: CallStatuses
  journal: Journal
  live: LiveSessions
  /** The public address of this service, asked once it listens. */
  publicUrl: () => string
}

/** Three heartbeats that did not come. */
export const SILENCE_MS = 3_000
/** A database that does not answer must not hold up a stop. */
const TOLD_WITHIN_MS = 1_000

/** Wires what looks after calls in the background: lost ones, those of nodes that are gone, and those of a node that stops. */
export function makeWatching(deps: Deps, needs: WatchNeeds) {
  const { clock, sharedClock, log, carriers, database, config } = deps
  const { nodeId, beats, tenants, statuses, journal, live, publicUrl } = needs
  const { db, vital } = database
  const requests = new CarrierRequests({ clock, carriers })
  const known = { db, vital, clock, log, nodeId, tenants, live, journal, statuses, requests }
  // A database inside the process has one: whoever else had a call is gone.
  const silenceMs = database.kind === 'server' ? SILENCE_MS : 0
  const openCalls = makeOpenCalls({
    ...known,
    endLostCall: makeEndLostCall({ db, clock, tenants }),
    willEnd: (tenantId, callSid) => live.willEnd(tenantId, callSid),
    hungUp: (tenantId, callSid) => void live.hungUp(tenantId, callSid),
    maxCallMs: maxCallMsBy(needs.resolveAgent),
  })
  const resumeUrl = () => resumeAddress(publicUrl())
  const sendCallBack = makeSendCallBack({ db, clock, log, requests, resumeUrl })
  const orphanedCalls = makeOrphanedCalls({ ...known, openCalls, sendCallBack, beats, sharedClock, silenceMs })
  const letGo = makeLetGo(live)
  const heedOthers = makeHeedOthers({ vital, log, nodeId, live, letGo })
  const watch = makeCallWatch({ ...known, orphanedCalls, openCalls, heedOthers })
  const mayHaveHeir = database.kind === 'server' && config.publicUrl !== null
  const handOver = makeHandOver({ ...known, sendCallBack, letGo, heedOthers, mayHaveHeir, silenceMs: SILENCE_MS })
  return {
    start: () => watch.start(),
    /** The stream of a call is gone. Never rejects: at the latest the next look at open calls finds it. */
    async streamLost(tenantId: TenantId, callSid: string) {
      await openCalls
        .streamLost(tenantId, callSid)
        .catch((err: unknown) => log.warn({ err, call_sid: callSid }, 'a call that lost its stream was not noted'))
    },
    close: () => watch.close(),
    /** No other node hands its calls over to this one from now on. Takes a second at most, never rejects. */
    async stopping() {
      if (!mayHaveHeir) return
      const late = () => new Error('the database is silent')
      await withTimeout(clock, saysStopping(vital, nodeId), TOLD_WITHIN_MS, late).catch((err: unknown) =>
        log.warn({ err }, 'other nodes were not told of the stop'),
      )
    },
    async handOver() {
      // It would find the calls that are on their way elsewhere.
      if (mayHaveHeir) await watch.stop()
      await handOver()
    },
  }
}

function maxCallMsBy(resolveAgent: ResolveAgent) {
  return async (tenant: TenantRuntime, versionId: AgentVersionId | null): Promise<number> => {
    const agent = await resolveAgent(tenant, versionId === null ? null : { versionId })
    return (agent?.config.max_call_seconds ?? tenant.limits.max_call_seconds) * 1_000
  }
}
