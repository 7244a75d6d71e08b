import type { Clips } from './agents/clips.ts'
import type { Prompts } from './agents/prompts.ts'
import type { ResolveAgent } from './agents/resolve.ts'
import type { Deps } from './deps.ts'
import { readNumber } from './kernel/dialled-number.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { costlyKind } from './kernel/premium-numbers.ts'
import type { Sealer } from './kernel/seal.ts'
import type { CallbackTasks } from './operators/callback-tasks.ts'
import type { DoNotCall } from './operators/do-not-call.ts'
import type { FindTenant } from './platform/http/guards.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import { makeWebSockets, type WebSockets } from './platform/http/web-sockets.ts'
import type { ToolDeclaration } from './platform/realtime/port.ts'
import { DEFAULT_CARRIER } from './platform/telephony/registry.ts'
import { makeTracing } from './platform/tracing.ts'
import type { Escalations } from './records/escalations.ts'
import type { EventLogFiles } from './records/event-log-files.ts'
import type { Journal } from './records/journal.ts'
import type { Outcomes } from './records/outcomes.ts'
import type { RecordingFiles } from './records/recording-files.ts'
import type { Recordings } from './records/recordings.ts'
import type { Sessions } from './records/sessions.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { NO_LOAD, withSample } from './voice/admission.ts'
import { answersOver, callsOver, drainCalls } from './voice/drain.ts'
import { type EventLogs, makeEventLogs, NO_EVENT_LOGS } from './voice/event-log/event-logs.ts'
import type { LineSocketDeps } from './voice/lines/line-socket.ts'
import { LiveCapacity, type NoRoom } from './voice/live-capacity.ts'
import { makeLiveMetrics } from './voice/live-metrics.ts'
import type { LiveSessions } from './voice/live-sessions.ts'
import { type JoinStream, makeJoinStream } from './voice/media-stream-join.ts'
import { mediaStreamRoutes } from './voice/media-stream-routes.ts'
import { StreamWatch } from './voice/media-stream-watch.ts'
import { PreStartSeats } from './voice/pre-start.ts'
import { makeRecorders, NO_RECORDERS, type Recorders } from './voice/recording/recorders.ts'
import type { SessionState } from './voice/session/state.ts'
import { type CarrierCalls, type EndedCall, makeSessionBuilder, type SessionBuilder } from './voice/session-builder.ts'
import type { MachineAction } from './voice/stream-begin.ts'
import type { AbandonedCall, CarrierAnswers } from './voice/stream-ends.ts'
import { makeStreamTokens, type StreamTokens } from './voice/stream-token.ts'
import type { StreamedCall } from './voice/streamed-call.ts'
import { makeTools, toolsOf } from './voice/tools/registry.ts'
import { makeTenantTools, type TenantTools } from './voice/tools/tenant-tools.ts'
import { makeToolTrials, type ToolTrials } from './voice/tools/test-tool.ts'
import type { Tool } from './voice/tools/tool.ts'
import type { CallTransfer } from './voice/transfer/transfer.ts'

/** What live calls need of those around them. */
export type VoiceNeeds = {
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  findTenant: FindTenant
  rateLimits: RateLimits
  resolveAgent: ResolveAgent
  sessions: Sessions
  journal: Journal
  outcomes: Outcomes
  tasks: CallbackTasks
  escalations: Escalations
  doNotCall: DoNotCall
  live: LiveSessions
  /** What the agent of an outbound call says first in place of its own greeting; null for its own. */
  greetingOf(tenantId: TenantId, callSid: string): Promise<string | null>
  /** What is done in an outbound call when a machine answers, in place of what its agent does; null for that. */
  machineActionOf(tenantId: TenantId, callSid: string): Promise<MachineAction | null>
  /** What the model of a tenant's calls is told first; null for nothing. */
  prompts: Pick<Prompts, 'textFor'>
  /** What agents say first, spoken ahead. */
  clips: Pick<Clips, 'of'>
  recordings: Recordings
  recordingFiles: RecordingFiles
  eventLogFiles: EventLogFiles
  carrierCalls: CarrierCalls & CarrierAnswers
  /** Whether a call is still that of its stream. */
  isHeld(call: StreamedCall): Promise<boolean>
  /** Writes down what has come of a session so far; never throws. */
  checkpoint(call: StreamedCall, state: SessionState): void
  /** Writes down how a call ended, and resolves when that is done or given up: with false when it was not the end of the call. */
  finish(ended: EndedCall): Promise<boolean>
  /** Writes down the end of a call whose stream got it and then could not begin; never throws. */
  abandon(abandoned: AbandonedCall): void
  /** Notes why there was no room for the stream of a call; never rejects. */
  notLetIn(tenantId: TenantId, callSid: string, why: NoRoom): Promise<void>
  /** Closes the call of a page, for which no stream comes any more, unless it has begun; never throws. */
  unbegun(tenantId: TenantId, callSid: string): void
  /** Gives the calls of this process to another one where it can, when DRAIN_SECONDS are over; never rejects. */
  handOver: () => Promise<void>
  /** What puts a call of this node through to others. */
  transferOf(call: StreamedCall): CallTransfer
  /** What people's lines into calls need. */
  lines: Pick<LineSocketDeps, 'open' | 'note' | 'mayStay'>
  /** The public address of this service, asked once it listens. */
  publicUrl: () => string
}

