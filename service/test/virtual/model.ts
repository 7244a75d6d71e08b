import type { Clock } from '../../src/kernel/clock.ts'
import type { ModelCapabilities, ModelListener, ModelSetup, RealtimeDriver } from '../../src/platform/realtime/port.ts'
import type { Brain } from './brain.ts'
import { VirtualSession } from './model-session.ts'

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

/** An answer of the model: its number in the caller's ear, the session's id of it, its words. */
export type Answered = {
  answer: number
  responseId: string
  itemId: string
  text: string
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

const CAPABILITIES: ModelCapabilities = {
  truncation: true,
  callerTranscripts: true,
  textOutput: true,
  nativeMulaw: true,
}

/**
 * A realtime model on the driver's port, in virtual time. Its ids begin anew with each session, as a provider's may: what
 * tells answers apart in the caller's ear is their number, which counts on.
 */
export class VirtualModel implements RealtimeDriver {
  readonly name = 'virtual'
  readonly capabilities = CAPABILITIES
  readonly sessions: VirtualSession[] = []
  readonly answers: Answered[] = []
  /** What a well-behaved client never asks for. */
  readonly offences: string[] = []
  readonly #world: ModelWorld

  constructor(world: ModelWorld) {
    this.#world = world
  }

  open(_setup: ModelSetup | null, listener: ModelListener): VirtualSession {
    const session = new VirtualSession(this.#world, {
      listener,
      epoch: this.sessions.length + 1,
      answers: this.answers,
      offences: this.offences,
    })
    this.sessions.push(session)
    return session
  }

  /** The session that is open; undefined when there is none. */
  get current(): VirtualSession | undefined {
    return this.sessions.findLast(({ isOpen }) => isOpen)
  }

  /** The sessions that nobody has closed, and that have not ended by themselves. */
  get openSessions(): number {
    return this.sessions.filter(({ isOpen }) => isOpen).length
  }

  /** The words of an answer, by its number in the caller's ear. */
  textOf(answer: number): string {
    return this.answers[answer]?.text ?? ''
  }
}
