import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AgentVersionConfig,
  AgentVersionConfig as AgentVersionConfigSchema,
  agentConfigFaults,
  withAllTexts,
} from './agent-config.ts'

const isConfig = new Ajv({ strict: false, allErrors: true }).compile<AgentVersionConfig>(AgentVersionConfigSchema)

const FULL: AgentVersionConfig = {
  agent_name: 'Robin',
  assistant_profile: 'A calm receptionist.',
  chat_model: 'chat-1',
  greeting: 'Hello, this is Robin.',
  instructions: 'Book appointments.',
  realtime_model: 'realtime-1',
  voice: 'marin',
  turn_detection: { type: 'server_vad', threshold: 0.6, prefix_padding_ms: 200, silence_duration_ms: 700 },
  interruption: {
    enabled: true,
    min_speech_ms: 2000,
    greeting_guard_ms: 0,
    backchannel_words: ['mm', 'yes'],
    resume_false_ms: 1500,
  },
  idle: { prompts: ['Are you still there?', 'Hello?'], goodbye: 'Goodbye then.' },
  speech: { language: 'pt-BR', speed: 1.1, noise_reduction: 'near_field', transcription_model: 'transcribe-1' },
  dtmf: { max_digits: 4, end_key: '*', timeout_ms: 2000 },
  voicemail: { action: 'leave_message', message: 'Please call us back.' },
  fillers: { after_ms: 1500, phrases: ['One moment.'] },
  hold_audio: 'https://example.com/hold.wav',
  tools: ['end_call', 'look_up_order'],
  criteria: [{ name: 'booked', description: 'An appointment was made.', weight: 2 }, { name: 'tone' }],
  extraction: {
    type: 'object',
    properties: { when: { $ref: '#/$defs/day' } },
    required: ['when'],
    $defs: { day: { type: 'string', format: 'date' } },
  },
  reasoning_effort: 'high',
  model_stall_ms: 5000,
  max_call_seconds: 600,
  metadata: { team: { name: 'front desk' } },
}

/** Where the schema or the rules beyond it find fault with a config. */
function faultyPaths(config: unknown): string[] {
  if (!isConfig(config)) return (isConfig.errors ?? []).map(({ instancePath }) => instancePath)
  return agentConfigFaults(config, '').map(({ path }) => path)
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : { level: deep(levels - 1) }
}

describe('an agent version config', () => {
  it('may be empty, for every member has a default', () => {
    expect(faultyPaths({})).toEqual([])
  })

  it('may set every member that the documentation names', () => {
    expect(faultyPaths(FULL)).toEqual([])
  })

  it.each(['speech', 'hold_audio', 'extraction', 'reasoning_effort', 'max_call_seconds'])(
    'takes null for %s, as if it were left out',
    (name) => {
      expect(faultyPaths({ [name]: null })).toEqual([])
    },
  )

  it.each([
    [''],
    ['/turn_detection'],
    ['/interruption'],
    ['/idle'],
    ['/speech'],
    ['/dtmf'],
    ['/voicemail'],
    ['/fillers'],
    ['/criteria/0'],
  ])('refuses a member that it does not know in "%s"', (path) => {
    const config = structuredClone(FULL)
    const parent = path
      .split('/')
      .slice(1)
      .reduce<unknown>((at, key) => Reflect.get(at as object, key), config)
    Reflect.set(parent as object, 'colour', 'blue')
    expect(faultyPaths(config)).toContain(path)
  })

  it.each<[string, unknown]>([
    ['/instructions', { instructions: 'x'.repeat(32_001) }],
    ['/voice', { voice: 7 }],
    ['/turn_detection/type', { turn_detection: { type: 'none' } }],
    ['/turn_detection/threshold', { turn_detection: { threshold: 1.1 } }],
    ['/turn_detection/eagerness', { turn_detection: { eagerness: 'high' } }],
    ['/turn_detection/threshold', { turn_detection: { type: 'semantic_vad', threshold: 0.5 } }],
    ['/turn_detection/prefix_padding_ms', { turn_detection: { type: 'semantic_vad', prefix_padding_ms: 0 } }],
    ['/turn_detection/silence_duration_ms', { turn_detection: { type: 'semantic_vad', silence_duration_ms: 500 } }],
    ['/interruption/min_speech_ms', { interruption: { min_speech_ms: 2001 } }],
    ['/idle/prompts', { idle: { prompts: ['a', 'b', 'c'] } }],
    ['/speech/speed', { speech: { speed: 2 } }],
    ['/speech/language', { speech: { language: 'en us' } }],
    ['/speech/language', { speech: { language: 'en-a' } }],
    ['/dtmf/end_key', { dtmf: { end_key: 'x' } }],
    ['/dtmf/end_key', { dtmf: { end_key: '#\n' } }],
    ['/voicemail/message', { voicemail: { action: 'leave_message' } }],
    ['/voicemail/message', { voicemail: { action: 'leave_message', message: ' ' } }],
    ['/fillers/after_ms', { fillers: { after_ms: 499 } }],
    ['/hold_audio', { hold_audio: 'file:///etc/passwd' }],
    ['/hold_audio', { hold_audio: 'music' }],
    ['/tools/0', { tools: ['drop table'] }],
    ['/tools/1', { tools: ['end_call', 'end_call'] }],
    ['/criteria/1', { criteria: [{ name: 'tone' }, { name: 'tone', weight: 2 }] }],
    ['/criteria/0/weight', { criteria: [{ name: 'tone', weight: 0 }] }],
    ['/reasoning_effort', { reasoning_effort: 'extreme' }],
    ['/reasoning_effort', { reasoning_effort: '' }],
    ['/model_stall_ms', { model_stall_ms: 999 }],
    ['/max_call_seconds', { max_call_seconds: 9 }],
    ['/metadata', { metadata: [] }],
    ['/metadata', { metadata: { notes: 'x'.repeat(16_384) } }],
    ['/metadata', { metadata: deep(9) }],
  ])('finds the fault at %s (case %#)', (path, config) => {
    expect(faultyPaths(config)).toContain(path)
  })

  it('says where it stands in what was sent', () => {
    const faults = agentConfigFaults({ turn_detection: { eagerness: 'low' } }, '/body/config')
    expect(faults).toEqual([
      { path: '/body/config/turn_detection/eagerness', message: 'is not a setting of server_vad' },
    ])
  })
})

