import type { SessionEvent } from '../session/events.ts'
import { LineReading } from './line-reading.ts'
import { PartyWords } from './party-words.ts'

/** The events with which a session is told of who answered. */
type PartyEvent = Extract<SessionEvent, { type: 'party_heard' | 'party_said' }>

/** Listens to who answered a call that was placed, to the sound and to the words, for as long as the session wants to know. */
export class AnsweringEar {
  readonly line: LineReading
  readonly #words = new PartyWords()
  readonly #dispatch: (event: PartyEvent) => void

  constructor(dispatch: (event: PartyEvent) => void) {
    this.#dispatch = dispatch
    this.line = new LineReading((sound) => dispatch({ type: 'party_heard', sound }))
  }

  /** What the session was told before: the words of who answered are read behind that. */
  follow(event: SessionEvent): void {
    if (event.type !== 'model' || event.event.type !== 'caller_transcript') return
    const kind = this.#words.add(event.event.text)
    if (kind !== null) this.#dispatch({ type: 'party_said', kind })
  }
}
