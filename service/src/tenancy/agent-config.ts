import { Type } from 'typebox'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { FaultDetail } from '../kernel/errors.ts'
import { LANGUAGE_PATTERN, nullable, ONE_KEY_PATTERN, strict, TOOL_NAME_PATTERN } from '../platform/http/schemas.ts'
import { jsonSchemaFault, jsonSizeFault } from './agent-config-json-schema.ts'
import { urlFault } from './tenant-rules.ts'

/** An object whose members are its writer's own. */
function open(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })
}

function text(maxLength: number, description: string) {
  return Type.String({ maxLength, description })
}

function whole(minimum: number, maximum: number, description: string) {
  return Type.Integer({ minimum, maximum, description })
}

function phrase(maxLength: number) {
  return Type.String({ minLength: 1, maxLength })
}

const texts = {
  agent_name: text(200, 'What the agent calls itself. Empty: the name of the agent.'),
  assistant_profile: text(8000, 'Who the agent is: its role and manner. Told to the model before the instructions.'),
  chat_model: text(200, 'The model of summaries, evaluations and text chats. Empty: the default one.'),
  greeting: text(2000, 'What a caller hears first. Empty: the agent words it.'),
  instructions: text(32_000, 'What the agent is to do, and how.'),
  realtime_model: text(200, "The model that talks. Empty: the tenant's, else the default one."),
  voice: text(200, "The voice that the model speaks with. Empty: the tenant's, else the default one."),
}

const TurnDetection = strict({
  type: Type.Optional(Type.Enum(['server_vad', 'semantic_vad'], { description: 'Default server_vad.' })),
  threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'server_vad only. Default 0.5.' })),
  prefix_padding_ms: Type.Optional(whole(0, 5000, 'server_vad only. Default 300.')),
  silence_duration_ms: Type.Optional(whole(50, 10_000, 'server_vad only. Default 500.')),
  eagerness: Type.Optional(
    Type.Enum(['low', 'medium', 'high', 'auto'], { description: 'semantic_vad only. Default auto.' }),
  ),
})

const Interruption = strict({
  enabled: Type.Optional(Type.Boolean({ description: 'Whether a caller who speaks stops the agent. Default true.' })),
  min_speech_ms: Type.Optional(whole(0, 2000, 'Shorter speech is a cough and stops nothing. Default 300.')),
  greeting_guard_ms: Type.Optional(
    whole(0, 10_000, 'Nobody who speaks stops the greeting for this long; a key that is pressed does. Default 1,000.'),
  ),
  backchannel_words: Type.Optional(
    Type.Array(phrase(40), { maxItems: 50, description: 'Words that only say "I am listening" and stop nothing.' }),
  ),
  resume_false_ms: Type.Optional(
    whole(0, 10_000, 'An interruption without words this long after it was false: the agent goes on. Default 2,000.'),
  ),
})

const Idle = strict({
  prompts: Type.Optional(
    Type.Array(phrase(500), {
      maxItems: 2,
      description:
        'Asked after a third and after two thirds of the silence that ends a call. Default: the agent words it.',
    }),
  ),
  goodbye: Type.Optional(text(500, 'Said before a silent caller is hung up on. Default: the agent words it.')),
})

const Speech = strict({
  language: Type.Optional(
    Type.String({
      maxLength: 35,
      pattern: LANGUAGE_PATTERN,
      description:
        'The language that callers speak, such as `en` or `pt-BR`; providers are told the language alone (`pt`). Default: found out by the model.',
    }),
  ),
  speed: Type.Optional(
    Type.Number({ minimum: 0.25, maximum: 1.5, description: 'How fast the agent speaks; 1 is normal.' }),
  ),
  noise_reduction: Type.Optional(
    Type.Enum(['near_field', 'far_field', 'off'], {
      description: 'What is taken out of the sound of callers. Default: near_field, for a telephone held to the mouth.',
    }),
  ),
  transcription_model: Type.Optional(text(200, "What writes down the caller's words. Empty: the driver's.")),
})

const Dtmf = strict({
  max_digits: Type.Optional(whole(1, 100, 'This many keys make an entry. Default 20.')),
  end_key: Type.Optional(
    Type.String({ pattern: ONE_KEY_PATTERN, description: 'The key that ends an entry. Default `#`.' }),
  ),
  timeout_ms: Type.Optional(whole(500, 60_000, 'A pause this long ends an entry. Default 3,000.')),
})

const Voicemail = strict({
  action: Type.Optional(Type.Enum(['hang_up', 'leave_message'], { description: 'Default hang_up.' })),
  message: Type.Optional(text(2000, 'What is said after the tone; needed to leave a message.')),
})

const Fillers = strict({
  after_ms: Type.Optional(
    whole(
      500,
      30_000,
      'How long a tool may take before the agent says something; it says it sooner where nobody has spoken for 2.5 s. Default 2,000.',
    ),
  ),
  phrases: Type.Optional(
    Type.Array(phrase(200), {
      maxItems: 20,
      description:
        'What is said while a tool, or an answer, takes long. Default: a sentence of ours in the language of `speech.language`; where there is none, the agent words it for a tool, and for an answer a short sound is heard.',
    }),
  ),
})

const Criterion = strict({
  name: phrase(64),
  description: Type.Optional(text(1000, 'What a good call does here.')),
  weight: Type.Optional(Type.Number({ minimum: 0.01, maximum: 100, description: 'Share in the score. Default 1.' })),
})

