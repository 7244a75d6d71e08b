import type { StreamCodec } from '../platform/telephony/port.ts'
import type { CarrierSocket, MediaPath } from './media-path.ts'
import type { SessionEvent } from './session/events.ts'

/** A carrier's end of a stream. */
export type CallStream = { codec: StreamCodec; streamSid: string; carrier: CarrierSocket & { close(): void } }

/** What one stream may say to a session: nothing any more once another one has the call. */
export type StreamLeg = {
  /** The fast path in: one frame of the caller. */
  fromCaller(payload: Buffer): void
  /** Something happened. Returns when all that follows from it at once is done. */
  dispatch(event: SessionEvent): void
}

/** The streams of a session, one after the other: the one that it has, if any, and the one that is to take its place. */
export class CallStreams {
  readonly #media: Pick<MediaPath, 'attach' | 'detach'>
  #stream: CallStream | null
  #next: CallStream | null = null

  constructor(first: CallStream, media: Pick<MediaPath, 'attach' | 'detach'>) {
    this.#stream = first
    this.#media = media
  }

  /** What of them is open. */
  get held(): string[] {
    return [...(this.#stream ? ['stream'] : []), ...(this.#next ? ['next stream'] : [])]
  }

  /** What the stream that there is now may say to its session. */
  legOf(session: StreamLeg): StreamLeg {
    const stream = this.#stream
    const isCurrent = () => stream !== null && this.#stream === stream
    return {
      fromCaller: (payload) => {
        if (isCurrent()) session.fromCaller(payload)
      },
      dispatch: (event) => {
        if (isCurrent()) session.dispatch(event)
      },
    }
  }

  /** Another stream is there, for `takeNext`. */
  offer(stream: CallStream): void {
    this.#next = stream
  }

  /** The stream that was offered has the call. */
  takeNext(): void {
    this.#stream = this.#next
    this.#next = null
    if (this.#stream) this.#media.attach(this.#stream)
  }

  /** Nobody has the call for now. */
  letGo(): void {
    const stream = this.#stream
    this.#stream = null
    this.#media.detach()
    stream?.carrier.close()
  }

  /** The session is over, and with it its stream. */
  close(): void {
    const stream = this.#stream
    this.#stream = null
    stream?.carrier.close()
  }
}
