import type { CallSubjects } from './call-subjects.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import type { TenantId } from './kernel/ids.ts'
import { doNotCallListRoutes } from './operators/do-not-call-list-routes.ts'
import { makeDncLists } from './operators/do-not-call-lists.ts'
import { doNotCallRoutes } from './operators/do-not-call-routes.ts'
import { supervisorActionRoutes } from './operators/supervisor-action-routes.ts'
import { tellActs } from './platform/http/acting-for.ts'
import { tenantGuard } from './platform/http/guards.ts'
import { KEY_PATTERN } from './platform/http/schemas.ts'
import type { HttpServer } from './platform/http/server.ts'
import { callLogRoutes } from './records/call-log-routes.ts'
import { listBusyTenants } from './records/call-owner-store.ts'
import { recordingRoutes } from './records/recording-routes.ts'
import { voiceSessionRoutes } from './records/voice-session-routes.ts'
import { makeActNotes } from './tenancy/acting-for.ts'
import { promptly } from './tenancy/prompt-credentials.ts'
import { activeSessionRoutes } from './voice/active-session-routes.ts'
import { lineRoutes } from './voice/lines/line-routes.ts'
import { liveRoutes } from './voice/live-routes.ts'
import { toolRoutes } from './voice/tools/tool-routes.ts'
import type { CallFloors, LiveParts } from './voice-wiring.ts'

type Needs = { floors: CallFloors; live: LiveParts; subjects: CallSubjects }

/** Registers what carriers and administrators ask of calls. */
export async function registerCallRoutes(
  { database }: Deps,
  { floors, live, subjects }: Needs,
  server: HttpServer,
): Promise<void> {
  const { logs, routes, operators, analytics } = subjects
  await server.register(logs.routes)
  await server.register(routes.carrierRoutes)
  await server.register(routes.outboundCallbackRoutes)
  await server.register(routes.transferRoutes)
  for (const plugin of operators.adminRoutes) await server.register(plugin)
  await server.register(analytics.adminRoutes)
  await server.register(supervisorActionRoutes(floors.supervisorActions))
  const busyTenants = () => listBusyTenants(database.db)
  await server.register(activeSessionRoutes({ calls: live.calls, busyTenants }))
}

/** Registers what tenants ask of calls and what remains of them, behind the guard that says who asks. */
export async function registerTenantRoutes(deps: Deps, needs: Needs, server: HttpServer): Promise<void> {
  const { clock, config, database } = deps
  const { floors, live, subjects } = needs
  const { db } = database
  const { calls, voice } = live
  const { routes } = subjects
  const find = (tenantId: string) => knownTenant(floors, tenantId)
  const acting = { adminKey: config.adminKey, find: database.kind === 'server' ? promptly(clock, find) : find }
  const guard = tenantGuard({ findTenant: live.findTenant, people: floors.people, acting })
  await server.register(async (tenant) => {
    tenant.addHook('onRequest', guard)
    tenant.addHook('onRequest', floors.rateLimits.asTenant)
    tenant.addHook('preHandler', tellActs(makeActNotes({ db, clock })))
    await tenant.register(callLogRoutes(floors.callLogs))
    await tenant.register(voiceSessionRoutes(floors.voiceSessions))
    await tenant.register(subjects.evaluating.tenantRoutes)
    await tenant.register(subjects.analytics.tenantRoutes)
    await tenant.register(doNotCallRoutes(floors.doNotCall))
    await tenant.register(doNotCallListRoutes(makeDncLists({ db, clock, tenants: floors.cache })))
    await tenant.register(recordingRoutes(floors.recordings))
    for (const plugin of subjects.erasing.tenantRoutes) await tenant.register(plugin)
    await tenant.register(liveRoutes({ calls, clock, guard }))
    const lines = { calls, tokens: voice.tokens, streamUrl: voice.streamUrl, refTo: floors.standing.refTo }
    await tenant.register(lineRoutes(lines))
    await tenant.register(routes.tenantRoutes)
    await tenant.register(routes.chatRoutes)
    await tenant.register(subjects.simulating.tenantRoutes)
    await tenant.register(toolRoutes(voice.toolTrials))
    await tenant.register(routes.dialCheckRoutes)
    await tenant.register(floors.delivery.tenantRoutes)
    await tenant.register(routes.makeCallRoutes)
    await tenant.register(routes.cancelCallRoutes)
    await tenant.register(routes.campaigns.routes)
    for (const plugin of subjects.operators.tenantRoutes) await tenant.register(plugin)
  })
}

const TENANT_ID = new RegExp(KEY_PATTERN)

/** As a header says it, which may be anything. */
async function knownTenant({ cache }: Floors, said: string): Promise<TenantId | null> {
  const tenant = TENANT_ID.test(said) ? await cache.get(said as TenantId) : null
  return tenant?.tenant_id ?? null
}
