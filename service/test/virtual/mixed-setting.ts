import fc from 'fast-check'
import type { PlannedClip } from '../../src/voice/session/plan.ts'

/**
 * How a call is set up besides what its plan always has, and how its line is. `marks`: whether their echoes come as they are played · `gaps`:
 * stretches of the caller's audio that never arrive.
 */
export type Setting = {
  marks: 'played' | 'late' | 'twice' | 'never'
  gaps: { fromMs: number; forMs: number }[]
  backchannels: string[]
  clips: PlannedClip['kind'][]
  disclosure: string | null
  fillers: { afterMs: number; phrases: string[] }
  prompts: string[]
  goodbye: string
  budgetUsd: number | null
  budgetMs: number | null
  readsParty: boolean
  voicemail: string | null
  /** What its model cannot do. */
  lacks: ('truncation' | 'callerTranscripts')[]
  dtmf: { maxDigits: number; endKey: string; timeoutMs: number }
  isResumable: boolean
  fallbackNumber: string | null
  /** What another node has left of the call; null: it begins here. */
  before: Before | null
}

/** What the agent has otherwise to whom a call is handed. */
export type Other = Pick<Setting, 'fillers' | 'prompts' | 'goodbye' | 'backchannels'> & {
  minSpeechMs: number
  resumeFalseMs: number
  idleMs: number
  maxCallMs: number
  clips: PlannedClip['kind'][]
}

/** The last that was said, or done, on another node. */
export type Before =
  | 'disclosing'
  | 'handed over'
  | 'greeted'
  | 'cut'
  | 'asked'
  | 'unwritten'
  | 'taken over'
  | 'put through'
  | 'tool'
const BEFORE: readonly Before[] = [
  'disclosing',
  'handed over',
  'greeted',
  'cut',
  'asked',
  'unwritten',
  'taken over',
  'put through',
  'tool',
]

/** That of a call in which nothing of it happens. */
export const PLAIN: Setting = {
  ...{ marks: 'played', gaps: [], backchannels: [], clips: [], disclosure: null },
  ...{ fillers: { afterMs: 2_000, phrases: [] }, prompts: [], goodbye: '' },
  ...{ budgetUsd: null, budgetMs: null, readsParty: false, voicemail: null },
  ...{ lacks: [], dtmf: { maxDigits: 20, endKey: '#', timeoutMs: 3_000 }, isResumable: true, fallbackNumber: null },
  before: null,
}

const CLIPS: readonly PlannedClip['kind'][] = ['disclosure', 'greeting', 'apology', 'filler']
/** How long each of the clips is. */
export const CLIP_MS = 1_200

/** By this the turns go that stood in a record from the beginning on. */
export const BEGUN = 'begun'

/** What the law wants said. */
export const LAW = 'This is an artificial voice.'

const ms = (min: number, max: number) => fc.integer({ min, max })
const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 })

/** Any of them. */
export const settings: fc.Arbitrary<Setting> = fc.record({
  marks: fc.constantFrom('played' as const, 'played' as const, 'late' as const, 'twice' as const, 'never' as const),
  gaps: fc.array(fc.record({ fromMs: ms(0, 60_000), forMs: ms(40, 9_000) }), { maxLength: 2 }),
  backchannels: fc.constantFrom([], ['mhm', 'uh huh']),
  clips: fc.constantFrom<Setting['clips']>([], [], ['disclosure'], ['filler', 'apology'], [...CLIPS]),
  disclosure: fc.constantFrom(null, LAW),
  fillers: fc.record({ afterMs: fc.constantFrom(500, 2_000), phrases: fc.constantFrom([], ['Bear with me.']) }),
  prompts: fc.constantFrom([], ['Are you with me?', 'Hello?']),
  goodbye: fc.constantFrom('', 'Until next time.'),
  budgetUsd: seldom(fc.constantFrom(0.0004, 0.001, 0.002)),
  budgetMs: seldom(ms(8_000, 60_000)),
  readsParty: fc.boolean(),
  voicemail: fc.constantFrom(null, 'Please call us back when you can, as we have something to tell you.'),
  lacks: fc.constantFrom<Setting['lacks']>([], [], [], ['truncation'], ['callerTranscripts']),
  dtmf: fc.record({
    maxDigits: fc.constantFrom(1, 4, 20),
    endKey: fc.constantFrom('#', '*'),
    timeoutMs: ms(300, 4_000),
  }),
  isResumable: ms(0, 5).map((n) => n > 0),
  fallbackNumber: fc.constantFrom(null, '+12025550199'),
  before: fc.option(fc.constantFrom(...BEFORE), { freq: 2 }),
})

/** Any other agent. */
export const others: fc.Arbitrary<Other> = fc.record({
  fillers: fc.record({ afterMs: fc.constantFrom(500, 2_000), phrases: fc.constantFrom([], ['A moment.']) }),
  prompts: fc.constantFrom([], ['Is anybody there?', 'Hello there?']),
  goodbye: fc.constantFrom('', 'See you soon.'),
  backchannels: fc.constantFrom([], ['mhm', 'uh huh']),
  minSpeechMs: fc.constantFrom(0, 300, 600),
  resumeFalseMs: fc.constantFrom(0, 500, 2_000),
  idleMs: fc.constantFrom(9_000, 30_000),
  maxCallMs: fc.constantFrom(10_000, 240_000),
  clips: fc.constantFrom<Setting['clips']>([], ['filler'], ['filler', 'apology']),
})