/** The live calls of this process, and the way in for their audio. */
export type Voice = {
  /** Those of the server: they end with the calls. */
  webSockets: WebSockets
  capacity: LiveCapacity
  /** Whether this process cannot keep up with what it has to do: then it begins nothing that can wait. */
  isOverloaded(): boolean
  tokens: StreamTokens
  /** What an agent of a tenant may call, by the names in its config. Never rejects. */
  toolsFor(tenant: TenantRuntime, names: readonly string[]): Promise<ToolDeclaration[]>
  /** Tenants' own tools, by the names in their agents' configs. */
  tenantTools: Pick<TenantTools, 'of'>
  /** Tenants' own tools, tried without a call. */
  toolTrials: ToolTrials
  /** Where streams come in, as carriers and pages reach it. */
  streamUrl(): string
  /** Ends from now on what nodes that are gone have left half written, and forgets what is too old. */
  start(): void
  /**
   * Takes no call from now on; resolves when those that there are have ended, or, when DRAIN_SECONDS are over, were handed over
   * or ended.
   */
  drain(): Promise<void>
  /** Ends what is left of calls and everything that was started for them. */
  close(): Promise<void>
  /** To be called behind that: resolves when what was recorded and logged is written down, or given up. */
  closeRecorders(): Promise<void>
}

const SAMPLE_INTERVAL_MS = 1_000
const MS_PER_MINUTE = 60_000

/** Wires the floor `voice`, and registers the routes of its streams. */
export async function makeVoice(deps: Deps, needs: VoiceNeeds, server: HttpServer): Promise<Voice> {
  const { config, clock, log, database } = deps
  const ttlMs = config.streamTokenTtlSeconds * 1_000
  const { tenants, resolveAgent, sessions, live, carrierCalls, finish, abandon, notLetIn, unbegun, handOver } = needs
  const admission = startAdmission(deps, () => live.size > 0)
  const { isOverloaded } = admission
  const capacity = new LiveCapacity({ clock, maxCalls: config.maxCalls, reserveMs: ttlMs, isOverloaded })
  const tokens = makeStreamTokens({ db: database.db, clock, log, secrets: tokenSecrets(deps), ttlMs })
  const { carriers } = deps
  const { greetingOf, machineActionOf, nodeId } = needs
  const recorders = recordersOf(deps, needs)
  const eventLogs = eventLogsOf(deps, needs)
  const { request: ask } = deps.outbound
  const tenantTools = makeTenantTools({ clock, log, ask, version: deps.version })
  const kept = database.kind === 'memory' ? null : needs
  const costly = (phone: string) => costlyKind(readNumber(phone))
  const tools = makeTools({
    ...{ outcomes: needs.outcomes, clips: needs.clips, resolveAgent, tenantTools, kept, clock, costlyKind: costly },
  })
  const known = {
    clock,
    log,
    tokens,
    tenants,
    resolveAgent,
    sessions,
    carriers,
    live,
    carrierCalls,
    greetingOf,
    machineActionOf,
  }
  const promptOf = (tenant: TenantRuntime) => needs.prompts.textFor(tenant)
  const join = makeJoinStream({
    ...known,
    nodeId,
    promptOf,
    tenantTools,
    clipsOf: (tenant, config) => needs.clips.of(tenant, config),
    builder: builderOf(deps, needs, { recorders, eventLogs, tools }),
    capacity,
    finish,
    abandon,
    notLetIn,
    unbegun,
  })
  const webSockets = makeWebSockets(server, { clock })
  const watch = new StreamWatch(clock)
  await server.register(streamRoutes(deps, needs, { tokens, join, webSockets, watch }))
  return {
    webSockets,
    capacity,
    isOverloaded,
    tokens,
    toolsFor: async (tenant, names) =>
      [...toolsOf(tools, names), ...(await tenantTools.of(tenant, names))].map(({ declaration }) => declaration),
    tenantTools,
    toolTrials: makeToolTrials({ clock, tenants, resolveAgent, tools: tenantTools }),
    streamUrl: () => `${socketUrl(needs.publicUrl())}/media-stream`,
    start() {
      recorders.watchOrphans()
      tokens.start()
    },
    async drain() {
      await drainCalls({ clock, live, capacity, handOver, drainMs: config.drainSeconds * 1_000 })
      await answersOver(clock, carrierCalls)
    },
    async close() {
      capacity.stop()
      live.endAll()
      await webSockets.close()
      await callsOver(clock, live)
      await tenantTools.close()
      admission.stop()
      watch.close()
      await tokens.close()
    },
    async closeRecorders() {
      await Promise.all([recorders.close(), eventLogs.close()])
    },
  }
}

