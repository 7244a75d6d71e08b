import { deepFreeze } from '../kernel/deep-freeze.ts'
import type { AgentTexts, AgentVersionConfig } from './agent-config.ts'

type Given<Member extends keyof AgentVersionConfig> = NonNullable<AgentVersionConfig[Member]>

/** How the end of a caller's turn is found, with the settings of that way only. */
type TurnDetection =
  | { type: 'server_vad'; threshold: number; prefix_padding_ms: number; silence_duration_ms: number }
  | { type: 'semantic_vad'; eagerness: 'low' | 'medium' | 'high' | 'auto' }

/**
 * An agent version config with nothing left open: what a call runs by. Null is what the config leaves to others: to the
 * model (wording, language, reasoning), to its driver (models, noise reduction, hold music) or to the tenant (`max_call_seconds`).
 */
export type CompleteAgentConfig = AgentTexts & {
  turn_detection: TurnDetection
  interruption: Required<Given<'interruption'>>
  idle: { prompts: string[]; goodbye: string | null }
  speech: {
    language: string | null
    speed: number
    noise_reduction: 'near_field' | 'far_field' | 'off' | null
    transcription_model: string | null
  }
  dtmf: Required<Given<'dtmf'>>
  voicemail: { action: 'hang_up' } | { action: 'leave_message'; message: string }
  fillers: Required<Given<'fillers'>>
  hold_audio: string | null
  tools: string[]
  criteria: { name: string; description: string; weight: number }[]
  extraction: Record<string, unknown> | null
  reasoning_effort: Given<'reasoning_effort'> | null
  model_stall_ms: number
  max_call_seconds: number | null
  metadata: Record<string, unknown>
}

const DEFAULT_TOOLS = ['end_call', 'escalate_to_human', 'schedule_callback', 'record_outcome', 'add_to_dnc']

const DEFAULT_CRITERIA = [
  { name: 'helpfulness', description: 'The caller got what the call was for, or a clear next step.' },
  { name: 'accuracy', description: 'What the agent said was true and kept to its instructions.' },
  { name: 'tone', description: 'The agent was polite, patient and easy to understand.' },
]

/**
 * Applies the defaults. The result shares nothing with `config` and is frozen to its leaves, so that a cache can hand
 * it to many calls.
 */
export function agentConfigDefaults(config: AgentVersionConfig): CompleteAgentConfig {
  return deepFreeze(
    structuredClone<CompleteAgentConfig>({
      ...texts(config),
      turn_detection: turnDetection(config.turn_detection ?? {}),
      interruption: {
        enabled: true,
        min_speech_ms: 300,
        greeting_guard_ms: 1000,
        backchannel_words: [],
        resume_false_ms: 2000,
        ...config.interruption,
      },
      idle: idle(config.idle ?? {}),
      speech: speech(config.speech ?? {}),
      dtmf: { max_digits: 20, end_key: '#', timeout_ms: 3000, ...config.dtmf },
      voicemail: voicemail(config.voicemail ?? {}),
      fillers: fillers(config.fillers ?? {}),
      hold_audio: config.hold_audio ?? null,
      tools: config.tools ?? DEFAULT_TOOLS,
      criteria: (config.criteria ?? DEFAULT_CRITERIA).map((given) => ({ description: '', weight: 1, ...given })),
      extraction: config.extraction ?? null,
      reasoning_effort: config.reasoning_effort ?? null,
      model_stall_ms: config.model_stall_ms ?? 6000,
      max_call_seconds: config.max_call_seconds ?? null,
      metadata: config.metadata ?? {},
    }),
  )
}

/**
 * Blanks alone are nothing: a model that is told to say them says something of its own, and there is none of such a name, nor a
 * voice.
 */
function words(text = ''): string {
  return text.trim() === '' ? '' : text
}

function texts(config: AgentVersionConfig): AgentTexts {
  const { agent_name, assistant_profile, chat_model, greeting, instructions, realtime_model, voice } = config
  const spoken = { greeting: words(greeting), agent_name: words(agent_name), voice: words(voice) }
  const told = { assistant_profile: words(assistant_profile), instructions: words(instructions) }
  return { ...spoken, ...told, chat_model: words(chat_model), realtime_model: words(realtime_model) }
}

function speech({ transcription_model, ...given }: Given<'speech'>): CompleteAgentConfig['speech'] {
  const model = words(transcription_model) || null
  return { language: null, speed: 1, noise_reduction: null, ...given, transcription_model: model }
}

function idle({ prompts = [], goodbye }: Given<'idle'>): CompleteAgentConfig['idle'] {
  return { prompts: prompts.map(words), goodbye: words(goodbye) || null }
}

function fillers({ after_ms = 2000, phrases = [] }: Given<'fillers'>): CompleteAgentConfig['fillers'] {
  return { after_ms, phrases: phrases.filter((phrase) => words(phrase) !== '') }
}

function turnDetection(given: Given<'turn_detection'>): TurnDetection {
  if (given.type === 'semantic_vad') return { type: 'semantic_vad', eagerness: given.eagerness ?? 'auto' }
  return {
    type: 'server_vad',
    threshold: given.threshold ?? 0.5,
    prefix_padding_ms: given.prefix_padding_ms ?? 300,
    silence_duration_ms: given.silence_duration_ms ?? 500,
  }
}

function voicemail({ action, message }: Given<'voicemail'>): CompleteAgentConfig['voicemail'] {
  return action === 'leave_message' && message ? { action, message } : { action: 'hang_up' }
}