const settings = {
  turn_detection: Type.Optional(TurnDetection),
  interruption: Type.Optional(Interruption),
  idle: Type.Optional(Idle),
  speech: Type.Optional(nullable(Speech)),
  dtmf: Type.Optional(Dtmf),
  voicemail: Type.Optional(Voicemail),
  fillers: Type.Optional(Fillers),
  hold_audio: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'The http or https address of a WAV file: what a caller on hold hears. Default: our music.',
      }),
    ),
  ),
  tools: Type.Optional(
    Type.Array(Type.String({ pattern: TOOL_NAME_PATTERN }), {
      maxItems: 64,
      description:
        "Names of the tenant's tools and of built-in ones that the agent may use. Default: end_call, escalate_to_human, " +
        'schedule_callback, record_outcome, add_to_dnc. Empty: none.',
    }),
  ),
  criteria: Type.Optional(
    Type.Array(Criterion, {
      maxItems: 20,
      description: 'What calls are scored by. Default: helpfulness, accuracy, tone. Empty: they are not scored.',
    }),
  ),
  extraction: Type.Optional(
    nullable(open('JSON Schema of an object that is filled from the transcript after the call.')),
  ),
  reasoning_effort: Type.Optional(
    nullable(
      Type.Enum(['minimal', 'low', 'medium', 'high', 'xhigh'], {
        description:
          'How much a model that talks, and that reasons, does so before it speaks: more makes answers better, later and dearer. Models that do not reason go without it. Default: what the model does by itself.',
      }),
    ),
  ),
  model_stall_ms: Type.Optional(whole(1000, 15_000, 'A model silent for this long has stalled. Default 6,000.')),
  max_call_seconds: Type.Optional(nullable(whole(10, 14_400, "Longest call. Default: the tenant's."))),
  metadata: Type.Optional(open("The writer's own notes: at most 16 KiB as JSON, 8 levels deep.")),
}

/** What makes an agent speak as it does. Everything is optional: a text that is left out is empty. */
export const AgentVersionConfig = strict({ ...Type.Partial(Type.Object(texts)).properties, ...settings })
export type AgentVersionConfig = Type.Static<typeof AgentVersionConfig>

/** The same as it is stored and answered: the texts are always there. */
export const StoredAgentConfig = strict({ ...texts, ...settings })
export type StoredAgentConfig = Type.Static<typeof StoredAgentConfig>

/** The seven texts of an agent. */
export type AgentTexts = Record<keyof typeof texts, string>

const NO_TEXTS: AgentTexts = {
  agent_name: '',
  assistant_profile: '',
  chat_model: '',
  greeting: '',
  instructions: '',
  realtime_model: '',
  voice: '',
}

/** Fills in the texts that were left out, so that whoever reads a config finds all seven. */
export function withAllTexts(config: AgentVersionConfig): StoredAgentConfig {
  return { ...NO_TEXTS, ...config }
}

const MAX_METADATA_BYTES = 16_384
const MAX_METADATA_DEPTH = 8

/** Which settings of turn detection belong to which way of it. */
const TURN_SETTINGS = {
  threshold: 'server_vad',
  prefix_padding_ms: 'server_vad',
  silence_duration_ms: 'server_vad',
  eagerness: 'semantic_vad',
} as const

/**
 * What is wrong with a config that its schema cannot say; empty when nothing is.
 *
 * @param path JSON pointer of the config in what was sent, such as `/body/config`.
 * @param stored the config as it is, if there is one: the same `extraction` was taken before, by whatever bounds, and is not
 * looked at again.
 */
export function agentConfigFaults(
  config: AgentVersionConfig,
  path: string,
  stored?: Pick<AgentVersionConfig, 'extraction'> | null,
): FaultDetail[] {
  const checks: [member: string, message: string | null][] = [
    ...turnDetectionFaults(config.turn_detection ?? {}),
    ['/speech/language', languageFault(config.speech?.language)],
    ['/voicemail/message', voicemailFault(config.voicemail ?? {})],
    ['/hold_audio', config.hold_audio ? urlFault(config.hold_audio) : null],
    ...repeatFaults('/tools', config.tools ?? []),
    ...repeatFaults('/criteria', config.criteria?.map(({ name }) => name) ?? []),
    ['/extraction', extractionFault(config, stored)],
    ['/metadata', jsonSizeFault(config.metadata ?? {}, MAX_METADATA_BYTES, MAX_METADATA_DEPTH)],
  ]
  return checks.flatMap(([member, message]) => (message === null ? [] : [{ path: path + member, message }]))
}

function extractionFault(
  { extraction }: AgentVersionConfig,
  stored: Pick<AgentVersionConfig, 'extraction'> | null | undefined,
): string | null {
  if (!extraction) return null
  const isKnown = stored?.extraction && canonicalJson(stored.extraction) === canonicalJson(extraction)
  return isKnown ? null : jsonSchemaFault(extraction)
}

function turnDetectionFaults(detection: NonNullable<AgentVersionConfig['turn_detection']>): [string, string][] {
  const { type = 'server_vad', ...given } = detection
  return Object.keys(given)
    .filter((name) => TURN_SETTINGS[name as keyof typeof given] !== type)
    .map((name) => [`/turn_detection/${name}`, `is not a setting of ${type}`])
}

function languageFault(language: string | undefined): string | null {
  if (language === undefined) return null
  try {
    Intl.getCanonicalLocales(language)
    return null
  } catch {
    return 'is not a language tag such as en or pt-BR'
  }
}

function voicemailFault({ action, message }: NonNullable<AgentVersionConfig['voicemail']>): string | null {
  return action === 'leave_message' && !message?.trim() ? 'is needed to leave a message' : null
}

function repeatFaults(member: string, names: string[]): [string, string][] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [[`${member}/${index}`, 'is named twice']] : []))
}
