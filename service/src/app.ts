import { join } from 'node:path'
import { agentRoutes } from './agents/agent-routes.ts'
import { agentVersionRoutes } from './agents/agent-version-routes.ts'
import { makeAgentVersions } from './agents/agent-versions.ts'
import { makeAgents } from './agents/agents.ts'
import { makeResolveAgent } from './agents/resolve.ts'
import { abandonedOf, endingOf, heldCall, progressOf } from './calls/call-ended.ts'
import { findGreeting } from './calls/dial-store.ts'
import type { CallEnding, Finishing } from './calls/finish.ts'
import { LAST_REQUESTS_MS, makeHangingUp } from './calls/hang-up.ts'
import { phoneRouteRoutes } from './calls/phone-route-routes.ts'
import { makePhoneRoutes } from './calls/phone-routes.ts'
import { makeCallStatuses } from './calls/record-status.ts'
import { makeCallRoutes } from './calls-floor.ts'
import { hasDemo, makeDemoOnce } from './demo.ts'
import type { Deps } from './deps.ts'
import { makeKeptRecords } from './kept-records.ts'
import { type NodeId, newId, type TenantId } from './kernel/ids.ts'
import { makeLiveCalls } from './live-floor.ts'
import { makeCallbackTasks } from './operators/callback-tasks.ts'
import { makeDoNotCall } from './operators/do-not-call.ts'
import { doNotCallRoutes } from './operators/do-not-call-routes.ts'
import { adminGuard, tenantGuard } from './platform/http/guards.ts'
import { type Phase, probes } from './platform/http/probes.ts'
import { makeRateLimits, type RateLimits } from './platform/http/rate-limits.ts'
import { buildServer, type HttpServer, stopServer } from './platform/http/server.ts'
import { startHeartbeat } from './platform/nodes/heartbeat.ts'
import { callLogRoutes } from './records/call-log-routes.ts'
import { makeCallLogs } from './records/call-logs.ts'
import { makeOutcomes } from './records/outcomes.ts'
import { makeRecordingFiles } from './records/recording-files.ts'
import { recordingRoutes } from './records/recording-routes.ts'
import { makeRecordings } from './records/recordings.ts'
import { makeResuming } from './records/resuming.ts'
import { makeSessions } from './records/sessions.ts'
import { voiceSessionRoutes } from './records/voice-session-routes.ts'
import { makeVoiceSessions } from './records/voice-sessions.ts'
import { apiKeyRoutes } from './tenancy/api-key-routes.ts'
import { makeApiKeys } from './tenancy/api-keys.ts'
import { makeCredentials } from './tenancy/credentials.ts'
import { promptly } from './tenancy/prompt-credentials.ts'
import { expectSealingKey } from './tenancy/sealing-key.ts'
import { TenantCache } from './tenancy/tenant-cache.ts'
import { makeTenantChanges } from './tenancy/tenant-changes.ts'
import { tenantRoutes } from './tenancy/tenant-routes.ts'
import { makeTenantSource } from './tenancy/tenant-source.ts'
import { makeTenants } from './tenancy/tenants.ts'
import { VOICE_OVER_MS } from './voice/drain.ts'
import { liveRoutes } from './voice/live-routes.ts'
import { LiveSessions } from './voice/live-sessions.ts'
import type { AbandonedCall } from './voice/media-stream-join.ts'
import type { SessionState } from './voice/session/state.ts'
import type { EndedCall, StreamedCall } from './voice/session-builder.ts'
import { makeVoice } from './voice-floor.ts'
import { makeWatching } from './watch-floor.ts'

/** The service, wired and ready to listen. */
export type App = {
  server: HttpServer
  /** Whether there is a demo tenant to be tried. */
  hasDemo(): Promise<boolean>
  /** The address at which carriers and pages reach this service; without PUBLIC_URL one of this machine, known once it listens. */
  publicUrl(): string
  /** Starts to take requests. Returns the base address, with the port that was really taken. Closes everything when it cannot. */
  listen(): Promise<string>
  /** Takes no call from now on, and lets those that there are end, or ends them when DRAIN_SECONDS are over. */
  drain(): Promise<void>
  /**
   * Ends what is left of calls, requests in flight, then everything that was started, the database last. Again, it waits for
   * the same end.
   */
  close(): Promise<void>
}

