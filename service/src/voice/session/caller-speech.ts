import type { Ask } from './answers.ts'

/** What the caller is saying now, or said last. `counts` is null until it is known whether it is more than a cough. */
export type CallerSpeech = {
  readonly itemId: string
  /** Where it begins in the audio that the model's session was given, with what its server puts before it. */
  readonly audioStartMs: number
  readonly startedAtMs: number
  readonly stoppedAtMs: number | null
  /** When it really ended; null until that is told. */
  readonly untilMs: number | null
  /** The same of what was over before it was told that it had begun, as of what was kept for a session. */
  readonly endedAtMs: number | null
  /** How long the caller has been heard, but for what the greeting is guarded against. */
  readonly loudMs: number
  /** How much of it we measured to be loud, guarded or not. */
  readonly measuredLoudMs: number
  /** How much of that the agent was silent in: who has spoken over it went on for so long. */
  readonly aloneLoudMs: number
  readonly lastLoudAtMs: number
  readonly overlaps: boolean
  readonly counts: boolean | null
}

/** An utterance that a sound stopped before it was heard to its end; `epoch` is the model session's that made it. */
export type StoppedPart = {
  readonly itemId: string
  readonly epoch: number
  /** How much of it was sent and heard before it is gone on with. */
  readonly sentMs: number
  readonly heardMs: number
  /** Its words that the model knows to be heard. */
  readonly told: string
}

/**
 * What a sound of the caller has stopped the agent in. silent: whether it was words is not known yet · on: none have come, and
 * the agent goes on.
 */
export type Stopped = {
  readonly phase: 'silent' | 'on'
  /** The caller's items that may still turn out to be words. */
  readonly itemIds: readonly string[]
  /** Those of them after which it has gone on: it is not silent for them any more. */
  readonly earlierIds: readonly string[]
  readonly parts: readonly StoppedPart[]
  /** What was not made any more of what the agent was saying, or about to say. */
  readonly rest: Ask | null
  /** The caller was owed an answer before the first of them. */
  readonly wasOwed: boolean
}

/**
 * A sound whose words, awaited since `sinceMs`, tell what it is. `isMeant`: it was long enough for speech, but the agent spoke, and it
 * may only say "go on". `isAnswered`: an answer was asked for since, which knows it.
 */
export type Undecided = {
  readonly itemId: string
  readonly isMeant: boolean
  readonly sinceMs: number
  readonly isAnswered?: true
}
