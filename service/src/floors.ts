import { join } from 'node:path'
import { makeAgentVersions } from './agents/agent-versions.ts'
import { makeAgents } from './agents/agents.ts'
import { makeClips } from './agents/clips.ts'
import { makeFetchHoldAudio } from './agents/hold-audio.ts'
import { findPrompt } from './agents/prompt-store.ts'
import { makePrompts } from './agents/prompts.ts'
import { makeResolveAgent, resolveFromDocument } from './agents/resolve.ts'
import { makePhoneRoutes } from './calls/phone-routes.ts'
import { makeCallStatuses } from './calls/record-status.ts'
import type { Deps } from './deps.ts'
import { makeKeptRecords } from './kept-records.ts'
import type { NodeId, TenantId } from './kernel/ids.ts'
import { makeCallbackTasks } from './operators/callback-tasks.ts'
import { makeDoNotCall } from './operators/do-not-call.ts'
import { makeSupervisorActions } from './operators/supervisor-actions.ts'
import { Followers } from './platform/http/followers.ts'
import { makeRateLimits, type RateLimits } from './platform/http/rate-limits.ts'
import { wholeSpeech } from './platform/speech/whole-speech.ts'
import { makeCallLogs } from './records/call-logs.ts'
import { makeEscalations } from './records/escalations.ts'
import { makeEventLogFiles } from './records/event-log-files.ts'
import { makeOutcomes } from './records/outcomes.ts'
import { makeRecordingFiles } from './records/recording-files.ts'
import { makeRecordings } from './records/recordings.ts'
import { makeResuming } from './records/resuming.ts'
import { makeSessions } from './records/sessions.ts'
import { makeVoiceSessions } from './records/voice-sessions.ts'
import { agentConfigDefaults } from './tenancy/agent-config-defaults.ts'
import { makeApiKeys } from './tenancy/api-keys.ts'
import { makeCredentials } from './tenancy/credentials.ts'
import { TenantCache } from './tenancy/tenant-cache.ts'
import { makeTenantChanges } from './tenancy/tenant-changes.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { makeTenantSource } from './tenancy/tenant-source.ts'
import { makeTenants } from './tenancy/tenants.ts'
import { LiveSessions } from './voice/live-sessions.ts'

/** More readers than that a tenant, or the administrator, does not have. */
const OF_THE_LOG = { max: 50, tooMany: 'The log is followed 50 times already: close a socket first.' }

/** The rules of each floor, each given what it needs from the floors below. */
export function makeFloors(deps: Deps, nodeId: NodeId) {
  const { config, clock, log, sealer } = deps
  const { db } = deps.database
  const { bus } = deps.cluster
  const live = new LiveSessions(clock)
  const telephony = {
    account_sid: config.telephonyAccountSid,
    auth_token: config.telephonyAuthToken,
    auth_token_secondary: config.telephonyAuthTokenSecondary,
    from_number: config.telephonyFromNumber,
  }
  const cache = new TenantCache({ clock, source: makeTenantSource({ db, log, sealer, telephony }) })
  const credentials = makeCredentials({ db, clock, log, legacyEnabled: config.legacyBearer })
  const changes = makeTenantChanges({ bus, cache, credentials })
  const clips = makeClips({
    ...{ db, clock, log, speech: deps.speech, tenants: cache, isRehearsal: deps.simulated.model },
    ...secondSpeechOf(deps),
    fetchHoldAudio: makeFetchHoldAudio(deps.outbound),
  })
  const recordingFiles = makeRecordingFiles(join(config.dataDir, 'recordings'))
  const willEnd = (tenantId: TenantId, callSid: string) => live.willEnd(tenantId, callSid)
  const statuses = makeCallStatuses({ db, clock, nodeId, tenants: cache, willEnd })
  const kept = makeKeptRecords(deps, { nodeId, defaults: telephony, tenants: cache, statuses })
  return {
    telephony,
    live,
    logSubscribers: new Followers(OF_THE_LOG),
    cache,
    credentials,
    changes,
    kept,
    journal: kept.journal,
    finishing: kept.finishing,
    late: kept.late,
    lateRefusals: kept.refusals,
    lateUnanswered: kept.unanswered,
    statuses,
    sessions: makeSessions({ db, clock, nodeId, beginWithinMs: config.streamTokenTtlSeconds * 1_000 }),
    resuming: makeResuming({ db, clock }),
    outcomes: makeOutcomes({ db }),
    escalations: makeEscalations({ db, clock, tenants: cache }),
    callLogs: makeCallLogs({ db }),
    voiceSessions: makeVoiceSessions({ db }),
    recordingFiles,
    eventLogFiles: makeEventLogFiles(join(config.dataDir, 'event-logs')),
    recordings: makeRecordings({ db, clock, log, nodeId, files: recordingFiles, tenants: cache }),
    resolveAgent: deps.database.kind === 'memory' ? resolveFromDocument : makeResolveAgent({ db, clock, log }),
    clips,
    prompts: makePrompts({ db, clock, log }),
    tasks: makeCallbackTasks({ db, clock, tenants: cache }),
    supervisorActions: makeSupervisorActions({ db, log, late: kept.actions }),
    doNotCall: makeDoNotCall({ db, clock, log, tenants: cache }),
    tenants: makeTenants({
      db,
      clock,
      sealer,
      // The simulator's is none that anybody has set.
      defaultTelephonyToken: telephony.auth_token !== null && !deps.simulated.carrier,
      installationNumber: config.telephonyFromNumber,
      hasPrompt: async (key) => (await findPrompt(db, key)) !== null,
      onChange: changes.changed,
    }),
    apiKeys: makeApiKeys({ db, clock, onRevoked: changes.changed }),
    agents: makeAgents({ db, clock }),
    versions: makeAgentVersions({
      ...{ db, clock },
      keepHoldAudio: clips.keepHoldAudio.bind(clips),
      onPublished: (tenantId, { config: published }) => clips.prepare(tenantId, agentConfigDefaults(published)),
    }),
    phoneRoutes: makePhoneRoutes({ db, clock, installationNumber: config.telephonyFromNumber }),
  }
}

/** Words that are spoken ahead have the voice that will speak in their calls. */
function secondSpeechOf({ secondVoice }: Deps) {
  if (secondVoice === null) return {}
  const secondSpeech = ({ audio_output: { provider, voice_id: voiceId, model_id: modelId } }: TenantRuntime) => {
    if (provider === 'primary' || voiceId === null || !secondVoice.mayTry({ voiceId, modelId })) return null
    return wholeSpeech(secondVoice, { voiceId, modelId })
  }
  return { secondSpeech }
}

/** All that the routes and the live calls stand on. */
export type Floors = ReturnType<typeof makeFloors>

/** What strangers and tenants may ask in a minute. */
export function rateLimitsOf({ clock, config, metrics, cluster }: Deps, { cache }: Floors): RateLimits {
  return makeRateLimits({
    clock,
    counter: cluster.rates,
    registry: metrics.registry,
    perAddress: config.rateLimitIp,
    limitOf: async (tenantId) => (await cache.get(tenantId))?.limits.requests_per_minute ?? config.rateLimitTenant,
  })
}
