import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { Arrivals } from './sequence-check.ts'

/** A distribution of delays, in ms. All 0 when `count` is 0. */
export type Delays = { count: number; p50Ms: number; p99Ms: number; maxMs: number }

/** What the load saw. Delays are of what was sent inside the window; arrivals and faults are of the whole run. */
export type LoadReport = {
  /** 50 caller frames are a second of a call. */
  callSeconds: number
  callerToModel: Delays
  firstDelta: Delays
  bargeInToClear: Delays
  /** From the first ring to the instructions for the carrier; none where calls go straight to a stream. */
  answer: Delays
  /** From the first ring to the first audio. */
  greeting: Delays
  /** From the stream's start to the first audio, a clip of the system's own among it. */
  firstWord: Delays
  /** From the end of a turn to the request for its answer, and from the sending of that to its hearing: a turn without the model. */
  ownTurn: Delays
  callsOpened: number
  /** Calls that the system under test had no room for, and said so. */
  callsRefused: number
  /** Why the first of those that went wrong did. */
  dropReasons: string[]
  up: Arrivals
  down: Arrivals
  faults: Faults
  load: LoadHealth
}

/** Faults of the system under test, by count. */
export type Faults = {
  /** Audio of one call that reached another, in either direction. */
  crossed: number
  /** Stamped audio whose other bytes had changed. */
  damaged: number
  /** Messages to a caller that no carrier would take: no JSON, another stream's id. */
  refused: number
  /** Caller frames that took more than 20 ms, a frame's own length, to the model. */
  late: number
  /** Interruptions that no `clear` answered. */
  clearsMissing: number
  /** Calls whose sockets closed before their end, or that never opened. */
  callsDropped: number
  /** Caller frames that could not be sent, because the socket took no more. */
  unsent: number
}

/** Whether the load's own timing can be believed. `lateness` is how late its beats were; `busy` the share of its core, 0 to 1. */
export type LoadHealth = { lateness: Delays; busy: number }

const LATE_US = 20_000
const REASONS_MAX = 5

/** Everything that is counted in one run. */
export class Tally {
  readonly faults: Faults = {
    crossed: 0,
    damaged: 0,
    refused: 0,
    late: 0,
    clearsMissing: 0,
    callsDropped: 0,
    unsent: 0,
  }
  readonly #callerToModel = createHistogram()
  readonly #firstDelta = createHistogram()
  readonly #bargeInToClear = createHistogram()
  readonly #answer = createHistogram()
  readonly #greeting = createHistogram()
  readonly #firstWord = createHistogram()
  readonly #ownTurn = createHistogram()
  readonly #lateness = createHistogram()
  readonly #up: Arrivals = { lost: 0, doubled: 0, reordered: 0 }
  readonly #down: Arrivals = { lost: 0, doubled: 0, reordered: 0 }
  #openUs = Number.POSITIVE_INFINITY
  #closeUs = Number.POSITIVE_INFINITY
  #framesSent = 0
  #callsOpened = 0
  #callsRefused = 0
  readonly #dropReasons: string[] = []
  #loopAtOpen = performance.eventLoopUtilization()
  #busy = 0

  /** Opens the window: what is sent from now on is measured. */
  open(): void {
    this.#openUs = nowUs()
    this.#loopAtOpen = performance.eventLoopUtilization()
  }

  /** Closes the window. What was sent before may still arrive and is still measured. */
  close(): void {
    this.#closeUs = nowUs()
    this.#busy = performance.eventLoopUtilization(this.#loopAtOpen).utilization
  }

