import type { SimulatedCall } from '../../../simulator/src/carrier/simulated-call.ts'

/** A stream of a call as its carrier saw it; instants in ms of the machine's clock, null for what was not yet. */
export type SeenStream = { startedMs: number; firstMediaMs: number | null; endedMs: number | null }

/** A call as its carrier saw it. Plain data: it is handed to another process. */
export type SeenCall = {
  sid: string
  status: string
  /** Who ended it, and when. */
  endedBy: string | null
  endedMs: number | null
  streams: SeenStream[]
  /** When the caller began and ended each thing that it said. */
  talked: { beganMs: number; endedMs: number | null }[]
}

type WatchedCall = Pick<SimulatedCall, 'sid' | 'status' | 'streams' | 'watch'>

/** Notes when streams of a call began, when the first audio of ours came over each, and when the caller spoke. */
export class CallWatch {
  readonly #call: WatchedCall
  readonly #seen: Omit<SeenCall, 'sid' | 'status'> = { endedBy: null, endedMs: null, streams: [], talked: [] }

  constructor(call: WatchedCall, nowMs: () => number) {
    this.#call = call
    call.watch((event) => {
      const { streams, talked } = this.#seen
      const [stream, talk] = [streams.at(-1), talked.at(-1)]
      if (event.kind === 'stream-started') streams.push({ startedMs: nowMs(), firstMediaMs: null, endedMs: null })
      if (event.kind === 'stream-ended' && stream) stream.endedMs = nowMs()
      if (event.kind === 'caller-began') talked.push({ beganMs: nowMs(), endedMs: null })
      if (event.kind === 'caller-ended' && talk) talk.endedMs = nowMs()
      if (event.kind === 'hang-up') Object.assign(this.#seen, { endedBy: event.by, endedMs: nowMs() })
    })
  }

  /** To be called often: the carrier counts what came, and tells nobody when. */
  look(nowMs: number): void {
    const stream = this.#seen.streams.at(-1)
    const counts = this.#call.streams[this.#seen.streams.length - 1]
    if (stream && stream.firstMediaMs === null && counts && counts.receivedBytes > 0) stream.firstMediaMs = nowMs
  }

  seen(): SeenCall {
    const { sid, status } = this.#call
    return { sid, status, ...this.#seen }
  }
}
