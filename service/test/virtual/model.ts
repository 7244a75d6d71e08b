import type { ModelCapabilities, ModelListener, ModelSetup, RealtimeDriver } from '../../src/platform/realtime/port.ts'
import { VirtualSession } from './model-session.ts'
import type { Answered, Mishap, ModelWorld } from './model-world.ts'

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
  /** When sessions were closed in the middle of an answer that had called a tool. */
  readonly leftCalling: number[] = []
  /** What becomes of the next answers, one after the other. */
  readonly mishaps: Mishap[] = []
  /** The answer whose words arrived last in place of audio. */
  lastWritten = 0
  /** How much audio was told to be used by answers whose end has arrived. */
  usedSeconds = 0
  readonly #world: ModelWorld

  constructor(world: ModelWorld) {
    this.#world = world
  }

  /** @param epoch by which the call knows the session; not given: it counts those that were opened. */
  open(_setup: ModelSetup | null, listener: ModelListener, epoch = this.sessions.length + 1): VirtualSession {
    const { answers, offences, mishaps, leftCalling } = this
    const written = (answer: number) => {
      this.lastWritten = answer
    }
    const session = new VirtualSession(this.#world, {
      listener,
      epoch,
      answers,
      offences,
      mishaps,
      leftCalling,
      written,
      used: (seconds) => {
        this.usedSeconds += seconds
      },
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
