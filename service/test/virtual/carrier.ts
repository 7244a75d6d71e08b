import type { Cancel, Clock } from '../../src/kernel/clock.ts'
import { mediaStreamsCodec } from '../../src/platform/telephony/twilio/codec.ts'
import type { CarrierSocket } from '../../src/voice/media-path.ts'
import { voiceIn } from './audio.ts'

export const STREAM_SID = 'MZ1'

/** What came down to the carrier, in the order in which it was sent. */
export type Sent = { atMs: number } & (
  | { type: 'media'; answer: number; ms: number }
  /** A sound of the service's own: the caller hears it, and no words. */
  | { type: 'sound'; ms: number }
  /** Somebody who has taken the call over. */
  | { type: 'person'; ms: number }
  | { type: 'mark'; name: string }
  | { type: 'clear' }
)

/** A stretch of an answer as the caller hears it. */
export type Stretch = Span & { answer: number }

/** From when until when. */
export type Span = { startMs: number; endMs: number }

type Frame = { event: string; media?: { payload: string }; mark?: { name: string } }
type Mark = { name: string; dueMs: number; cancel: Cancel }

type Deps = {
  clock: Clock
  /** How long a message takes in each direction; asked for each, and never overtaking. */
  delayMs(): number
  /** An echo of a mark arrives at the service. */
  echo(name: string): void
}

/** What a dead peer's kernel still takes. */
const KERNEL_BYTES = 128 * 1024

/**
 * A carrier's end of a media stream: a play-out buffer in real time, marks echoed when the audio before them has played, all
 * of them at once on `clear`. It remembers what was sent and what the caller heard.
 */
export class VirtualCarrier {
  readonly sent: Sent[] = []
  /** What was still sent when its socket was gone. */
  readonly lost: Sent[] = []
  readonly codec = mediaStreamsCodec
  readonly #deps: Deps
  readonly #cancels = new Set<Cancel>()
  #stretches: Stretch[] = []
  /** When the caller hears something, whatever it is. */
  #sounds: Span[] = []
  #marks: Mark[] = []
  readonly #cuts = new Map<number, number>()
  #lastDownMs = 0
  #lastUpMs = 0
  #playsUntilMs = 0
  #isHole = false
  #swallowedBytes = 0
  #isClosed = false
  closes = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  readonly socket: CarrierSocket & { close(): void } = {
    send: (parts) => this.#send(Buffer.concat(parts)),
    sendAll: (messages) => {
      for (const parts of messages) this.#send(Buffer.concat(parts))
    },
    bufferedBytes: () => Math.max(0, this.#swallowedBytes - KERNEL_BYTES),
    close: () => {
      this.closes += 1
      this.close()
    },
  }

  /** How long a message takes from here to there, or back. */
  delayMs(): number {
    return this.#deps.delayMs()
  }

  /** What the caller has heard so far, in order. */
  get heard(): Stretch[] {
    return until(this.#stretches, this.#deps.clock.monotonicMs())
  }

  /** When the caller has heard something, in order; music and a person's voice, too. */
  get sounds(): Span[] {
    return until(this.#sounds, this.#deps.clock.monotonicMs())
  }

  /** How much of an answer the caller has heard. */
  heardMs(answer: number): number {
    return this.heard
      .filter((one) => one.answer === answer)
      .reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  }

  /** How often a `clear`, or the end of the stream, came while the caller heard an answer. */
  cutsOf(answer: number): number {
    return this.#cuts.get(answer) ?? 0
  }

  /** The answer that the caller hears now; null while it is quiet. */
  playing(): number | null {
    const nowMs = this.#deps.clock.monotonicMs()
    const last = this.#stretches.findLast(({ startMs, endMs }) => startMs <= nowMs && nowMs < endMs)
    return last?.answer ?? null
  }

  /** The socket is gone: nothing goes up or down any more, and the caller hears no more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cut(this.#deps.clock.monotonicMs())
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
    for (const { cancel } of this.#marks) cancel()
    this.#marks = []
  }

  /** The network swallows everything from now on, and nobody is told. */
  fallIntoHole(): void {
    this.close()
    this.#isHole = true
  }

  /** Play-out stands still for `ms`, in the middle of what it plays. */
  stall(ms: number): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#playsUntilMs <= nowMs) return
    this.#stretches = this.#stretches.flatMap((one) => split(one, nowMs)).map((one) => later(one, nowMs, ms))
    this.#playsUntilMs += ms
    const marks = this.#marks
    this.#marks = []
    for (const { name, dueMs, cancel } of marks) {
      cancel()
      this.#echoAt(name, dueMs > nowMs ? dueMs + ms : dueMs)
    }
  }

  #send(frame: Buffer): void {
    if (this.#isHole) this.#swallowedBytes += frame.length
    const message = this.#read(frame)
    if (this.#isClosed) return void this.lost.push(message)
    const { clock } = this.#deps
    this.sent.push(message)
    this.#lastDownMs = Math.max(this.#lastDownMs, clock.monotonicMs() + this.#deps.delayMs())
    this.#after(this.#lastDownMs, () => this.#arrived(message))
  }

  #read(frame: Buffer): Sent {
    const { event, media, mark } = JSON.parse(frame.toString('utf8')) as Frame
    const atMs = this.#deps.clock.monotonicMs()
    if (media) {
      const { voice, ms } = voiceIn(media.payload)
      if (typeof voice === 'object') return { type: 'media', atMs, answer: voice.answer, ms }
      return { type: voice === 'person' ? 'person' : 'sound', atMs, ms }
    }
    if (mark) return { type: 'mark', atMs, name: mark.name }
    if (event !== 'clear') throw new Error(`a carrier knows no ${event}`)
    return { type: 'clear', atMs }
  }

  #arrived(message: Sent): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if ('ms' in message) this.#play(message, nowMs)
    else if (message.type === 'mark') this.#echoAt(message.name, Math.max(nowMs, this.#playsUntilMs))
    else this.#clear(nowMs)
  }

  #play(message: Extract<Sent, { ms: number }>, nowMs: number): void {
    const startMs = Math.max(nowMs, this.#playsUntilMs)
    const endMs = startMs + message.ms
    this.#playsUntilMs = endMs
    this.#sounds.push({ startMs, endMs })
    if (message.type === 'media') this.#stretches.push({ answer: message.answer, startMs, endMs })
  }

  #clear(nowMs: number): void {
    this.#cut(nowMs)
    const marks = this.#marks
    this.#marks = []
    for (const { name, cancel } of marks) {
      cancel()
      this.#up(name)
    }
  }

