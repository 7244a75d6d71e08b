import type { ResolveAgent } from './agents/resolve.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import type { CallbackTasks } from './operators/callback-tasks.ts'
import { type EventLoopWatch, watchEventLoop } from './platform/event-loop.ts'
import type { FindTenant } from './platform/http/guards.ts'
import type { HttpServer } from './platform/http/server.ts'
import { makeWebSockets, type WebSockets } from './platform/http/web-sockets.ts'
import { DEFAULT_CARRIER } from './platform/telephony/registry.ts'
import type { Journal } from './records/journal.ts'
import type { Outcomes } from './records/outcomes.ts'
import type { Sessions } from './records/sessions.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { NO_LOAD, withSample } from './voice/admission.ts'
import { callsOver, drainCalls } from './voice/drain.ts'
import { LiveCapacity } from './voice/live-capacity.ts'
import { makeLiveMetrics } from './voice/live-metrics.ts'
import { LiveSessions } from './voice/live-sessions.ts'
import { type JoinStream, makeJoinStream } from './voice/media-stream-join.ts'
import { mediaStreamRoutes } from './voice/media-stream-routes.ts'
import { StreamWatch } from './voice/media-stream-watch.ts'
import { PreStartSeats } from './voice/pre-start.ts'
import { type CarrierCalls, type EndedCall, makeSessionBuilder, type SessionBuilder } from './voice/session-builder.ts'
import { makeStreamTokens, type StreamTokens } from './voice/stream-token.ts'
import { makeTools } from './voice/tools/registry.ts'

/** What live calls need of those around them. */
export type VoiceNeeds = {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  findTenant: FindTenant
  resolveAgent: ResolveAgent
  sessions: Sessions
  journal: Journal
  outcomes: Outcomes
  tasks: CallbackTasks
  carrierCalls: CarrierCalls
  /** Writes down how a call ended. Never throws. */
  finish(ended: EndedCall): void
  /** The public address of this service, asked once it listens. */
  publicUrl: () => string
}

/** The live calls of this process, and the way in for their audio. */
export type Voice = {
  live: LiveSessions
  capacity: LiveCapacity
  tokens: StreamTokens
  /** Where streams come in, as carriers and pages reach it. */
  streamUrl(): string
  /** Takes no call from now on; resolves when those that there are have ended, or were ended when DRAIN_SECONDS are over. */
  drain(): Promise<void>
  /** Ends what is left of calls and everything that was started for them. */
  close(): Promise<void>
}

const SAMPLE_INTERVAL_MS = 1_000
const MS_PER_MINUTE = 60_000

/** Wires the floor `voice`, and registers the routes of its streams. */
export async function makeVoice(deps: Deps, needs: VoiceNeeds, server: HttpServer): Promise<Voice> {
  const { config, clock, log, database } = deps
  const ttlMs = config.streamTokenTtlSeconds * 1_000
  const admission = startAdmission(deps)
  const { isOverloaded } = admission
  const capacity = new LiveCapacity({ clock, maxCalls: config.maxCalls, reserveMs: ttlMs, isOverloaded })
  const live = new LiveSessions()
  const tokens = makeStreamTokens({ db: database.db, clock, log, secrets: tokenSecrets(deps), ttlMs })
  const builder = builderOf(deps, needs, live)
  const { tenants, resolveAgent, sessions, finish } = needs
  const { carriers } = deps
  const known = { db: database.db, log, tokens, tenants, resolveAgent, sessions, carriers }
  const join = makeJoinStream({ ...known, builder, capacity, live, finish })
  const webSockets = makeWebSockets(server, { clock })
  const watch = new StreamWatch(clock)
  await server.register(streamRoutes(deps, needs, { tokens, join, webSockets, watch }))
  return {
    live,
    capacity,
    tokens,
    streamUrl: () => `${socketUrl(needs.publicUrl())}/media-stream`,
    drain: () => drainCalls({ clock, live, capacity, drainMs: config.drainSeconds * 1_000 }),
    async close() {
      capacity.stop()
      live.endAll()
      await webSockets.close()
      await callsOver(clock, live)
      admission.stop()
      watch.close()
      await tokens.close()
    },
  }
}

type StreamParts = { tokens: StreamTokens; join: JoinStream; webSockets: WebSockets; watch: StreamWatch }

function streamRoutes(
  { clock, log, carriers }: Deps,
  { tenants, findTenant, publicUrl }: VoiceNeeds,
  parts: StreamParts,
) {
  return mediaStreamRoutes({
    ...{ ...parts, clock, log, findTenant, seats: new PreStartSeats() },
    async codecOf(tenantId) {
      const tenant = tenantId && (await tenants.get(tenantId))
      return carriers[tenant?.telephony.provider ?? DEFAULT_CARRIER].codec
    },
    publicSocketUrl: () => socketUrl(publicUrl()),
  })
}

/** Null without a model. */
function builderOf(deps: Deps, needs: VoiceNeeds, live: LiveSessions): SessionBuilder | null {
  const { model, clock, log, config, metrics } = deps
  if (!model) return null
  const { journal, outcomes, tasks, carrierCalls } = needs
  return makeSessionBuilder({
    ...{ model, clock, log, journal, carrierCalls },
    tools: makeTools({ outcomes, tasks, clock }),
    metrics: makeLiveMetrics(metrics.registry, () => live.size),
    modelSessionMs: config.modelSessionMaxMinutes * MS_PER_MINUTE,
  })
}

/** Looks at the event loop each second: a process that cannot keep up takes no calls. */
function startAdmission({ clock }: Deps, eventLoop: EventLoopWatch = watchEventLoop()) {
  let load = NO_LOAD
  const stopSampling = clock.every(SAMPLE_INTERVAL_MS, () => {
    load = withSample(load, eventLoop.sample())
  })
  return {
    isOverloaded: () => load.isOverloaded,
    stop() {
      stopSampling()
      eventLoop.stop()
    },
  }
}

/** Without a secret of its own the one that every node has anyway serves for tokens too, by a digest that does not tell it. */
function tokenSecrets({ config, sealer }: Deps): [string, ...string[]] {
  const { streamTokenSecret: own, streamTokenSecretPrevious: previous } = config
  return [own ?? sealer.digest('stream tokens'), ...(previous === null ? [] : [previous])]
}

function socketUrl(httpUrl: string): string {
  return httpUrl.replace(/^http/, 'ws')
}
