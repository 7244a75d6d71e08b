import fc from 'fast-check'
import type { ModelFault } from '../../src/platform/realtime/port.ts'
import type { VoiceFault } from '../../src/platform/speech/streamed-port.ts'
import type { PartySaid } from '../../src/voice/answer/party-words.ts'
import type { Ahead } from './brain.ts'
import type { Act } from './caller.ts'
import { type Other, others, type Setting, settings } from './mixed-setting.ts'
import { MISHAPS, type Mishap, type ModelTimes } from './model-world.ts'
import type { Saying } from './person.ts'
import type { SpeechTimes } from './speech-stream.ts'
import type { RestTimes, Target } from './targets.ts'

/** What happens to a call besides what its caller does. */
export type Incident =
  | { type: 'listen'; forMs: number }
  | { type: 'whisper' | 'say' | 'unmute' | 'transfer' | 'end' | 'expire' | 'hang_up' }
  | { type: 'mute'; forMs: number }
  | { type: 'take_over'; forMs: number; how: 'released' | 'lost'; sayings: Saying[] }
  | { type: 'shut_down'; how: 'end' | 'kept' | 'taken' | 'stopped'; afterMs: number }
  | { type: 'lose_model'; how: 'retry' | 'fatal' | 'hole' }
  | { type: 'mishap'; what: Mishap }
  | { type: 'lose_stream'; forMs: number }
  | { type: 'backlog'; forMs: number }
  /** Told by a model's server out of turn, or done by it. */
  | { type: 'trouble'; code: string; fault: ModelFault }
  | { type: 'rate_limited'; resetMs: number }
  | { type: 'own_answer' }
  /** Of who answered: by the carrier, or by their words, or a tone. */
  | { type: 'machine'; kind: string }
  | { type: 'party'; kind: PartySaid | 'beep' }

const TOOLS = [
  ...([
    'look_up',
    'check',
    'pause',
    'go_on',
    'press',
    'hand_off',
    'transfer',
    'warm_transfer',
    'warm_transfer',
  ] as const),
  'end_call',
] as const
export type ToolName = (typeof TOOLS)[number]

/** A call with all that happens in it; the same one runs the same way. */
export type MixedCall = {
  script: Act[]
  /** `also`: a second tool, called with the first. `ahead`: something is said ahead of it, and thought about it behind that. */
  answers: {
    length: number
    tool: ToolName | null
    also: ToolName | null
    alsoAfterMs?: number
    ahead?: Omit<Ahead, 'text'> | null | undefined
  }[]
  incidents: { afterMs: number; incident: Incident }[]
  tools: { ms: number; isFailing: boolean; isTimeout?: boolean }[]
  targets: Target[]
  rest: RestTimes
  speech: SpeechTimes[] | null
  times: Partial<ModelTimes>
  carrierDelayMs: number
  setting?: Setting
  /** So long its caller says nothing at first, and nothing else happens. */
  silentMs?: number | null
  /** What is otherwise with the agent to whom the call is handed; not given: nothing. */
  other?: Other
  /** Which agent has it from the beginning on: that to whom it was handed on an earlier node. */
  isOthers?: boolean
  /** How it moves on to another node, and what happens to it there; null, or not given: it does not. */
  next?: Move | null
  /** What it calls behind words that it was told to say, in turn. Default: nothing. */
  behindTold?: (ToolName | null)[]
  plan: {
    maxCallMs: number
    modelSessionMs: number
    minSpeechMs: number
    resumeFalseMs: number
    idleMs: number
    hasFallback: boolean
    holdsForTools: boolean
    greeting: string
  }
}

/**
 * A call goes on at another node: after so long, unless it is over, and so long behind that. taken: it was handed over · killed: its process was
 * gone at once. The rest: what happens to it there.
 */
export type Move = { afterMs: number; how: 'taken' | 'killed'; gapMs: number } & Pick<
  MixedCall,
  'script' | 'answers' | 'incidents' | 'tools' | 'targets' | 'next'
>

const ms = (min: number, max: number) => fc.integer({ min, max })