  #cut(nowMs: number): void {
    const heard = this.playing()
    if (heard !== null) this.#cuts.set(heard, this.cutsOf(heard) + 1)
    this.#stretches = until(this.#stretches, nowMs)
    this.#sounds = until(this.#sounds, nowMs)
    this.#playsUntilMs = nowMs
  }

  #echoAt(name: string, dueMs: number): void {
    const mark: Mark = { name, dueMs, cancel: () => {} }
    mark.cancel = this.#after(dueMs, () => {
      this.#marks = this.#marks.filter((one) => one !== mark)
      this.#up(name)
    })
    this.#marks.push(mark)
  }

  #up(name: string): void {
    this.#lastUpMs = Math.max(this.#lastUpMs, this.#deps.clock.monotonicMs() + this.#deps.delayMs())
    this.#after(this.#lastUpMs, () => this.#deps.echo(name))
  }

  #after(atMs: number, task: () => void): Cancel {
    const cancel = this.#deps.clock.after(atMs - this.#deps.clock.monotonicMs(), () => {
      this.#cancels.delete(cancel)
      task()
    })
    this.#cancels.add(cancel)
    return () => {
      this.#cancels.delete(cancel)
      cancel()
    }
  }
}

function until<T extends Span>(spans: readonly T[], atMs: number): T[] {
  return spans.filter(({ startMs }) => startMs < atMs).map((one) => ({ ...one, endMs: Math.min(one.endMs, atMs) }))
}

function split(one: Stretch, atMs: number): Stretch[] {
  if (atMs <= one.startMs || atMs >= one.endMs) return [one]
  return [
    { ...one, endMs: atMs },
    { ...one, startMs: atMs },
  ]
}

function later(one: Stretch, fromMs: number, byMs: number): Stretch {
  return one.startMs < fromMs ? one : { ...one, startMs: one.startMs + byMs, endMs: one.endMs + byMs }
}