  /** A caller frame was sent. */
  frameSent(sentUs: number): void {
    if (this.#isInside(sentUs)) this.#framesSent += 1
  }

  /** A caller frame reached the model. */
  frameArrived(sentUs: number, arrivedUs: number): void {
    if (!this.#isInside(sentUs)) return
    record(this.#callerToModel, arrivedUs - sentUs)
    if (arrivedUs - sentUs > LATE_US) this.faults.late += 1
  }

  /** The first delta of a turn reached its caller. */
  firstDeltaArrived(sentUs: number, arrivedUs: number): void {
    if (this.#isInside(sentUs)) record(this.#firstDelta, arrivedUs - sentUs)
  }

  /** A `clear` reached the caller who had cut in. */
  clearArrived(sentUs: number, arrivedUs: number): void {
    if (this.#isInside(sentUs)) record(this.#bargeInToClear, arrivedUs - sentUs)
  }

  /** A ringing call was answered with instructions. */
  answered(rungUs: number): void {
    if (this.#isInside(rungUs)) record(this.#answer, nowUs() - rungUs)
  }

  /** The first audio of a call reached its caller. */
  greetingHeard(rungUs: number, arrivedUs: number): void {
    if (this.#isInside(rungUs)) record(this.#greeting, arrivedUs - rungUs)
  }

  /** The first audio of a stream reached its caller. */
  firstWordHeard(startedUs: number, arrivedUs: number): void {
    if (this.#isInside(startedUs)) record(this.#firstWord, arrivedUs - startedUs)
  }

  /** An answer's first delta, sent at `sentUs`, reached its caller; the system under test took `ownUs` of the turn. */
  turnAnswered(sentUs: number, ownUs: number): void {
    if (this.#isInside(sentUs)) record(this.#ownTurn, ownUs)
  }

  /** A call has a stream now. */
  callOpened(): void {
    this.#callsOpened += 1
  }

  /** A call went wrong: it never opened, or its sockets closed before its end. The first reasons are kept. */
  callDropped(reason: unknown): void {
    this.faults.callsDropped += 1
    if (this.#dropReasons.length < REASONS_MAX) this.#dropReasons.push(String(reason))
  }

  /** There was no room for a call. */
  callRefused(): void {
    this.#callsRefused += 1
  }

  /** A beat of the load came `lateMs` after its time. */
  beat(lateMs: number): void {
    if (this.#isInside(nowUs())) record(this.#lateness, lateMs * 1000)
  }

  /** A call is over: adds what came, and what did not. */
  callOver(up: Arrivals, down: Arrivals): void {
    add(this.#up, up)
    add(this.#down, down)
  }

  /** The whole result. */
  report(): LoadReport {
    return {
      callSeconds: this.#framesSent / 50,
      callerToModel: delaysOf(this.#callerToModel),
      firstDelta: delaysOf(this.#firstDelta),
      bargeInToClear: delaysOf(this.#bargeInToClear),
      answer: delaysOf(this.#answer),
      greeting: delaysOf(this.#greeting),
      firstWord: delaysOf(this.#firstWord),
      ownTurn: delaysOf(this.#ownTurn),
      callsOpened: this.#callsOpened,
      callsRefused: this.#callsRefused,
      dropReasons: this.#dropReasons,
      up: this.#up,
      down: this.#down,
      faults: this.faults,
      load: { lateness: delaysOf(this.#lateness), busy: this.#busy },
    }
  }

  #isInside(sentUs: number): boolean {
    return sentUs >= this.#openUs && sentUs < this.#closeUs
  }
}

/** This process's monotonic clock, in whole µs. */
export function nowUs(): number {
  return Math.round(performance.now() * 1000)
}

function record(histogram: RecordableHistogram, delayUs: number): void {
  histogram.record(Math.max(1, Math.round(delayUs)))
}

function delaysOf(histogram: RecordableHistogram): Delays {
  if (histogram.count === 0) return { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }
  return {
    count: histogram.count,
    p50Ms: histogram.percentile(50) / 1000,
    p99Ms: histogram.percentile(99) / 1000,
    maxMs: histogram.max / 1000,
  }
}

function add(sum: Arrivals, more: Arrivals): void {
  sum.lost += more.lost
  sum.doubled += more.doubled
  sum.reordered += more.reordered
}
