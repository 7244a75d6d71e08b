import { describe, expect, it } from 'vitest'
import { agentConfigDefaults } from './agent-config-defaults.ts'

describe('agentConfigDefaults', () => {
  it('gives an empty config the documented defaults', () => {
    expect(agentConfigDefaults({})).toMatchObject({
      greeting: '',
      turn_detection: { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 },
      interruption: {
        enabled: true,
        min_speech_ms: 300,
        greeting_guard_ms: 1000,
        backchannel_words: [],
        resume_false_ms: 2000,
      },
      idle: { prompts: [], goodbye: null },
      speech: { language: null, speed: 1, noise_reduction: null, transcription_model: null },
      dtmf: { max_digits: 20, end_key: '#', timeout_ms: 3000 },
      voicemail: { action: 'hang_up' },
      fillers: { after_ms: 2000, phrases: [] },
      hold_audio: null,
      tools: ['end_call', 'escalate_to_human', 'schedule_callback', 'record_outcome', 'add_to_dnc'],
      criteria: [{ name: 'helpfulness' }, { name: 'accuracy' }, { name: 'tone' }],
      extraction: null,
      reasoning_effort: null,
      model_stall_ms: 6000,
      max_call_seconds: null,
      metadata: {},
    })
  })

  it('keeps what is set inside an object and fills in what is beside it', () => {
    const { dtmf, criteria } = agentConfigDefaults({ dtmf: { max_digits: 4 }, criteria: [{ name: 'booked' }] })
    expect(dtmf).toEqual({ max_digits: 4, end_key: '#', timeout_ms: 3000 })
    expect(criteria).toEqual([{ name: 'booked', description: '', weight: 1 }])
  })

  it('gives the model to decide about turns only the settings of that', () => {
    const { turn_detection } = agentConfigDefaults({ turn_detection: { type: 'semantic_vad' } })
    expect(turn_detection).toEqual({ type: 'semantic_vad', eagerness: 'auto' })
  })

  it('takes blanks alone for nothing: whoever is told to say them says something else, and no voice is called so', () => {
    const complete = agentConfigDefaults({
      ...{ greeting: ' ', voice: ' ', realtime_model: '\t', chat_model: ' ', agent_name: ' ' },
      idle: { prompts: ['\n', 'Are you there?'], goodbye: '  ' },
      fillers: { phrases: ['\t', 'One moment.'] },
      speech: { transcription_model: ' ' },
    })
    expect(complete).toMatchObject({
      ...{ greeting: '', voice: '', realtime_model: '', chat_model: '', agent_name: '' },
      idle: { prompts: ['', 'Are you there?'], goodbye: null },
      fillers: { after_ms: 2000, phrases: ['One moment.'] },
      speech: { transcription_model: null },
    })
  })

  it('takes an empty list of tools as none, not as the default', () => {
    expect(agentConfigDefaults({ tools: [] }).tools).toEqual([])
  })

  it('shares nothing with the config it was made from, and nothing of it can be changed', () => {
    const config = { metadata: { team: { name: 'front desk' } } }
    const complete = agentConfigDefaults(config)
    config.metadata.team.name = 'back office'
    expect(complete.metadata).toEqual({ team: { name: 'front desk' } })
    expect(() => complete.criteria.push({ name: 'late', description: '', weight: 1 })).toThrow(TypeError)
    const { team } = complete.metadata
    expect(() => Object.assign(team as object, { name: 'x' })).toThrow(TypeError)
  })
})
