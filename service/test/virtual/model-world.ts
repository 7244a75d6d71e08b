import type { Clock } from '../../src/kernel/clock.ts'
import type { Brain } from './brain.ts'

/** What a virtual model takes its time for, in ms. */
export type ModelTimes = {
  connectMs: number
  oneWayMs: number
  /** From a request to the first audio. */
  firstAudioMs: number
  deltaMs: number
  /** The pause between two deltas: audio comes faster than it plays. */
  deltaEveryMs: number
  /** How much of an answer comes before it stays away, though the connection stands; not given: all of it. */
  brokenAfterMs?: number | undefined
  silenceMs: number
  /** How much of a word is heard before it is speech. */
  onsetMs: number
  /** From a turn's end to its text, turn by turn: a long one lets the next overtake it. */
  transcriptMs: readonly number[]
}

export const TIMES: ModelTimes = {
  connectMs: 120,
  oneWayMs: 30,
  firstAudioMs: 300,
  deltaMs: 200,
  deltaEveryMs: 30,
  silenceMs: 500,
  onsetMs: 100,
  transcriptMs: [250, 1_700, 400],
}

/**
 * What becomes of an answer. silent: nothing comes of it, and nobody says why · rate_limit_exceeded: it is refused, as is told at its end ·
 * server_error: it ends in the middle · content_filter: it is kept back before its first word · max_output_tokens: it is too long ·
 * insufficient_quota: it is refused, and so would all others be · refused, limited: its request is refused by an error.
 */
export const MISHAPS = [
  ...(['silent', 'rate_limit_exceeded', 'server_error', 'content_filter', 'max_output_tokens'] as const),
  ...(['insufficient_quota', 'refused', 'limited'] as const),
] as const
export type Mishap = (typeof MISHAPS)[number]

/** An answer of the model: its number in the caller's ear, the session's id of it, its words. */
export type Answered = {
  answer: number
  responseId: string
  itemId: string
  text: string
  /** Of the session that made it, as the call counts them. */
  epoch: number
  /** What was told for it alone. */
  instructions: string | null
  /** How much audio of it was made. */
  madeMs: number
  /** When it was told to leave off. */
  cancelledAtMs: number | null
}

export type ModelWorld = {
  clock: Clock
  brain: Brain
  times: ModelTimes
  /** The words of a sound that the caller makes; empty for a cough. */
  wordsOf(sound: number): string
  /** Something goes to the service: it is run when it arrives, or never. */
  deliver(what: string, run: () => void): void
}
