import { describe, expect, it } from 'vitest'
import type { ModelSetup } from '../port.ts'
import { SETUP } from './driver.fixture.ts'
import { sessionUpdate } from './session-update.ts'

const DEFAULTS = { model: 'gpt-realtime', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }

const update = (setup: Partial<ModelSetup>) =>
  JSON.parse(sessionUpdate({ ...SETUP, ...setup }, DEFAULTS).toString('utf8'))

describe('sessionUpdate', () => {
  it('is the shape of general availability, with µ-law both ways and turns left to us', () => {
    expect(update({})).toEqual({
      type: 'session.update',
      event_id: 'setup',
      session: {
        type: 'realtime',
        instructions: 'You are Ada.',
        output_modalities: ['audio'],
        audio: {
          input: {
            format: { type: 'audio/pcmu' },
            noise_reduction: { type: 'near_field' },
            transcription: { model: 'gpt-4o-mini-transcribe' },
            turn_detection: {
              type: 'server_vad',
              threshold: 0.5,
              prefix_padding_ms: 300,
              silence_duration_ms: 500,
              create_response: false,
              interrupt_response: false,
            },
          },
          output: { format: { type: 'audio/pcmu' }, voice: 'marin' },
        },
        tools: [],
        tool_choice: 'auto',
        truncation: { type: 'retention_ratio', retention_ratio: 0.8 },
      },
    })
  })

  it('says how much the model is to reason only where that is asked for', () => {
    expect(update({ reasoningEffort: 'high' }).session).toMatchObject({ reasoning: { effort: 'high' } })
    expect(update({}).session).not.toHaveProperty('reasoning')
  })

  it('leaves the noise in where the setup says so', () => {
    expect(update({ noiseReduction: 'off' }).session).toMatchObject({ audio: { input: { noise_reduction: null } } })
  })

  it('holds what the setup asks for', () => {
    const parameters = { type: 'object', properties: { day: { type: 'string' } } }
    const { session } = update({
      voice: 'voice_abc',
      speed: 1.1,
      output: 'text',
      turnDetection: { type: 'semantic_vad', eagerness: 'low' },
      noiseReduction: 'far_field',
      transcription: { model: 'whisper-1', language: 'de' },
      tools: [{ name: 'look_up', description: 'Looks up.', parameters }],
    })
    expect(session).toMatchObject({
      output_modalities: ['text'],
      audio: {
        input: {
          noise_reduction: { type: 'far_field' },
          transcription: { model: 'whisper-1', language: 'de' },
          turn_detection: {
            type: 'semantic_vad',
            eagerness: 'low',
            create_response: false,
            interrupt_response: false,
          },
        },
        output: { voice: { id: 'voice_abc' }, speed: 1.1 },
      },
      tools: [{ type: 'function', name: 'look_up', description: 'Looks up.', parameters }],
    })
  })

  it.each([
    ['pt-BR', 'pt'],
    ['en-US', 'en'],
    ['zh-Hant', 'zh'],
    ['yue-HK', undefined],
  ])('hints at the language of %s as the server takes it, or not at all', (language, told) => {
    const { transcription } = update({ transcription: { model: null, language } }).session.audio.input
    expect(transcription.language).toBe(told)
  })

  it.each(['gpt-live-transcribe', 'gpt-transcribe'])(
    'hints at it in a list where %s writes down what is said',
    (model) => {
      const transcriptionOf = (language: string | null) =>
        update({ transcription: { model, language } }).session.audio.input.transcription
      expect(transcriptionOf('pt-BR')).toEqual({ model, languages: ['pt'] })
      expect(transcriptionOf('yue-HK')).toEqual({ model })
      expect(transcriptionOf(null)).toEqual({ model })
    },
  )
})