function recordersOf({ clock, log, database }: Deps, { recordingFiles: files, recordings }: VoiceNeeds): Recorders {
  return database.kind === 'memory' ? NO_RECORDERS : makeRecorders({ clock, log, files, recordings })
}

/** What is erased with the database when the process ends must not stay on the disk. */
function eventLogsOf({ clock, log, database, config }: Deps, { eventLogFiles: files }: VoiceNeeds): EventLogs {
  const isKept = config.eventLogs && database.kind !== 'memory'
  return isKept ? makeEventLogs({ clock, log, files }) : NO_EVENT_LOGS
}

type StreamParts = { tokens: StreamTokens; join: JoinStream; webSockets: WebSockets; watch: StreamWatch }

function streamRoutes(
  { clock, log, carriers, config }: Deps,
  { tenants, findTenant, rateLimits: limits, publicUrl, lines, unbegun }: VoiceNeeds,
  parts: StreamParts,
) {
  return mediaStreamRoutes({
    ...{ ...parts, clock, log, findTenant, limits, lines, unbegun, seats: new PreStartSeats({ clock, ...limits }) },
    takesQueryTokens: config.legacyQueryAuth,
    async codecOf(tenantId) {
      const tenant = tenantId && (await tenants.get(tenantId))
      return carriers[tenant?.telephony.provider ?? DEFAULT_CARRIER].codec
    },
    publicSocketUrl: () => socketUrl(publicUrl()),
  })
}

type BuilderParts = { recorders: Recorders; eventLogs: EventLogs; tools: readonly Tool[] }

/** Null without a model. */
function builderOf(deps: Deps, needs: VoiceNeeds, { tools, ...parts }: BuilderParts): SessionBuilder | null {
  const { model, fallbackModel, secondVoice, clock, log, config, metrics, version } = deps
  if (!model) return null
  const { journal, carrierCalls, live, isHeld, checkpoint, transferOf } = needs
  return makeSessionBuilder({
    ...{ ...parts, model, secondVoice, clock, log, version, journal, carrierCalls, isHeld, checkpoint, transferOf },
    tools,
    metrics: makeLiveMetrics(metrics.registry, () => live.size),
    tracing: makeTracing(clock),
    fallback: fallbackModel ?? null,
    modelSessionMs: config.modelSessionMaxMinutes * MS_PER_MINUTE,
  })
}

/** Looks at the event loop each second: a process that cannot keep up takes no calls. */
function startAdmission({ clock, metrics: { eventLoop } }: Deps, hasCalls: () => boolean) {
  let load = NO_LOAD
  const stop = clock.every(SAMPLE_INTERVAL_MS, () => {
    load = withSample(load, eventLoop.sample(), hasCalls())
  })
  return { isOverloaded: () => load.isOverloaded, stop }
}

/**
 * Without a secret of its own the one that every node has anyway serves for tokens too, by a digest that does not tell it. Nobody signs
 * by a former sealing key where there is one of its own.
 */
export function tokenSecrets({ config, sealer, formerSealer }: TokenSecretsOf): [string, ...string[]] {
  const { streamTokenSecret: own, streamTokenSecretPrevious: previous } = config
  const derivedFrom = (one: Pick<Sealer, 'digest'>) => one.digest('stream tokens')
  const former = own === null && formerSealer ? derivedFrom(formerSealer) : null
  return [own ?? derivedFrom(sealer), ...[previous, former].filter((secret) => secret !== null)]
}

type TokenSecretsOf = {
  config: Pick<Deps['config'], 'streamTokenSecret' | 'streamTokenSecretPrevious'>
  sealer: Pick<Sealer, 'digest'>
  formerSealer: Pick<Sealer, 'digest'> | null
}

function socketUrl(httpUrl: string): string {
  return httpUrl.replace(/^http/, 'ws')
}
