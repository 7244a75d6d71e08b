import { agentRoutes } from './agents/agent-routes.ts'
import { agentVersionRoutes } from './agents/agent-version-routes.ts'
import { makeAgentVersions } from './agents/agent-versions.ts'
import { makeAgents } from './agents/agents.ts'
import { phoneRouteRoutes } from './calls/phone-route-routes.ts'
import { makePhoneRoutes } from './calls/phone-routes.ts'
import { hasDemo, makeDemoOnce } from './demo.ts'
import type { Deps } from './deps.ts'
import { type NodeId, newId, type TenantId } from './kernel/ids.ts'
import { adminGuard } from './platform/http/guards.ts'
import { type Phase, probes } from './platform/http/probes.ts'
import { buildServer, type HttpServer, stopServer } from './platform/http/server.ts'
import { startHeartbeat } from './platform/nodes/heartbeat.ts'
import { apiKeyRoutes } from './tenancy/api-key-routes.ts'
import { makeApiKeys } from './tenancy/api-keys.ts'
import { makeCredentials } from './tenancy/credentials.ts'
import { expectSealingKey } from './tenancy/sealing-key.ts'
import { TenantCache } from './tenancy/tenant-cache.ts'
import { tenantRoutes } from './tenancy/tenant-routes.ts'
import { makeTenantSource } from './tenancy/tenant-source.ts'
import { makeTenants } from './tenancy/tenants.ts'

/** The service, wired and ready to listen. */
export type App = {
  server: HttpServer
  /** Whether there is a demo tenant to be tried. */
  hasDemo(): Promise<boolean>
  /** Starts to take requests. Returns the base address, with the port that was really taken. Closes everything when it cannot. */
  listen(): Promise<string>
  /** Ends requests in flight, then everything that was started, the database last. Again, it waits for the same end. */
  close(): Promise<void>
}

/** Requests in flight get this long to end when the service stops. */
const STOP_GRACE_MS = 2_000

/** Wires the floors together. Owns what it is given: `close` closes the database too, and so does a failure here. */
export async function buildApp(deps: Deps): Promise<App> {
  try {
    return await wire(deps)
  } catch (error) {
    await deps.database.close()
    throw error
  }
}

async function wire(deps: Deps): Promise<App> {
  const { config, clock, log, metrics, database, version } = deps
  const { db } = database
  const floors = makeFloors(deps)
  await expectSealingKey(db, deps.sealer)
  if (database.kind === 'embedded') await makeDemoOnce({ db, ...floors })

  let phase: Phase = 'starting'
  const server = buildServer({ log, clock, metrics, trustProxy: config.trustProxy })
  server.addHook('onRequest', adminGuard({ adminKey: config.adminKey }))
  const checks = [{ name: 'database', check: () => database.ping(2_000) }]
  await server.register(probes({ clock, log, metrics, version, phase: () => phase, checks }))
  await server.register(tenantRoutes(floors.tenants))
  await server.register(apiKeyRoutes(floors.apiKeys))
  await server.register(agentRoutes(floors.agents))
  await server.register(agentVersionRoutes(floors.versions))
  await server.register(phoneRouteRoutes(floors.phoneRoutes))
  await server.ready()

  const heartbeat = startHeartbeat({ db, clock, log, version, nodeId: newId<NodeId>(clock.now()) })
  let closed: Promise<void> | undefined
  const close = async () => {
    phase = 'stopping'
    await stopServer(server, STOP_GRACE_MS)
    await floors.credentials.close()
    await heartbeat.close()
    metrics.stop()
    await database.close()
  }
  return {
    server,
    hasDemo: () => hasDemo(floors.tenants),
    async listen() {
      try {
        const address = await server.listen({ host: config.host, port: config.port })
        phase = 'serving'
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
function makeFloors({ config, clock, log, database: { db }, sealer }: Deps) {
  const telephony = {
    account_sid: config.telephonyAccountSid,
    auth_token: config.telephonyAuthToken,
    from_number: config.telephonyFromNumber,
  }
  const cache = new TenantCache({ clock, source: makeTenantSource({ db, sealer, telephony }) })
  const credentials = makeCredentials({ db, clock, log, legacyEnabled: config.legacyBearer })
  const onChange = (tenantId: TenantId) => {
    cache.invalidate(tenantId)
    credentials.forget(tenantId)
  }
  return {
    cache,
    credentials,
    tenants: makeTenants({ db, clock, sealer, defaultTelephonyToken: telephony.auth_token !== null, onChange }),
    apiKeys: makeApiKeys({ db, clock, onRevoked: (tenantId) => credentials.forget(tenantId) }),
    agents: makeAgents({ db, clock }),
    versions: makeAgentVersions({ db, clock }),
    phoneRoutes: makePhoneRoutes({ db, clock }),
  }
}