/** Requests in flight get this long to end when the service stops. */
const STOP_GRACE_MS = 2_000
/** The journal, and with it the ends of calls, get this long to be written; where this node was known, it says goodbye in less. */
const RECORDS_WITHIN_MS = 5_000
const GOODBYE_WITHIN_MS = 1_000

/** `close` takes no longer than its parts, of which those that do not need each other end at the same time. */
export const CLOSE_WITHIN_MS =
  Math.max(STOP_GRACE_MS, VOICE_OVER_MS) + Math.max(LAST_REQUESTS_MS, RECORDS_WITHIN_MS) + GOODBYE_WITHIN_MS

/** Wires the floors together. Owns what it is given: `close` closes the database too, and so does a failure here. */
export async function buildApp(deps: Deps): Promise<App> {
  try {
    return await wire(deps)
  } catch (error) {
    deps.cluster.close()
    await deps.database.close()
    throw error
  }
}

async function wire(deps: Deps): Promise<App> {
  const { config, clock, log, metrics, database, version } = deps
  const { db } = database
  const nodeId = newId<NodeId>(clock.now())
  const floors = makeFloors(deps, nodeId)
  await expectSealingKey(db, deps.sealer)
  if (database.kind === 'embedded') await makeDemoOnce({ db, ...floors })
  await floors.kept.start()

  let phase: Phase = 'starting'
  const rateLimits = rateLimitsOf(deps, floors)
  const server = buildServer({ log, clock, metrics, trustProxy: config.trustProxy, rateLimits })
  server.addHook('onRequest', adminGuard({ adminKey: config.adminKey }))
  const checks = [{ name: 'database', check: () => database.ping(2_000) }, ...deps.cluster.checks]
  await server.register(probes({ clock, log, metrics, version, phase: () => phase, checks }))
  await server.register(tenantRoutes(floors.tenants))
  await server.register(apiKeyRoutes(floors.apiKeys))
  await server.register(agentRoutes(floors.agents))
  await server.register(agentVersionRoutes(floors.versions))
  await server.register(phoneRouteRoutes(floors.phoneRoutes))
  const calls = await wireCalls(deps, { ...floors, rateLimits, nodeId }, server)
  await server.ready()

  const heartbeat = startHeartbeat({ db, clock, log, version, nodeId })
  let closed: Promise<void> | undefined
  const close = async () => {
    phase = 'stopping'
    await Promise.all([calls.watching.close(), calls.closeLive(), stopServer(server, STOP_GRACE_MS)])
    await calls.closeRecords()
    await floors.credentials.close()
    await heartbeat.close()
    floors.changes.close()
    deps.cluster.close()
    metrics.stop()
    await database.close()
  }
  return {
    server,
    hasDemo: () => hasDemo(floors.tenants),
    publicUrl: () => publicUrlOf(deps, server),
    async drain() {
      phase = 'stopping'
      await Promise.all([calls.watching.stopping(), calls.drain()])
    },
    async listen() {
      try {
        const address = await server.listen({ host: config.host, port: config.port })
        phase = 'serving'
        calls.watching.start()
        return address
      } catch (error) {
        closed ??= close()
        await closed
        throw error
      }
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** The rules of each floor, each given what it needs from the floors below. */
function makeFloors(deps: Deps, nodeId: NodeId) {
  const { config, clock, log, sealer } = deps
  const { db } = deps.database
  const { bus } = deps.cluster
  const live = new LiveSessions(clock)
  const telephony = {
    account_sid: config.telephonyAccountSid,
    auth_token: config.telephonyAuthToken,
    from_number: config.telephonyFromNumber,
  }
  const cache = new TenantCache({ clock, source: makeTenantSource({ db, sealer, telephony }) })
  const credentials = makeCredentials({ db, clock, log, legacyEnabled: config.legacyBearer })
  const changes = makeTenantChanges({ bus, cache, credentials })
  const recordingFiles = makeRecordingFiles(join(config.dataDir, 'recordings'))
  const willEnd = (tenantId: TenantId, callSid: string) => live.willEnd(tenantId, callSid)
  const statuses = makeCallStatuses({ db, clock, nodeId, tenants: cache, willEnd })
  const kept = makeKeptRecords(deps, { nodeId, tenants: cache, statuses })
  return {
    telephony,
    live,
    cache,
    credentials,
    changes,
    kept,
    journal: kept.journal,
    finishing: kept.finishing,
    late: kept.late,
    statuses,
    sessions: makeSessions({ db, clock, nodeId, beginWithinMs: config.streamTokenTtlSeconds * 1_000 }),
    resuming: makeResuming({ db, clock }),
    outcomes: makeOutcomes({ db }),
    callLogs: makeCallLogs({ db }),
    voiceSessions: makeVoiceSessions({ db }),
    recordingFiles,
    recordings: makeRecordings({ db, clock, nodeId, files: recordingFiles, tenants: cache }),
    resolveAgent: makeResolveAgent({ db, clock }),
    tasks: makeCallbackTasks({ db, clock }),
    doNotCall: makeDoNotCall({ db, clock, tenants: cache }),
    tenants: makeTenants({
      db,
      clock,
      sealer,
      defaultTelephonyToken: telephony.auth_token !== null,
      onChange: changes.changed,
    }),
    apiKeys: makeApiKeys({ db, clock, onRevoked: changes.changed }),
    agents: makeAgents({ db, clock }),
    versions: makeAgentVersions({ db, clock }),
    phoneRoutes: makePhoneRoutes({ db, clock }),
  }
}

type Floors = ReturnType<typeof makeFloors>

function rateLimitsOf({ config, metrics, cluster }: Deps, { cache }: Floors): RateLimits {
  return makeRateLimits({
    counter: cluster.rates,
    registry: metrics.registry,
    perAddress: config.rateLimitIp,
    limitOf: async (tenantId) => (await cache.get(tenantId))?.limits.requests_per_minute ?? config.rateLimitTenant,
  })
}

/** Live calls and what remains of them. */
async function wireCalls(deps: Deps, floors: Floors & { rateLimits: RateLimits; nodeId: NodeId }, server: HttpServer) {
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
  const { handOver } = watching
  const given = { ...needs, ...ends, carrierCalls, findTenant, greetingOf, handOver }
  const voice = await makeVoice(deps, given, server)
  const routes = makeCallRoutes(deps, needs, voice)
  const liveCalls = makeLiveCalls(deps, floors)
  await server.register(routes.carrierRoutes)
  await server.register(routes.outboundCallbackRoutes)
  await server.register(async (tenant) => {
    tenant.addHook('onRequest', tenantGuard(findTenant))
    tenant.addHook('onRequest', floors.rateLimits.asTenant)
    await tenant.register(callLogRoutes(floors.callLogs))
    await tenant.register(voiceSessionRoutes(floors.voiceSessions))
    await tenant.register(doNotCallRoutes(floors.doNotCall))
    await tenant.register(recordingRoutes(floors.recordings))
    await tenant.register(liveRoutes({ calls: liveCalls.calls, clock }))
    await tenant.register(routes.tenantRoutes)
    await tenant.register(routes.dialCheckRoutes)
    await tenant.register(routes.makeCallRoutes)
  })
  return {
    watching,
    drain: voice.drain,
    async closeLive() {
      await Promise.all([routes.close(), voice.close()])
      liveCalls.close()
    },
    /** The carrier may be away while the database is not, and the other way round: neither waits for the other. */
    async closeRecords() {
      await Promise.all([carrierCalls.close(), voice.closeRecorders(), kept.close()])
    },
  }
}

/** Never rejects: what is not written is what the call costs if nobody comes to its end. */
async function noteProgress({ log }: Deps, { sessions }: Floors, call: StreamedCall, state: SessionState) {
  const { tenant, callSid, epoch } = call
  await sessions
    .progressed(tenant, { callSid, epoch, progress: progressOf(state) })
    .catch((err: unknown) => log.warn({ err, call_sid: callSid }, 'what a session came to was not noted'))
}

/** Never rejects: an end that cannot be written is told in the log. */
async function writeDown({ log }: Deps, finishing: Finishing, ending: CallEnding): Promise<void> {
  const { tenantId, callSid, session } = ending
  const fields = { tenant_id: tenantId, call_sid: callSid, reason: session.endReason }
  log.info(fields, 'call ended')
  await finishing
    .finish(ending)
    .catch((err: unknown) => log.error({ ...fields, err }, 'the end of a call was not written down'))
}

/** Without a setting it is this machine's own name for itself, with the port that was really taken. */
function publicUrlOf({ config }: Deps, { server }: HttpServer): string {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  return config.publicUrl ?? `http://localhost:${port}`
}
