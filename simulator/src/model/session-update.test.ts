import { describe, expect, it } from 'vitest'
import { ModelError } from './model-error.ts'
import { defaultConfig, type SessionConfig, type SpeechState, updateConfig } from './session-config.ts'

const before = defaultConfig('gpt-realtime')

const SILENT: SpeechState = { hasSpoken: false, isSpeaking: false }

function update(session: unknown, speech = SILENT): SessionConfig {
  return updateConfig(before, session, speech)
}

function refusal(session: unknown, speech = SILENT): { code: string; param: string | null; message: string } {
  try {
    update(session, speech)
  } catch (error) {
    if (error instanceof ModelError) return { code: error.code, param: error.param, message: error.message }
    throw error
  }
  throw new Error('the update was taken')
}

const rt = (fields: Record<string, unknown>) => ({ type: 'realtime', ...fields })
const input = (fields: Record<string, unknown>) => rt({ audio: { input: fields } })
const output = (fields: Record<string, unknown>) => rt({ audio: { output: fields } })
const vad = (fields: Record<string, unknown>) => input({ turn_detection: { type: 'server_vad', ...fields } })

describe('session.update', () => {
  it('may say how much a model reasons that does so, and not of any other', () => {
    const reasoning = { effort: 'high' }
    for (const model of ['gpt-realtime-2', 'gpt-realtime-2.1', 'gpt-realtime-2.1-mini', 'a-model'])
      expect(updateConfig(defaultConfig(model), rt({ reasoning }), SILENT).reasoning).toEqual(reasoning)
    expect(refusal(rt({ reasoning }))).toMatchObject({ code: 'invalid_value', param: 'session.reasoning' })
    for (const model of ['gpt-realtime-2025-08-28', 'gpt-realtime-mini', 'gpt-realtime-1.5', 'gpt-4o-realtime-preview'])
      expect(() => updateConfig(defaultConfig(model), rt({ reasoning }), SILENT)).toThrow(ModelError)
    expect(refusal(rt({ reasoning: { effort: 'extreme' } })).param).toBe('session.reasoning.effort')
  })

  it.each([
    [{}, 'missing_required_parameter', 'session.type'],
    [{ type: 'transcription' }, 'invalid_parameter', null],
    [rt({ voice: 'alloy' }), 'unknown_parameter', 'session.voice'],
    [rt({ temperature: 0.8 }), 'unknown_parameter', 'session.temperature'],
    [rt({ modalities: ['audio'] }), 'unknown_parameter', 'session.modalities'],
    [rt({ input_audio_format: 'g711_ulaw' }), 'unknown_parameter', 'session.input_audio_format'],
    [rt({ turn_detection: null }), 'unknown_parameter', 'session.turn_detection'],
    [rt({ max_response_output_tokens: 100 }), 'unknown_parameter', 'session.max_response_output_tokens'],
    [
      rt({ input_audio_transcription: { model: 'whisper-1' } }),
      'unknown_parameter',
      'session.input_audio_transcription',
    ],
    [rt({ output_modalities: ['audio', 'text'] }), 'invalid_value', 'session.output_modalities'],
    [rt({ output_modalities: [] }), 'invalid_value', 'session.output_modalities'],
    [rt({ instructions: null }), 'invalid_type', 'session.instructions'],
    [rt({ tools: {} }), 'invalid_type', 'session.tools'],
    [rt({ tools: [{ type: 'function', name: 'a', meta: 1 }] }), 'unknown_parameter', 'session.tools[0].meta'],
    [rt({ tools: [{ type: 'function' }] }), 'missing_required_parameter', 'session.tools[0].name'],
    [rt({ tools: [{ name: 'a' }] }), 'missing_required_parameter', 'session.tools[0].type'],
    [rt({ tools: [{ type: 'function', name: 'look up' }] }), 'invalid_value', 'session.tools[0].name'],
    [
      rt({ tools: [{ type: 'function', name: 'a', description: 'x'.repeat(1_025) }] }),
      'string_above_max_length',
      'session.tools[0].description',
    ],
    [
      rt({ tools: Array.from({ length: 129 }, (_, index) => ({ type: 'function', name: `tool_${index}` })) }),
      'array_above_max_length',
      'session.tools',
    ],
    [rt({ tool_choice: 'maybe' }), 'invalid_value', 'session.tool_choice'],
    [rt({ max_output_tokens: 0 }), 'integer_below_min_value', 'session.max_output_tokens'],
    [rt({ max_output_tokens: 4097 }), 'integer_above_max_value', 'session.max_output_tokens'],
    [rt({ model: 'another' }), 'invalid_value', 'session.model'],
    [input({ format: 'pcmu' }), 'invalid_type', 'session.audio.input.format'],
    [input({ format: { type: 'g711_ulaw' } }), 'invalid_value', 'session.audio.input.format.type'],
    [input({ transcription: { language: 'pt-BR' } }), 'invalid_value', 'session.audio.input.transcription.language'],
    [input({ format: { type: 'audio/pcmu', rate: 8000 } }), 'unknown_parameter', 'session.audio.input.format.rate'],
    [
      input({ format: { type: 'audio/pcm', rate: 16000 } }),
      'integer_below_min_value',
      'session.audio.input.format.rate',
    ],
    [input({ noise_reduction: 'near_field' }), 'invalid_type', 'session.audio.input.noise_reduction'],
    [vad({ threshold: 2 }), 'decimal_above_max_value', 'session.audio.input.turn_detection.threshold'],
    [vad({ silence_duration_ms: 0.5 }), 'invalid_type', 'session.audio.input.turn_detection.silence_duration_ms'],
    [vad({ eagerness: 'low' }), 'unknown_parameter', 'session.audio.input.turn_detection.eagerness'],
    [output({ voice: 'nobody' }), 'invalid_value', 'session.audio.output.voice'],
    [output({ speed: 2 }), 'decimal_above_max_value', 'session.audio.output.speed'],
    ['realtime', 'invalid_type', 'session'],
  ])('refuses %j as %s of %s', (session, code, param) => {
    expect(refusal(session)).toMatchObject({ code, param })
  })

  it.each([
    [{}, `schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`],
    [{ type: 'array', items: {} }, `schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`],
    [
      { type: 'object', properties: {}, anyOf: [] },
      "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
    ],
    [{ type: 'object' }, 'In context=(), object schema missing properties.'],
    [
      { type: 'object', properties: { tags: { type: 'array' } } },
      "In context=('properties', 'tags'), array schema missing items.",
    ],
    [
      { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'object' }] } } },
      "In context=('properties', 'a', 'anyOf', '1'), object schema missing properties.",
    ],
    [
      { type: 'object', properties: { a: { type: 'array', items: { type: 'array' } } } },
      "In context=('properties', 'a', 'items'), array schema missing items.",
    ],
  ])('refuses a function whose arguments are %j', (parameters, why) => {
    const sound = { type: 'function', name: 'sound', parameters: { type: 'object', properties: {} } }
    expect(refusal(rt({ tools: [sound, { type: 'function', name: 'odd', parameters }] }))).toMatchObject({
      code: 'invalid_function_parameters',
      message: `Invalid schema for function 'odd': ${why}`,
      param: 'session.tools[1].parameters',
    })
  })

  it('changes what is given, keeps what is not, and fills in turn detection', () => {
    const after = update(vad({ threshold: 0.8, create_response: false }))
    expect(after.audio.input.turn_detection).toEqual({
      type: 'server_vad',
      threshold: 0.8,
      prefix_padding_ms: 300,
      silence_duration_ms: 500,
      idle_timeout_ms: null,
      create_response: false,
      interrupt_response: true,
    })
    expect(after.audio.output).toEqual(before.audio.output)
    expect(after.instructions).toBe(before.instructions)
  })

  it("takes what today's clients set that does nothing here", () => {
    const noise = { type: 'near_field', strength: 0.5 }
    const transcription = { model: 'gpt-live-transcribe', languages: ['de'], keywords: ['Ada'], delay: 'low' }
    const server = {
      ...{ type: 'mcp', server_label: 'shop', tunnel_id: 't' },
      defer_loading: true,
      allowed_callers: ['direct'],
    }
    const { audio, tools } = update(
      rt({ tools: [server], audio: { input: { noise_reduction: noise, transcription } } }),
    )
    expect(audio.input).toMatchObject({ noise_reduction: noise, transcription })
    expect(tools).toEqual([server])
  })

  it('clears with an empty string, an empty list and null', () => {
    const full = update(
      rt({ tools: [{ type: 'function', name: 'a' }], audio: { input: { transcription: { model: 'whisper-1' } } } }),
    )
    const audio = { input: { turn_detection: null, transcription: null } }
    const after = updateConfig(full, rt({ instructions: '', tools: [], audio }), SILENT)
    expect([
      after.instructions,
      after.tools,
      after.audio.input.turn_detection,
      after.audio.input.transcription,
    ]).toEqual(['', [], null, null])
  })

  it('keeps the voice that has spoken', () => {
    expect(refusal(output({ voice: 'cedar' }), { hasSpoken: true, isSpeaking: false }).code).toBe('cannot_update_voice')
    expect(update(output({ voice: 'marin' }), { hasSpoken: true, isSpeaking: true }).audio.output.voice).toBe('marin')
  })

  it('keeps its speed while it speaks', () => {
    const speaking = { hasSpoken: true, isSpeaking: true }
    expect(refusal(output({ speed: 1.2 }), speaking).param).toBe('session.audio.output.speed')
    expect(update(output({ speed: 1.2 })).audio.output.speed).toBe(1.2)
  })

  it('words a refusal like the real server', () => {
    expect(refusal(rt({ voice: 'alloy' })).message).toBe("Unknown parameter: 'session.voice'.")
    expect(refusal({}).message).toBe("Missing required parameter: 'session.type'.")
    expect(refusal(input({ format: 'pcmu' })).message).toBe(
      "Invalid type for 'session.audio.input.format': expected an object, but got a string instead.",
    )
  })
})
