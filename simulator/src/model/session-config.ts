import { ModelError } from './model-error.ts'
import { type SessionUpdate, sessionUpdate } from './session-shape.ts'

type Audio = NonNullable<SessionUpdate['audio']>
type Input = NonNullable<Audio['input']>
type Output = NonNullable<Audio['output']>

/** How the server finds the caller's turns; null in a session means that the client commits turns itself. */
export type TurnDetection =
  | {
      type: 'server_vad'
      threshold: number
      prefix_padding_ms: number
      silence_duration_ms: number
      idle_timeout_ms: number | null
      create_response: boolean
      interrupt_response: boolean
    }
  | {
      type: 'semantic_vad'
      eagerness: 'low' | 'medium' | 'high' | 'auto'
      create_response: boolean
      interrupt_response: boolean
    }

/** The effective settings of a session, as `session.created` and `session.updated` show them. */
export type SessionConfig = Required<Omit<SessionUpdate, 'audio' | 'reasoning' | 'parallel_tool_calls'>> &
  Pick<SessionUpdate, 'reasoning' | 'parallel_tool_calls'> & {
    audio: {
      input: Required<Omit<Input, 'turn_detection'>> & { turn_detection: TurnDetection | null }
      output: Required<Output>
    }
  }

/** What the model has said so far decides what can still be changed. */
export type SpeechState = { hasSpoken: boolean; isSpeaking: boolean }

/** Models of before those that reason, and their snapshots. */
const NOT_REASONING = /^(?:gpt-realtime(?:-mini|-1\.5)?|gpt-4o(?:-mini)?-realtime-preview)(?:-\d{4}-\d{2}-\d{2})?$/

const SERVER_VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  idle_timeout_ms: null,
  create_response: true,
  interrupt_response: true,
} as const

const SEMANTIC_VAD = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
} as const

/** What a session has before its first `session.update`: 24 kHz samples, server turn detection, no tools. */
export function defaultConfig(model: string): SessionConfig {
  return {
    type: 'realtime',
    model,
    instructions: 'You are a rehearsal model. You do not understand speech.',
    output_modalities: ['audio'],
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    tracing: null,
    truncation: 'auto',
    prompt: null,
    include: null,
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24000 },
        transcription: null,
        noise_reduction: null,
        turn_detection: { ...SERVER_VAD },
      },
      output: { format: { type: 'audio/pcm', rate: 24000 }, voice: 'marin', speed: 1 },
    },
  }
}

/**
 * Applies the `session` of a `session.update`. Absent fields stay; `""`, `[]` and null clear.
 *
 * All or nothing: a refusal leaves the old settings as they were.
 * @throws ModelError what `Shape` throws, `invalid_parameter` for a transcription session, `cannot_update_voice` once
 *   the model has spoken in this session, `invalid_value` for another model, another speed while it speaks, or reasoning of a model that does not.
 */
export function updateConfig(old: SessionConfig, session: unknown, speech: SpeechState): SessionConfig {
  refuseTranscriptionSession(session)
  const update = sessionUpdate(session, 'session')
  const { audio, ...rest } = update
  if (update.model !== undefined && update.model !== old.model)
    throw new ModelError('invalid_value', 'The model of a session cannot be changed.', 'session.model')
  if (update.reasoning !== undefined && NOT_REASONING.test(old.model))
    throw new ModelError('invalid_value', `Reasoning is not supported by the model ${old.model}.`, 'session.reasoning')
  const voice = audio?.output?.voice
  if (speech.hasSpoken && voice !== undefined && JSON.stringify(voice) !== JSON.stringify(old.audio.output.voice))
    throw new ModelError('cannot_update_voice', "Cannot update a conversation's voice if assistant audio is present.")
  const speed = audio?.output?.speed
  if (speech.isSpeaking && speed !== undefined && speed !== old.audio.output.speed)
    throw new ModelError(
      'invalid_value',
      'The speed can only be changed between responses.',
      'session.audio.output.speed',
    )
  const input = { ...old.audio.input, ...audio?.input }
  const turnDetection = audio?.input?.turn_detection
  return {
    ...old,
    ...rest,
    audio: {
      input: {
        ...input,
        turn_detection: turnDetection === undefined ? old.audio.input.turn_detection : withDefaults(turnDetection),
      },
      output: { ...old.audio.output, ...audio?.output },
    },
  }
}

function withDefaults(given: NonNullable<Input['turn_detection']> | null): TurnDetection | null {
  if (given === null) return null
  return given.type === 'server_vad' ? { ...SERVER_VAD, ...given } : { ...SEMANTIC_VAD, ...given }
}

function refuseTranscriptionSession(session: unknown): void {
  if (typeof session !== 'object' || session === null || !('type' in session)) return
  if (session.type !== 'transcription') return
  const message = 'Passing a transcription session update event to a realtime session is not allowed.'
  throw new ModelError('invalid_parameter', message)
}
