import { makeAnalytics } from './analytics-floor.ts'
import { abandonedOf, endingOf, heldCall, progressOf } from './calls/call-ended.ts'
import { CarrierRequests } from './calls/carrier-requests.ts'
import { findGreeting, findMachineAction } from './calls/dial-store.ts'
import type { CallEnding, Finishing } from './calls/finish.ts'
import { makeHangingUp } from './calls/hang-up.ts'
import { makePutThrough } from './calls/put-through.ts'
import { resumeAddress } from './calls/stream-verbs.ts'
import { makeTenantCalls } from './calls/tenant-calls.ts'
import { makeTransfers } from './calls/transfers.ts'
import { makeCallRoutes } from './calls-floor.ts'
import type { Delivery } from './delivery-floor.ts'
import type { Deps } from './deps.ts'
import { makeErasing } from './erasing-floor.ts'
import { makeEvaluating } from './evaluation-floor.ts'
import type { Floors } from './floors.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { type Redactor, redactorFor } from './kernel/redaction/redact.ts'
import { makeLiveCalls } from './live-floor.ts'
import { makeLogReading } from './log-floor.ts'
import { doNotCallListRoutes } from './operators/do-not-call-list-routes.ts'
import { makeDncLists } from './operators/do-not-call-lists.ts'
import { doNotCallRoutes } from './operators/do-not-call-routes.ts'
import { supervisorActionRoutes } from './operators/supervisor-action-routes.ts'
import { makeOperators } from './operators-floor.ts'
import { tellActs } from './platform/http/acting-for.ts'
import { tenantGuard } from './platform/http/guards.ts'
import type { People } from './platform/http/people.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import { publicUrlOf } from './public-url.ts'
import { callLogRoutes } from './records/call-log-routes.ts'
import { listBusyTenants } from './records/call-owner-store.ts'
import type { RecordingFiles } from './records/recording-files.ts'
import { recordingRoutes } from './records/recording-routes.ts'
import { voiceSessionRoutes } from './records/voice-session-routes.ts'
import { makeSimulating } from './simulation-floor.ts'
import { makeActNotes } from './tenancy/acting-for.ts'
import { promptly } from './tenancy/prompt-credentials.ts'
import { activeSessionRoutes } from './voice/active-session-routes.ts'
import { keepingActions, noteTakeovers, redactingActions } from './voice/kept-actions.ts'
import { lineRoutes } from './voice/lines/line-routes.ts'
import { liveRoutes } from './voice/live-routes.ts'
import type { SessionState } from './voice/session/state.ts'
import type { EndedCall } from './voice/session-builder.ts'
import type { AbandonedCall } from './voice/stream-ends.ts'
import type { StreamedCall } from './voice/streamed-call.ts'
import { toolRoutes } from './voice/tools/tool-routes.ts'
import { makeVoice, type Voice } from './voice-floor.ts'
import { makeWatching } from './watch-floor.ts'