const cues = fc.oneof(
  ms(100, 3_000).map((afterSilenceMs) => ({ afterSilenceMs })),
  ms(20, 4_000).map((intoSpeechMs) => ({ intoSpeechMs })),
  ms(0, 6_000).map((afterMs) => ({ afterMs })),
)

/** What whoever listens says. */
export const MHM = 'Mhm.'

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ cue: cues, forMs: ms(150, 2_500) }).map((act) => ({ ...act, say: 'And then?' })),
  },
  { weight: 2, arbitrary: fc.record({ cue: cues, forMs: ms(250, 900) }).map((act) => ({ ...act, say: MHM })) },
  { weight: 1, arbitrary: fc.record({ cue: cues, cough: ms(40, 800) }) },
  { weight: 1, arbitrary: fc.record({ cue: cues, press: fc.constantFrom('1', '12#', '#', '12345678') }) },
)

const sayings: fc.Arbitrary<Saying[]> = fc
  .array(fc.record({ pauseMs: ms(600, 3_000), forMs: ms(300, 2_000) }), { maxLength: 3 })
  .map((all) => {
    let atMs = 0
    return all.map(({ pauseMs, forMs }, index) => {
      const afterMs = atMs + pauseMs
      atMs = afterMs + forMs
      return { afterMs, forMs, text: `Sentence ${index + 1} of a colleague.` }
    })
  })

/** What a provider says of what it was asked, or of itself, that belongs to no answer. */
const TROUBLES: readonly { code: string; fault: ModelFault }[] = [
  { code: 'item_truncate_invalid_item_id', fault: 'benign' },
  { code: 'input_audio_buffer_commit_empty', fault: 'benign' },
  { code: 'response_cancel_not_active', fault: 'benign' },
  { code: 'conversation_already_has_active_response', fault: 'benign' },
  { code: 'invalid_value', fault: 'setup' },
  { code: 'server_error', fault: 'retry' },
  { code: 'insufficient_quota', fault: 'fatal' },
]

