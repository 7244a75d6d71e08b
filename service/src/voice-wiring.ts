import { makeCallEnds } from './call-ends.ts'
import { CarrierRequests } from './calls/carrier-requests.ts'
import { findGreeting, findMachineAction } from './calls/dial-store.ts'
import { makeHangingUp } from './calls/hang-up.ts'
import { makeOwnPutThrough } from './calls/put-through.ts'
import { resumeAddress } from './calls/stream-verbs.ts'
import { makeTransfers } from './calls/transfers.ts'
import type { Delivery } from './delivery-floor.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { type Redactor, redactorFor } from './kernel/redaction/redact.ts'
import { makeLiveCalls } from './live-floor.ts'
import type { FindTenant } from './platform/http/guards.ts'
import type { People } from './platform/http/people.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import type { SteadyBeats } from './platform/nodes/steady-beats.ts'
import { publicUrlOf } from './public-url.ts'
import { statusReport } from './records/call-record.ts'
import { isDatabaseTrouble } from './records/database-trouble.ts'
import { orLately } from './tenancy/lately.ts'
import { promptly } from './tenancy/prompt-credentials.ts'
import type { Standing } from './tenancy/standing.ts'
import { keepingActions, noteTakeovers, redactingActions } from './voice/kept-actions.ts'
import { linesMayStay } from './voice/lines/may-stay.ts'
import type { StreamTokens } from './voice/stream-token.ts'
import { makeVoice, type Voice, type VoiceNeeds } from './voice-floor.ts'
import { makeWatching } from './watch-floor.ts'

/** All that live calls stand on. */
export type CallFloors = Floors & {
  delivery: Delivery
  rateLimits: RateLimits
  nodeId: NodeId
  beats: SteadyBeats
  people: People
  standing: Standing
}

/** The live calls of this process, and who looks after them and acts on them. */
export type LiveParts = Awaited<ReturnType<typeof wireVoice>>

/** Wires live calls: who looks after them, how they end and are put through, and how those of any node are reached. */
export async function wireVoice(deps: Deps, floors: CallFloors, server: HttpServer) {
  const { clock, log, carriers } = deps
  const publicUrl = () => publicUrlOf(deps, server)
  const needs = { ...floors, tenants: floors.cache, defaults: floors.telephony, publicUrl }
  const carrierCalls = makeHangingUp({
    ...{ carriers, clock, log, tenants: floors.cache, noteEnded: noteEndedBy(deps, floors) },
  })
  const watching = makeWatching(deps, needs)
  const findTenant = findTenantBy(deps, floors)
  const keep = redactingActions(floors.supervisorActions.keep, (tenantId) => redactorOf(floors, tenantId))
  const note = noteTakeovers(keep, clock)
  const reachable = makeLiveCalls(deps, floors, note)
  const callEnds = makeCallEnds(deps, floors, watching)
  const { isHeld } = callEnds
  const transfers = makeTransferring(deps, { ...needs, isHeld, tokens: () => voice.tokens })
  const voice: Voice = await makeVoice(
    deps,
    {
      ...needs,
      ...callEnds,
      ...wantedOfDials(deps),
      ...{ carrierCalls, findTenant, handOver: watching.handOver, transferOf: transfers.of },
      lines: { open: reachable.openLine, note, mayStay: linesMayStay(floors.standing) },
    },
    server,
  )
  return {
    ...{ needs, carrierCalls, watching, findTenant, voice },
    /** The calls of all nodes. */
    reachable: reachable.calls,
    /** The same for people: what they do is written down. */
    calls: keepingActions(reachable.calls, { keep, escalate: floors.escalations.escalate }),
    /** To be called when the calls are over. */
    close() {
      reachable.close()
      transfers.close()
    },
  }
}

/** Whose token it is. The embedded database cannot be away. */
function findTenantBy({ clock, database }: Deps, { credentials, rateLimits }: CallFloors): FindTenant {
  const find: FindTenant = (token, { address, isLook }) =>
    credentials.findTenant(token, { isLook, mayAsk: () => rateLimits.mayAsk(address) })
  return database.kind === 'server' ? orLately(promptly(clock, find), (token) => credentials.lately(token)) : find
}

/** That a carrier has ended a call is kept on the disk while the database is away, as what it tells by itself is. */
function noteEndedBy({ clock, log }: Deps, { statuses, late }: Floors) {
  return async (tenantId: TenantId, callSid: string): Promise<void> => {
    const report = statusReport('completed', new Date(clock.now()))
    try {
      await statuses.record(tenantId, callSid, report)
    } catch (err) {
      if (!isDatabaseTrouble(err)) throw err
      const isKept = await late.take({ tenantId, callSid, report })
      if (!isKept) log.error({ err, call_sid: callSid }, 'that a carrier has ended a call was not noted')
    }
  }
}

/** What whoever had an outbound call placed wants of it. */
function wantedOfDials({ database: { db } }: Deps) {
  return {
    greetingOf: (tenantId: TenantId, callSid: string) => findGreeting(db, tenantId, callSid),
    machineActionOf: (tenantId: TenantId, callSid: string) => findMachineAction(db, tenantId, callSid),
  }
}

type TransferNeeds = Pick<CallFloors, 'nodeId' | 'journal' | 'cache'> &
  Pick<VoiceNeeds, 'isHeld'> & { publicUrl: () => string; tokens: () => StreamTokens }

function makeTransferring(deps: Deps, { nodeId, journal, cache, isHeld, publicUrl, tokens }: TransferNeeds) {
  const { clock, log, carriers, cluster, database } = deps
  const requests = new CarrierRequests({ clock, carriers, tenants: cache })
  const transfers = makeTransfers({
    ...{ clock, log, nodeId, bus: cluster.bus, requests, publicUrl, tokens, isHeld },
    putThrough: makeOwnPutThrough({ db: database.db, clock, nodeId, tenants: cache }),
    flush: (callSid) => journal.flush(callSid),
    resumeUrl: () => resumeAddress(publicUrl()),
  })
  return {
    of: transfers.of,
    close() {
      transfers.close()
      requests.close()
    },
  }
}

/** Never rejects: where nobody can say what the tenant wants, nothing personal is kept. */
async function redactorOf({ cache }: Floors, tenantId: TenantId): Promise<Redactor> {
  const tenant = await cache.get(tenantId).catch(() => null)
  return redactorFor(tenant?.compliance.redact_pii ?? true)
}
