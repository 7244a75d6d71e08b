import { builtInWords } from '../agents/built-in-words.ts'
import { isFirstWords } from '../agents/clip-words.ts'
import type { Clip } from '../agents/clips.ts'
import type { ModelCapabilities } from '../platform/realtime/port.ts'
import type { ModelPrice } from '../platform/realtime/price.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { SpentToday } from '../records/spent-today.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { HOLD_MUSIC_MS } from './hold-music.ts'
import type { Plan, PlannedClip } from './session/plan.ts'
import { greetingOf } from './session-builder-setup.ts'

/** What this process adds to every plan. `isResumable`: a carrier holds the call. */
export type PlanFacts = {
  /** As whom the agent speaks; not given: nobody writes that down. */
  agentName?: string
  capabilities: ModelCapabilities
  modelSessionMs: number
  isResumable: boolean
  /** The call was placed, and it is to be found out who answers; not given: it is not. */
  readsParty?: boolean
  /** Tools during which the agent goes on talking. */
  asyncTools?: readonly string[]
  /** The secondary provider speaks what the model writes; not given: it does not. */
  secondVoice?: boolean
  /** Those of this call. */
  clips?: readonly SpokenClip[]
  /** How long what callers on hold hear is, also while a tool takes long; not given: our music is heard, on hold alone. */
  holdMs?: number | undefined
  /** What the model costs; null, or not given, where that is not known. */
  price?: ModelPrice | null
  /** Of the model that takes its place when it stays away; null, or not given, where there is none. */
  fallback?: { price: ModelPrice | null; model?: string | null } | null
  /** As which model, and in which voice, the agent speaks; not given: nobody writes that down. */
  speaker?: Plan['speaker']
  /** What the tenant's other calls have taken of its day; null, or not given, where nobody counts. */
  spentToday?: SpentToday | null
  /** How long the call may last, by the agent that it began with; null, or not given: as this one has it. */
  maxCallSeconds?: number | null
}

const USUAL_PREFIX_MS = 300

/** The carrier ends the call at its own limit, whoever speaks then: the agent says goodbye a minute before. */
const LATEST_GOODBYE_SECONDS = LONGEST_CALL_SECONDS - 60

/**
 * What a session is to do, by its agent and its tenant's document.
 *
 * What the law wants said comes before the greeting; where the agent words the greeting itself, its instructions say so.
 */
export function planOf(
  tenant: TenantRuntime,
  config: CompleteAgentConfig,
  { clips = [], price = null, spentToday = null, maxCallSeconds = null, holdMs, ...facts }: PlanFacts,
): Plan {
  const { interruption, idle, dtmf, fillers, voicemail } = config
  const { limits, compliance, telephony } = tenant
  const hasFirstWords = clips.some(isFirstWords)
  return {
    ...facts,
    clips: clips.map(({ kind, text, ms }) => ({ kind, text, ms })),
    greeting: hasFirstWords ? config.greeting : greetingOf(tenant, config),
    disclosure: hasFirstWords ? null : compliance.ai_disclosure,
    interruption: {
      enabled: interruption.enabled,
      minSpeechMs: interruption.min_speech_ms,
      greetingGuardMs: interruption.greeting_guard_ms,
      backchannels: interruption.backchannel_words,
      resumeFalseMs: interruption.resume_false_ms,
    },
    hearing: hearingOf(config.turn_detection),
    idle: { afterMs: limits.idle_seconds * 1_000, prompts: idle.prompts, goodbye: idle.goodbye ?? '' },
    dtmf: { maxDigits: dtmf.max_digits, endKey: dtmf.end_key, timeoutMs: dtmf.timeout_ms },
    fillers: { afterMs: fillers.after_ms, phrases: fillers.phrases },
    holdMs: holdMs ?? HOLD_MUSIC_MS,
    holdsForTools: holdMs !== undefined,
    bridgesGaps: true,
    modelStallMs: config.model_stall_ms,
    maxCallMs: Math.min(maxCallSeconds ?? longestOf(tenant, config), LATEST_GOODBYE_SECONDS) * 1_000,
    price,
    ...budgetsOf(tenant, spentToday, facts),
    voicemail: voicemail.action === 'leave_message' ? voicemail.message : null,
    recordBeep: compliance.record_calls && compliance.record_beep,
    fallbackNumber: telephony.fallback_number,
    ...sorryOf(config),
  }
}

/** How long a call may last that begins with the agent, in seconds. */
export function longestOf({ limits }: TenantRuntime, config: Pick<CompleteAgentConfig, 'max_call_seconds'>): number {
  return config.max_call_seconds ?? limits.max_call_seconds
}

function sorryOf({ speech: { language } }: CompleteAgentConfig): Pick<Plan, 'sorry'> {
  const words = builtInWords(language)
  return language === null || words === null ? {} : { sorry: { text: words.sorry, language } }
}

/** Of the agent's clips those of this call: one that was given another greeting does not say its own. */
export function clipsFor(
  { compliance }: TenantRuntime,
  { greeting }: Pick<CompleteAgentConfig, 'greeting'>,
  clips: readonly Clip[],
): readonly SpokenClip[] {
  const firstWords: readonly (string | null)[] = [compliance.ai_disclosure, greeting]
  return clips.filter(isSpoken).filter((clip) => !isFirstWords(clip) || firstWords.includes(clip.words))
}

/** Words that were spoken ahead. */
export type SpokenClip = Clip & { kind: PlannedClip['kind'] }

function isSpoken(clip: Clip): clip is SpokenClip {
  return clip.kind !== 'hold'
}

/** What callers on hold hear, where the agent has something for that and it is there. */
export function holdAudioFor(
  { hold_audio: url }: Pick<CompleteAgentConfig, 'hold_audio'>,
  clips: readonly Clip[],
): Clip | null {
  return clips.find(({ kind, words }) => kind === 'hold' && words === url) ?? null
}

/** What is left of the day counts as it is when the session begins. */
function budgetsOf(
  { limits }: TenantRuntime,
  spent: SpentToday | null,
  { isResumable: hasCarrier }: Pick<PlanFacts, 'isResumable'>,
): Pick<Plan, 'budgetUsd' | 'budgetMs'> {
  const { budget_per_call: perCall, budget_per_day: perDay, minutes_per_day: minutes } = limits
  const leftUsd = perDay === null || spent === null ? null : Math.max(0, perDay - spent.usd)
  const caps = [perCall, leftUsd].filter((cap) => cap !== null)
  return {
    budgetUsd: caps.length === 0 ? null : Math.min(...caps),
    // The minutes are those of carriers.
    budgetMs:
      minutes === null || spent === null || !hasCarrier ? null : Math.max(0, minutes * 60 - spent.seconds) * 1_000,
  }
}

/** What is not said is what a server adds as a rule. */
function hearingOf(detection: CompleteAgentConfig['turn_detection']): Plan['hearing'] {
  if (detection.type === 'semantic_vad') return { prefixMs: USUAL_PREFIX_MS, silenceMs: null }
  return { prefixMs: detection.prefix_padding_ms, silenceMs: detection.silence_duration_ms }
}
