import { transportOf } from './admin-floor.ts'
import { type GovernanceAsk, sweepGovernance } from './agents/governance-sweep.ts'
import { promptRoutes } from './agents/prompt-routes.ts'
import { makeGovernance } from './agents/rollout-governance.ts'
import { rolloutGovernanceRoutes } from './agents/rollout-governance-routes.ts'
import { makeRolloutPolicies } from './agents/rollout-policies.ts'
import { rolloutRoutes } from './agents/rollout-routes.ts'
import { makeRollouts } from './agents/rollouts.ts'
import type { Notify } from './delivery/notify.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import { publicUrlOf } from './public-url.ts'
import type { ScheduledWork } from './schedule.ts'
import { accessRequestRoutes, intakeRoutes } from './tenancy/access-request-routes.ts'
import { makeAccessRequests } from './tenancy/access-requests.ts'
import { transportDiagnostics } from './tenancy/auth-transport.ts'
import { runtimeConfigRoutes } from './tenancy/runtime-config-routes.ts'
import { tenantCacheRoutes } from './tenancy/tenant-cache-routes.ts'
import { makeTenantValidation } from './tenancy/tenant-validation.ts'
import { tenantByToken } from './tenancy/token-filter.ts'

/** As many as the endpoint judges when it is not told otherwise. */
const SCHEDULED_AGENTS = 100
/** Nodes that share the work judge an agent no oftener than this. */
const JUDGED_AGE_MS = 15_000

/** What administrators do to tenants and agents beside writing their documents and versions. */
export async function wireSteering(
  deps: Deps,
  floors: Floors & { rateLimits: RateLimits; notify: Notify },
  server: HttpServer,
): Promise<{ scheduled: ScheduledWork[]; close(): void }> {
  const { config, clock, log, sealer, database } = deps
  const { db } = database
  const { cache, credentials, live, logSubscribers, rateLimits, telephony } = floors
  const accessRequests = makeAccessRequests({ db, clock, notify: floors.notify })
  const rollouts = makeRollouts({ db, clock })
  const validate = makeTenantValidation({ db, sealer, telephony })
  await server.register(rolloutRoutes(rollouts, makeRolloutPolicies({ db, clock })))
  const governance = makeGovernance({ db, clock, tenants: cache })
  let isStopping = false
  const judging = { db, clock, log, governance, isStopping: () => isStopping }
  const sweep = (ask: GovernanceAsk) => sweepGovernance(judging, ask)
  await server.register(rolloutGovernanceRoutes({ governance, sweep, tenantBy: tenantByToken(credentials) }))
  await server.register(intakeRoutes(accessRequests, rateLimits))
  await server.register(accessRequestRoutes(accessRequests))
  await server.register(promptRoutes(floors.prompts))
  await server.register(runtimeConfigRoutes(floors.tenants, validate))
  await server.register(
    tenantCacheRoutes({
      ...{ db, log, cache, credentials, telephony },
      secondary: {
        hasKey: deps.secondVoice !== null,
        isAvailable: (voice) => deps.secondVoice?.isAvailable(voice) ?? false,
      },
      isKept: database.kind !== 'memory',
      hasStreamBroker: config.redisUrl !== null,
      activeSessions: (tenantId) => live.list(tenantId).length,
      logSubscribers: (tenantId) => logSubscribers.of(tenantId),
      authTransport: transportDiagnostics(transportOf(config, publicUrlOf(deps, server))),
    }),
  )
  const scheduled = {
    tenantId: null,
    apply: true,
    limitAgents: SCHEDULED_AGENTS,
    acting: true,
    minAgeMs: JUDGED_AGE_MS,
  }
  return {
    scheduled: [{ name: 'rollout governance', hasEndpoint: true, run: () => sweep(scheduled) }],
    close() {
      isStopping = true
    },
  }
}
