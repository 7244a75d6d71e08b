import type { EndReason } from './events.ts'

/** Why the agent is to speak; `thenEnd` ends the call once it has. `rest`: what a lost model left unsaid. */
export type Ask = {
  why: 'greeting' | 'turn' | 'rest' | 'tool' | 'idle' | 'goodbye' | 'say' | 'filler' | 'back'
  instructions: string | null
  thenEnd: EndReason | null
  /** What it is to be, word for word; not given: the model words it. */
  exact?: string
  /** The words of the law stand before it; not given: they do not, or need not. */
  isDisclosed?: true
  /** In place of what was begun before, which is not heard to its end otherwise: said also while the call is about to be put through. */
  isInPlace?: true
  /** How often the provider has kept its answer back for what was said in it. */
  filtered?: number
}

/** An answer that was asked for and has not begun. Abandoned: the caller spoke meanwhile, nobody wants it any more. */
export type Asked = {
  readonly requestId: string
  readonly ask: Ask
  readonly isAbandoned: boolean
  /** The same was asked for before and nothing came of it. */
  readonly isRepeat: boolean
  /** It is to be written, for the secondary provider; not given: the model says it. */
  readonly isWritten?: boolean
  /** It is to call no tool; not given: it may. */
  readonly noTools?: true
}

/** An answer in the making. `asked` is null for one that the model's server began by itself. */
export type Active = {
  readonly responseId: string
  readonly asked: Asked | null
  readonly hasAudio: boolean
  /**
   * When what was sent of it so far has been heard, monotonic ms, as it was known when the last of it left. The line does not tell it
   * any more once something else was sent behind a gap: it has no gaps.
   */
  readonly heardUntilMs: number
  /** The audio so far is all there is of its item, and nothing says that more items follow. */
  readonly isWhole: boolean
  /** The item that is whole and was only said ahead, while nothing of what follows it has sounded; null else. */
  readonly preambleId: string | null
  readonly hasTool: boolean
  readonly isCancelled: boolean
  /** Whole for long, and nothing has said that it is over. */
  readonly isOverdue: boolean
  /** It had gone silent before its end, for long, when it was cut short. */
  readonly isBroken: boolean
  /** Its items that are words and no audio. */
  readonly writtenItemIds: readonly string[]
}

/** "May the agent speak now?": at most one answer is asked for or active; the others wait in line. */
export type Answers = {
  readonly asked: Asked | null
  readonly active: Active | null
  readonly queue: readonly Ask[]
  /** How many were asked for so far. */
  readonly asks: number
  /** The model takes no requests for a moment: a timer lets them go on. */
  readonly isHeld: boolean
  readonly lastDoneId: string | null
  /** Whose usage was added up: the newest of them, for an end may be told twice. */
  readonly billedIds: readonly string[]
}