/** Live calls and what remains of them. */
export async function wireCalls(
  deps: Deps,
  floors: Floors & { delivery: Delivery; rateLimits: RateLimits; nodeId: NodeId; people: People },
  server: HttpServer,
) {
  const { clock, log, carriers, database } = deps
  const { credentials, finishing, kept } = floors
  const publicUrl = () => publicUrlOf(deps, server)
  const carrierCalls = makeHangingUp({ carriers, clock, log })
  const needs = { ...floors, tenants: floors.cache, defaults: floors.telephony, publicUrl }
  const watching = makeWatching(deps, needs)
  const ends = {
    finish: (ended: EndedCall) => writeDown(deps, finishing, endingOf(ended, clock)),
    isHeld: (call: StreamedCall) => floors.resuming.isHeld(heldCall(call)),
    checkpoint: (call: StreamedCall, state: SessionState) => {
      void noteProgress(deps, floors, call, state)
      void watching.streamLost(call.tenant.tenant_id, call.callSid)
    },
    abandon: (call: AbandonedCall) => void writeDown(deps, finishing, abandonedOf(call, new Date(clock.now()))),
  }
  // The embedded database cannot be away.
  const findTenant = database.kind === 'server' ? promptly(clock, credentials.findTenant) : credentials.findTenant
  const greetingOf = (tenantId: TenantId, callSid: string) => findGreeting(deps.database.db, tenantId, callSid)
  const machineActionOf = (tenantId: TenantId, callSid: string) => findMachineAction(database.db, tenantId, callSid)
  const { handOver } = watching
  const given = { ...needs, ...ends, carrierCalls, findTenant, greetingOf, machineActionOf, handOver }
  const liveCalls = makeLiveCalls(deps, floors)
  const keepAction = redactingActions(floors.supervisorActions.keep, (tenantId) => redactorOf(floors, tenantId))
  const lines = { open: liveCalls.openLine, note: noteTakeovers(keepAction, clock) }
  const requests = new CarrierRequests({ clock, carriers })
  const transfers = makeTransfers({
    ...{ clock, log, nodeId: floors.nodeId, bus: deps.cluster.bus, requests, publicUrl },
    putThrough: makePutThrough({ db: database.db, clock }),
    flush: (callSid) => floors.journal.flush(callSid),
    resumeUrl: () => resumeAddress(publicUrl()),
    tokens: () => voice.tokens,
  })
  const voice: Voice = await makeVoice(deps, { ...given, lines, transferOf: transfers.of }, server)
  const routes = makeCallRoutes(deps, needs, voice)
  const operators = makeOperators(deps, {
    ...{ tenants: floors.cache, credentials, place: routes.placeTaskCall, check: routes.checkTaskCall },
    notify: floors.delivery.notify,
  })
  const erasing = makeErasing(deps, filesOf(floors))
  const evaluating = makeEvaluating(deps, { tenants: floors.cache, resolveAgent: floors.resolveAgent })
  const simulating = makeSimulating(deps, needs, voice)
  const analytics = makeAnalytics(deps, { tenants: floors.cache, credentials })
  const logs = makeLogReading(deps, { ...floors, findTenant, webSockets: voice.webSockets })
  const acting = { adminKey: deps.config.adminKey, find: (tenantId: string) => knownTenant(floors, tenantId) }
  await server.register(logs.routes)
  await server.register(routes.carrierRoutes)
  await server.register(routes.outboundCallbackRoutes)
  await server.register(routes.transferRoutes)
  for (const plugin of operators.adminRoutes) await server.register(plugin)
  await server.register(analytics.adminRoutes)
  const calls = keepingActions(liveCalls.calls, {
    keep: keepAction,
    escalate: floors.escalations.escalate,
  })
  await server.register(supervisorActionRoutes(floors.supervisorActions))
  await server.register(activeSessionRoutes({ calls, busyTenants: () => listBusyTenants(database.db) }))
  await server.register(async (tenant) => {
    tenant.addHook('onRequest', tenantGuard({ findTenant, people: floors.people, acting }))
    tenant.addHook('onRequest', floors.rateLimits.asTenant)
    tenant.addHook('preHandler', tellActs(makeActNotes({ db: database.db, clock })))
    await tenant.register(callLogRoutes(floors.callLogs))
    await tenant.register(voiceSessionRoutes(floors.voiceSessions))
    await tenant.register(evaluating.tenantRoutes)
    await tenant.register(analytics.tenantRoutes)
    await tenant.register(doNotCallRoutes(floors.doNotCall))
    await tenant.register(doNotCallListRoutes(makeDncLists({ db: database.db, clock, tenants: floors.cache })))
    await tenant.register(recordingRoutes(floors.recordings))
    for (const plugin of erasing.tenantRoutes) await tenant.register(plugin)
    await tenant.register(liveRoutes({ calls, clock }))
    await tenant.register(lineRoutes({ calls, tokens: voice.tokens, streamUrl: voice.streamUrl }))
    await tenant.register(routes.tenantRoutes)
    await tenant.register(routes.chatRoutes)
    await tenant.register(simulating.tenantRoutes)
    await tenant.register(toolRoutes(voice.toolTrials))
    await tenant.register(routes.dialCheckRoutes)
    await tenant.register(floors.delivery.tenantRoutes)
    await tenant.register(routes.makeCallRoutes)
    await tenant.register(routes.campaigns.routes)
    for (const plugin of operators.tenantRoutes) await tenant.register(plugin)
  })
  const ofTenants = makeTenantCalls({
    ...{ db: database.db, clock, log, carrierCalls },
    tenants: floors.cache,
    live: liveCalls.calls,
  })
  return {
    ofTenants,
    watching,
    scheduled: [...operators.scheduled, ...analytics.scheduled, ...erasing.scheduled],
    /** Sessions that end from now on, and those that ended before, are scored. */
    startScoring: () => evaluating.start(),
    /** Simulations that were asked for before go on. */
    startSimulations: () => simulating.start(),
    /** Starts to call for the campaigns that run. */
    startCampaigns: routes.campaigns.runner.start,
    drain() {
      routes.campaigns.runner.stop()
      simulating.stop()
      return voice.drain()
    },
    async closeLive() {
      erasing.close()
      analytics.close()
      await Promise.all([
        routes.campaigns.runner.close(),
        routes.close(),
        voice.close(),
        operators.close(),
        evaluating.close(),
        simulating.close(),
      ])
      liveCalls.close()
      transfers.close()
      requests.close()
      logs.close()
    },
    /** The carrier may be away while the database is not, and the other way round: neither waits for the other. */
    async closeRecords() {
      await Promise.all([carrierCalls.close(), voice.closeRecorders(), kept.close()])
    },
  }
}

const TENANT_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/

/** As a header says it, which may be anything. */
async function knownTenant({ cache }: Floors, said: string): Promise<TenantId | null> {
  const tenant = TENANT_ID.test(said) ? await cache.get(said as TenantId) : null
  return tenant?.tenant_id ?? null
}

/** Never rejects: where nobody can say what the tenant wants, nothing personal is kept. */
async function redactorOf({ cache }: Floors, tenantId: TenantId): Promise<Redactor> {
  const tenant = await cache.get(tenantId).catch(() => null)
  return redactorFor(tenant?.compliance.redact_pii ?? true)
}

/** Never rejects: what is not written is what the call costs if nobody comes to its end. */
async function noteProgress({ log }: Deps, { sessions }: Floors, call: StreamedCall, state: SessionState) {
  const { tenant, callSid, epoch, next = [] } = call
  await sessions
    .progressed(tenant, { callSid, epoch, next, progress: progressOf(call, state) })
    .catch((err: unknown) => log.warn({ err, call_sid: callSid }, 'what a session came to was not noted'))
}

/** Whether it was the end of the call, as far as is known. Never rejects: an end that cannot be written is told in the log. */
async function writeDown({ log }: Deps, finishing: Finishing, ending: CallEnding): Promise<boolean> {
  const { tenantId, callSid, session } = ending
  const fields = { tenant_id: tenantId, call_sid: callSid, reason: session.endReason }
  log.info(fields, 'call ended')
  try {
    return await finishing.finish(ending)
  } catch (err) {
    log.error({ ...fields, err }, 'the end of a call was not written down')
    return true
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
