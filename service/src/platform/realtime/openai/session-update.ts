import { primaryLanguage } from '../../../kernel/language.ts'
import { lastingBytes } from '../../../kernel/lasting-bytes.ts'
import { openaiVoice } from '../../openai-voice.ts'
import type { ModelSetup, ToolDeclaration, TurnDetection } from '../port.ts'
import { type Json, object, textOrNull } from './members.ts'

/** What a session uses where its setup says null. */
export type ModelDefaults = { model: string; voice: string; transcriptionModel: string }

/** `transcription`: null where nobody writes down what the caller says. */
type SessionSetup = Omit<ModelSetup, 'transcription'> & { transcription: ModelSetup['transcription'] | null }

/** Error events name this when they are about the settings. */
const EVENT_ID = 'setup'
const MULAW = { type: 'audio/pcmu' }
/** As servers write it that have their own words for it, such as `g711_ulaw`. */
const IS_MULAW = /pcmu|u-?law/i
/** A telephone is held to the mouth. */
const TELEPHONE_NOISE = 'near_field'
/** What remains of a conversation that has outgrown the model's window: cutting a fifth at once keeps the cache warm. */
const TRUNCATION = { type: 'retention_ratio', retention_ratio: 0.8 }

/**
 * The `session.update` of a session, in the shape of general availability: a single unknown member would make the
 * server refuse the whole of it. The server neither answers nor interrupts by itself.
 */
export function sessionUpdate(setup: SessionSetup, defaults: ModelDefaults): Buffer {
  const session = {
    type: 'realtime',
    instructions: setup.instructions,
    output_modalities: [setup.output],
    audio: { input: input(setup, defaults), output: output(setup, defaults) },
    tools: setup.tools.map(functionTool),
    tool_choice: 'auto',
    truncation: TRUNCATION,
    // Models that do not reason, and other servers, refuse a session that speaks of it.
    ...(setup.reasoningEffort !== null && { reasoning: { effort: setup.reasoningEffort } }),
  }
  return lastingBytes(JSON.stringify({ type: 'session.update', event_id: EVENT_ID, session }))
}

/**
 * Whether a server says that its session has another format of audio than was asked for; one that says nothing of it has that. Where it
 * only writes, nobody hears it.
 */
export function isOfOtherAudio(session: Json): boolean {
  const audio = object(session, 'audio')
  const { output_modalities: modalities } = session
  const ways = Array.isArray(modalities) && !modalities.includes('audio') ? ['input'] : ['input', 'output']
  return ways.some((way) => !IS_MULAW.test(textOrNull(object(object(audio, way), 'format'), 'type') ?? MULAW.type))
}

function input({ noiseReduction, transcription, turnDetection }: SessionSetup, defaults: ModelDefaults) {
  return {
    format: MULAW,
    noise_reduction: noiseReduction === 'off' ? null : { type: noiseReduction ?? TELEPHONE_NOISE },
    transcription: transcription && transcriptionOf(transcription, defaults),
    turn_detection: { ...turns(turnDetection), create_response: false, interrupt_response: false },
  }
}

/** Models that take a list of the languages that may be spoken in place of one. */
const TAKES_LANGUAGES = /^gpt-(?:live-)?transcribe\b/

function transcriptionOf({ model: asked, language: tag }: ModelSetup['transcription'], defaults: ModelDefaults) {
  const model = asked ?? defaults.transcriptionModel
  const language = tag === null ? null : primaryLanguage(tag)
  // The server takes codes of two letters, and refuses the whole session for any other: it finds out those by itself.
  if (language?.length !== 2) return { model }
  return TAKES_LANGUAGES.test(model) ? { model, languages: [language] } : { model, language }
}

function output({ voice, speed }: SessionSetup, defaults: ModelDefaults) {
  return { format: MULAW, voice: openaiVoice(voice ?? defaults.voice), ...(speed === null ? {} : { speed }) }
}

function turns(detection: TurnDetection) {
  if (detection.type === 'semantic_vad') return detection
  const { type, threshold, prefixPaddingMs, silenceDurationMs } = detection
  return { type, threshold, prefix_padding_ms: prefixPaddingMs, silence_duration_ms: silenceDurationMs }
}

function functionTool({ name, description, parameters }: ToolDeclaration) {
  return { type: 'function', name, description, parameters }
}
