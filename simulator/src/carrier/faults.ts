/**
 * How the carrier's side of a stream goes away: `stop-and-close` is the regular end; `close-only` closes without a
 * `stop` (F5); `stop-only` leaves the socket open (F4); `fin` and `rst` cut the connection (F1, F2);
 * `black-hole` sends and reads nothing any more while the connection stands (F3).
 */
export type StreamEnding = 'stop-and-close' | 'close-only' | 'stop-only' | 'fin' | 'rst' | 'black-hole'

/** Something that is not a message of the protocol (F13). */
export type Malformation = 'not-json' | 'binary' | 'truncated' | 'no-event' | 'oversized'

/**
 * Faults of one media stream. A fault with `atMs` happens once, at the first frame at least that long after the
 * stream's start, and is then set back to null: set it again to have it again, with 0 to have it at once.
 */
export type StreamFaults = {
  /** Each frame leaves up to this much after its due time. */
  jitterMs: number
  /** How the stream ends when the call does. */
  ending: StreamEnding
  /** Share (0 to 1) of regular ends that come without a `stop` (F5). */
  stopMissingShare: number
  /** Ends the stream in the middle of the call (F1 to F5). */
  cut: { atMs: number; how: StreamEnding } | null
  /** Whether the carrier goes on to the verb after `<Connect>` when the socket was lost, or leaves the call silent. */
  afterLoss: 'next-verb' | 'silence'
  /** A second `start` on the same socket (F6). */
  secondStart: { atMs: number } | null
  /** Media frames sent before `start` (F7). */
  mediaBeforeStart: number
  /** Whether marks are echoed at all (F8), and how late (F9). */
  marksEchoed: boolean
  marksLateMs: number
  /** Audio lost on its way to the carrier: the timestamps jump (F10). */
  timestampJump: { atMs: number; byMs: number } | null
  /** No media for a while, as of a caller on hold (F11). */
  mediaPause: { atMs: number; forMs: number } | null
  /** Frames in which the caller is silent are not sent at all. */
  skipSilentFrames: boolean
  /** The carrier stops reading for a while (F12). */
  slowReader: { atMs: number; forMs: number } | null
  /** A malformed message (F13). */
  malformed: { atMs: number; kind: Malformation } | null
  /** So many frames at once (F14). */
  burst: { atMs: number; frames: number } | null
}

/** What the REST surface does with a request; `normal` answers it. All but the cuts are read before anything is done. */
export type RestFault =
  | 'normal'
  | 'rate-limited' // F15: 429, code 20429, nothing done.
  | 'internal-error' // F16: 500, code 20500, nothing done.
  | 'accept-then-reset' // F17: done, and the connection reset before an answer.
  | 'accept-then-hang' // F18: done, and no answer for `hangMs`.
  | 'unauthorized' // F19: 401, code 20003.
  | 'invalid-number' // F20: 400, code 21211.

/**
 * Faults of the REST surface. A name that does not resolve (F22) and a failed TLS handshake (F23) are had by giving
 * the client such an address: nothing of this carrier answers there.
 */
export type RestFaults = {
  create: RestFault
  modify: RestFault
  /** Of one call, and of lists of calls and of numbers. */
  fetch: RestFault
  /** How many more requests the three faults above strike; `Infinity` until set back. */
  strikes: number
  hangMs: number
  /** Ending or redirecting answers 404 with code 20404, as for a call that is over (F21); nothing is done. */
  endedOnModify: boolean
  /** A call appears in lists this long after it was made. */
  listLagMs: number
}

/** Faults of the callbacks of a call. */
export type CallbackFaults = {
  /** How often each callback is sent; more than 1 is F24. */
  copies: number
  /** `reversed` sends all of them at the end, last first (F25); `completed-first` holds the others until then (F26). */
  order: 'as-fired' | 'reversed' | 'completed-first'
  /** `never` sends none (F27). */
  delivery: 'normal' | 'never'
  /** Each callback is sent this much later (F28). */
  delayMs: number
  /** The signature of callbacks, voice webhooks and stream handshakes (F29). */
  signature: 'valid' | 'forged' | 'missing'
}

/** Faults of one call: its own copies, which may be changed while it runs. */
export type CallFaults = { stream: StreamFaults; callbacks: CallbackFaults }

/** Faults of a carrier. `stream` and `callbacks` are what the next calls start with; `rest` holds at once. */
export type Faults = CallFaults & { rest: RestFaults }

/** Some of the switches of a carrier. */
export type FaultOptions = {
  stream?: Partial<StreamFaults>
  callbacks?: Partial<CallbackFaults>
  rest?: Partial<RestFaults>
}

/** The switches of a carrier on a good day, with those that are given changed. */
export function makeFaults(options: FaultOptions = {}): Faults {
  return {
    stream: {
      jitterMs: 3,
      ending: 'stop-and-close',
      stopMissingShare: 0,
      cut: null,
      afterLoss: 'next-verb',
      secondStart: null,
      mediaBeforeStart: 0,
      marksEchoed: true,
      marksLateMs: 0,
      timestampJump: null,
      mediaPause: null,
      skipSilentFrames: false,
      slowReader: null,
      malformed: null,
      burst: null,
      ...options.stream,
    },
    callbacks: {
      copies: 1,
      order: 'as-fired',
      delivery: 'normal',
      delayMs: 0,
      signature: 'valid',
      ...options.callbacks,
    },
    rest: {
      create: 'normal',
      modify: 'normal',
      fetch: 'normal',
      strikes: Number.POSITIVE_INFINITY,
      hangMs: 30_000,
      endedOnModify: false,
      listLagMs: 2000,
      ...options.rest,
    },
  }
}

/** A call's own copy of its carrier's switches. */
export function copyFaults(faults: Faults): CallFaults {
  return { stream: structuredClone(faults.stream), callbacks: structuredClone(faults.callbacks) }
}