describe('the extraction of an agent version config', () => {
  it.each<[string, Record<string, unknown>]>([
    ['describes no object', { type: 'string' }],
    ['is no JSON Schema', { type: 'object', properties: { a: { type: 'text' } } }],
    ['refers to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['refers to another document', { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }],
    ['names a dialect', { type: 'object', $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['brings a regular expression', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
    ['brings one for names', { type: 'object', patternProperties: { '^(a+)+$': {} } }],
    ['is too deep', { type: 'object', properties: { a: deep(33) } }],
    ['is too big', { type: 'object', description: 'x'.repeat(32_768) }],
  ])('is refused when it %s', (_why, extraction) => {
    expect(agentConfigFaults({ extraction }, '').map(({ path }) => path)).toEqual(['/extraction'])
  })

  it.each<[string, Record<string, unknown>]>([
    [
      'is not a JSON Schema: properties/a/type must be one of array, boolean, integer, null, number, object, string',
      { properties: { a: { type: 'text' } } },
    ],
    ['is not a JSON Schema: properties/a must be an object or true or false', { properties: { a: 'string' } }],
    ['is not a JSON Schema: properties must be an object', { properties: ['a'] }],
    ['is not a JSON Schema: required must be a list', { required: 'a' }],
    ['is not a JSON Schema: properties/a/minLength must be at least 0', { properties: { a: { minLength: -1 } } }],
    ['cannot be used: there is nothing at the $ref #/$defs/none', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['cannot be used: an enum must have at least one value', { properties: { a: { enum: [] } } }],
  ])('%s, it is told', (message, schema) => {
    const extraction = { type: 'object', ...schema }
    expect(agentConfigFaults({ extraction }, '')).toEqual([{ path: '/extraction', message }])
  })

  it('is not refused where the stored config has the same, by whatever bounds that was taken', () => {
    const heavy = { oneOf: Array.from({ length: 200 }, (_, at) => ({ const: at })), type: 'object' }
    const { oneOf, type } = heavy
    expect(agentConfigFaults({ extraction: heavy }, '')).toHaveLength(1)
    expect(agentConfigFaults({ extraction: { type, oneOf } }, '', { extraction: heavy })).toEqual([])
    expect(agentConfigFaults({ extraction: { ...heavy, title: 'a' } }, '', { extraction: heavy })).toHaveLength(1)
  })

  it('may have properties with the names of keywords', () => {
    const properties = { pattern: { type: 'string' }, $id: { type: 'string' }, type: { enum: ['a', null] } }
    expect(agentConfigFaults({ extraction: { type: 'object', properties } }, '')).toEqual([])
  })

  it('never throws, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
        expect(Array.isArray(agentConfigFaults({ extraction: { ...schema, type: 'object' } }, ''))).toBe(true)
      }),
    )
  })
})

describe('withAllTexts', () => {
  it('adds the texts that were left out as empty ones and leaves the rest alone', () => {
    expect(withAllTexts({ voice: 'marin', dtmf: { max_digits: 1 } })).toEqual({
      agent_name: '',
      assistant_profile: '',
      chat_model: '',
      greeting: '',
      instructions: '',
      realtime_model: '',
      voice: 'marin',
      dtmf: { max_digits: 1 },
    })
  })
})