const incidents: fc.Arbitrary<Incident> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ type: fc.constant('listen' as const), forMs: ms(100, 30_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('whisper' as const, 'say' as const, 'unmute' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('mute' as const), forMs: ms(100, 15_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('take_over' as const),
      forMs: ms(100, 15_000),
      how: fc.constantFrom('released' as const, 'lost' as const),
      sayings,
    }),
  },
  { weight: 2, arbitrary: fc.constant<Incident>({ type: 'transfer' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('shut_down' as const),
      how: fc.constantFrom('end' as const, 'kept' as const, 'taken' as const, 'stopped' as const),
      afterMs: ms(50, 20_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('lose_model' as const),
      how: fc.constantFrom('retry' as const, 'retry' as const, 'fatal' as const, 'hole' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Incident>({ type: 'expire' }, { type: 'end' }, { type: 'hang_up' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('mishap' as const),
      what: fc.constantFrom(...MISHAPS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('lose_stream' as const), forMs: ms(50, 18_000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('backlog' as const), forMs: ms(50, 7_000) }) },
  { weight: 1, arbitrary: fc.constantFrom(...TROUBLES).map((trouble) => ({ type: 'trouble' as const, ...trouble })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rate_limited' as const), resetMs: ms(100, 20_000) }) },
  { weight: 1, arbitrary: fc.constant<Incident>({ type: 'own_answer' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('machine' as const),
      kind: fc.constantFrom('machine_start', 'machine_end_beep', 'machine_end_silence', 'fax'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('party' as const),
      kind: fc.constantFrom<PartySaid | 'beep'>('voicemail', 'screening', 'ivr', 'waiting', 'other', 'beep'),
    }),
  },
)

const targets: fc.Arbitrary<Target> = fc.record({
  answersMs: fc.option(ms(300, 15_000)),
  isBusy: fc.boolean(),
  listensMs: ms(0, 12_000),
  key: fc.constantFrom('1', '1', '1', '2', null),
  talksMs: ms(-600, 12_000),
})

const faults = fc.constantFrom<VoiceFault>('handshake', 'silent', 'refused', 'unfit', 'lost')
const speech: fc.Arbitrary<SpeechTimes[] | null> = fc.option(
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ connectMs: ms(20, 400), chunkMs: ms(50, 600) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          connectMs: ms(20, 400),
          chunkMs: ms(50, 600),
          failsAs: faults,
          failsAfterMs: ms(20, 5_000),
        }),
      },
    ),
    { minLength: 1, maxLength: 6 },
  ),
  { freq: 2 },
)

/** The longest outlast a hand-off, a takeover, and the call. */
const toolTimes = fc.oneof(ms(0, 400), ms(0, 9_000), ms(5_000, 45_000))

type Happening = Pick<MixedCall, 'script' | 'answers' | 'incidents' | 'tools' | 'targets'>

const happenings: fc.Arbitrary<Happening> = fc.record({
  script: fc.array(acts, { minLength: 1, maxLength: 8 }),
  answers: fc.array(
    fc.record({
      length: ms(1, 4),
      tool: fc.option(fc.constantFrom(...TOOLS), { freq: 3 }),
      also: fc.option(fc.constantFrom(...TOOLS), { freq: 2 }),
      alsoAfterMs: fc.constantFrom(0, 0, 40, 300, 1_200),
      // Behind the way that an echo of these words takes, for as long as a model may be silent, or longer.
      ahead: fc.option(fc.record({ thinkMs: ms(1_500, 8_000), isNamed: fc.boolean() }), { freq: 2 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  incidents: fc.array(fc.record({ afterMs: ms(0, 12_000), incident: incidents }), { maxLength: 5 }),
  tools: fc.array(fc.record({ ms: toolTimes, isFailing: fc.boolean(), isTimeout: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  targets: fc.array(targets, { minLength: 1, maxLength: 3 }),
})

const facts = fc.record({
  rest: fc.record({ restMs: ms(20, 1_500), isRefused: ms(0, 9).map((n) => n === 0) }),
  speech,
  times: fc.record({
    connectMs: ms(50, 1_500),
    oneWayMs: ms(1, 80),
    onsetMs: fc.constantFrom(60, 100, 200, 300),
    firstAudioMs: ms(50, 2_500),
    deltaEveryMs: ms(5, 150),
    transcriptMs: fc.array(ms(0, 3_000), { minLength: 1, maxLength: 3 }),
  }),
  carrierDelayMs: ms(0, 75),
  setting: settings,
  silentMs: fc.option(ms(6_000, 16_000), { freq: 2 }),
  other: others,
  behindTold: fc.array(fc.option(fc.constantFrom<ToolName>('end_call', 'look_up', 'hand_off'), { freq: 2 }), {
    minLength: 1,
    maxLength: 4,
  }),
  plan: fc.record({
    maxCallMs: ms(15_000, 120_000),
    modelSessionMs: fc.oneof(ms(4_000, 40_000), fc.constant(3_000_000)),
    minSpeechMs: fc.constantFrom(0, 300, 600),
    resumeFalseMs: fc.constantFrom(0, 500, 2_000),
    idleMs: fc.constantFrom(9_000, 15_000, 30_000),
    hasFallback: fc.boolean(),
    holdsForTools: fc.boolean(),
    greeting: fc.constantFrom('', 'Welcome to the Blue Door. What can I do for you?'),
  }),
})

const moves = fc.record({
  afterMs: ms(300, 30_000),
  how: fc.constantFrom('taken' as const, 'killed' as const),
  gapMs: ms(300, 6_000),
})

/** Half of them go on at another node unless they are over by then, and half of these at a third. */
const mixedCalls: fc.Arbitrary<MixedCall> = fc
  .tuple(
    happenings,
    facts,
    fc.option(fc.tuple(moves, happenings), { freq: 2 }),
    fc.option(fc.tuple(moves, happenings), { freq: 2 }),
  )
  .map(([happens, call, first, second]) => ({
    ...happens,
    ...call,
    next: first && moveOf(first, second && moveOf(second, null)),
  }))

function moveOf([move, happens]: [Omit<Move, keyof Happening>, Happening], next: Move | null): Move {
  return { ...move, ...happens, next }
}

/** The call of a seed, always the same one. */
export function mixedCallOf(seed: number): MixedCall {
  const [call] = fc.sample(mixedCalls, { seed, numRuns: 1 })
  if (!call) throw new Error('a seed has a call')
  return call
}
