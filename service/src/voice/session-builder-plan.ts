import type { Clip } from '../agents/clips.ts'
import type { ModelCapabilities } from '../platform/realtime/port.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { Plan } from './session/plan.ts'
import { greetingOf } from './session-builder-setup.ts'

/** What this process adds to every plan. `isResumable`: a carrier holds the call. */
export type PlanFacts = {
  capabilities: ModelCapabilities
  modelSessionMs: number
  isResumable: boolean
  /** Tools during which the agent goes on talking. */
  asyncTools?: readonly string[]
  /** Those of this call. */
  clips?: readonly Clip[]
}

const USUAL_PREFIX_MS = 300

/**
 * What a session is to do, by its agent and its tenant's document.
 *
 * What the law wants said comes before the greeting; where the agent words the greeting itself, its instructions say so.
 */
export function planOf(tenant: TenantRuntime, config: CompleteAgentConfig, { clips = [], ...facts }: PlanFacts): Plan {
  const { interruption, idle, dtmf, fillers, voicemail } = config
  const { limits, compliance, telephony } = tenant
  return {
    ...facts,
    clips: clips.map(({ kind, text, ms }) => ({ kind, text, ms })),
    greeting: clips.some(({ kind }) => kind !== 'filler') ? config.greeting : greetingOf(tenant, config),
    interruption: {
      enabled: interruption.enabled,
      minSpeechMs: interruption.min_speech_ms,
      greetingGuardMs: interruption.greeting_guard_ms,
    },
    hearing: hearingOf(config.turn_detection),
    idle: { afterMs: limits.idle_seconds * 1_000, prompts: idle.prompts, goodbye: idle.goodbye ?? '' },
    dtmf: { maxDigits: dtmf.max_digits, endKey: dtmf.end_key, timeoutMs: dtmf.timeout_ms },
    fillers: { afterMs: fillers.after_ms, phrases: fillers.phrases },
    modelStallMs: config.model_stall_ms,
    maxCallMs: (config.max_call_seconds ?? limits.max_call_seconds) * 1_000,
    voicemail: voicemail.action === 'leave_message' ? voicemail.message : null,
    recordBeep: compliance.record_calls && compliance.record_beep,
    fallbackNumber: telephony.fallback_number,
  }
}

/** Of the agent's clips those of this call: one that was given another greeting does not say its own. */
export function clipsFor(
  { compliance }: TenantRuntime,
  { greeting }: Pick<CompleteAgentConfig, 'greeting'>,
  clips: readonly Clip[],
): readonly Clip[] {
  const wanted = { disclosure: compliance.ai_disclosure, greeting }
  return clips.filter(({ kind, words }) => kind === 'filler' || wanted[kind] === words)
}

/** What is not said is what a server adds as a rule. */
function hearingOf(detection: CompleteAgentConfig['turn_detection']): Plan['hearing'] {
  if (detection.type === 'semantic_vad') return { prefixMs: USUAL_PREFIX_MS, silenceMs: null }
  return { prefixMs: detection.prefix_padding_ms, silenceMs: detection.silence_duration_ms }
}
