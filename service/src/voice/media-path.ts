import type { StreamCodec } from '../platform/telephony/port.ts'
import type { Parts } from '../platform/websocket/frames.ts'
import type { AudioRooms } from './audio-rooms.ts'
import { mulawBytes } from './caller-audio.ts'
import { CallerUplink, type MeteredAudio, type Uplink } from './caller-uplink.ts'
import { BYTES_PER_MS, type Playback } from './playback.ts'
import { UnheardAudio } from './unheard-audio.ts'

/** The carrier's end of a media stream: frames go out whole, and nothing waits for them. */
export type CarrierSocket = {
  /** Sends one frame, put together of its parts. */
  send(parts: Parts): void
  /** Sends several frames at once. */
  sendAll(messages: readonly Parts[]): void
  /** Bytes that the peer has not taken yet. */
  bufferedBytes(): number
}

/** A carrier's stream, as the audio needs it. */
export type MediaStreamEnd = { carrier: CarrierSocket; codec: StreamCodec; streamSid: string }

/** Audio that left for the caller. `arrivedAtMs`, monotonic: when it had come in, of the first of an answer. */
export type SentAudio = { responseId: string; itemId: string; ms: number; mark: string | null; arrivedAtMs?: number }

/** What the media path tells the session about what it moved. */
export type MediaReports = {
  sent(audio: SentAudio): void
  /** While metering, each 100 ms of caller audio. */
  callerAudio(audio: MeteredAudio): void
  /** The carrier has stopped to take what it is sent, or takes it again. */
  backlog(isOver: boolean): void
}

/** What a media path is given; `nowMs` is monotonic. */
type MediaPathDeps = {
  carrier: CarrierSocket
  codec: StreamCodec
  reports: MediaReports
  nowMs: () => number
  tap?: AudioTap | null
  /** Where what was sent is kept until it was heard, a few seconds of it; null, or not given, where it is not kept. */
  unheardIn?: AudioRooms | null
}

/** Who listens to what goes past: the payloads are views that are only valid now. */
export type AudioTap = { caller(payload: Buffer): void; agent(payload: Buffer): void }

/** Who finds out from the caller's audio who they are. */
export type LineListener = Pick<AudioTap, 'caller'>

/** The same for people who listen to the call now: what was sent and is not to be played any more is nothing for them. */
export type AudioEars = AudioTap & { cleared(): void }

/** Audio comes faster than it plays, but a carrier takes it at once: what waits here waits for a carrier that is stuck. */
const MAX_CARRIER_BACKLOG_BYTES = 256 * 1024
/** So many bytes and the carrier is lost in any case: what the model says is not sent any more. */
const MAX_CARRIER_BYTES = 4 * MAX_CARRIER_BACKLOG_BYTES
/** Less audio than this is not worth a mark of its own: between two of them the clock tells as well what was heard. */
const MARK_EVERY_MS = 200
/** Answers that were silenced and may still send: an answer is over long before so many others were. */
const MAX_DISCARDED = 64

/**
 * The audio of one call, past everything that decides: caller's frames to the model, the model's deltas to the caller.
 *
 * It reads a gate that only the session changes: an answer that was discarded is dropped here from the same tick on, so
 * no byte of it follows the `clear` that silenced it. Nothing here waits, parses or logs, and there is one allocation for
 * each frame that goes out.
 */
export class MediaPath {
  readonly #reports: MediaReports
  readonly #nowMs: () => number
  readonly #tap: AudioTap | null
  #ears: AudioEars | null = null
  #reader: LineListener | null = null
  #carrier: CarrierSocket
  #codec: StreamCodec
  #streamSid: string
  #head: Buffer
  #tail: Buffer
  readonly #caller: CallerUplink
  readonly #unheard: UnheardAudio | null
  readonly #discarded = new Set<string>()
  #isOpen = true
  #marks = 0
  #unmarkedMs = 0
  #unmarkedResponseId = ''
  #isBacklogged = false
  #isDetached = false
  #isGated = false

  /** Frames since the start, for whoever watches that there are not too many. */
  framesIn = 0
  /** Pieces of the model's audio that were not sent: of silenced answers, or to a carrier that is stuck or gone. */
  lateDeltas = 0

  constructor(streamSid: string, deps: MediaPathDeps) {
    this.#carrier = deps.carrier
    this.#codec = deps.codec
    this.#reports = deps.reports
    this.#nowMs = deps.nowMs
    this.#streamSid = streamSid
    this.#tap = deps.tap ?? null
    this.#caller = new CallerUplink((audio) => deps.reports.callerAudio(audio))
    this.#unheard = deps.unheardIn ? new UnheardAudio(deps.unheardIn) : null
    const { head, tail } = deps.codec.mediaFrame(streamSid)
    this.#head = head
    this.#tail = tail
  }

  /** Who listens from now on; null: nobody does. */
  hearBy(ears: AudioEars | null): void {
    this.#ears = ears
  }

  /** Who reads the caller's audio from now on; null: nobody does. */
  readBy(reader: LineListener | null): void {
    this.#reader = reader
  }

  /** The stream is gone: what the model says is dropped, and nothing is sent any more. */
  detach(): void {
    this.#ears?.cleared()
    this.#isDetached = true
    this.#isBacklogged = false
    this.#unmarkedMs = 0
  }

  /** From now on the audio goes to another stream. What was silenced stays so. */
  attach({ carrier, codec, streamSid }: MediaStreamEnd): void {
    this.#carrier = carrier
    this.#codec = codec
    this.#streamSid = streamSid
    const { head, tail } = codec.mediaFrame(streamSid)
    this.#head = head
    this.#tail = tail
    this.#isDetached = false
  }

  /** One frame of the caller, as base64 µ-law: a view that is only valid now. */
  fromCaller(payload: Buffer): void {
    // What it finds out may end the call, and with it this.
    if (this.#reader !== null) this.#reader.caller(payload)
    if (!this.#isOpen) return
    this.framesIn += 1
    if (this.#tap !== null) this.#tap.caller(payload)
    if (this.#ears !== null) this.#ears.caller(payload)
    if (this.#isBacklogged) this.#watchBacklog()
    this.#caller.take(payload)
  }

  /** Frames of the caller that a model in arrears did not get. */
  get shedFrames(): number {
    return this.#caller.shedFrames
  }

  /** Whether the caller's loudness is measured, from now on: only while it matters. */
  meter(isOn: boolean): void {
    this.#caller.meter(isOn)
  }

  /** Whether nothing that the model says is sent: others have the call. */
  gate(isOn: boolean): void {
    this.#isGated = isOn
  }

  /** One delta of the model, as base64 µ-law of at most 500 ms: a view that is only valid now. */
  fromModel(responseId: string, itemId: string, payload: Buffer): void {
    if (this.#isGated) this.lateDeltas += 1
    else this.#toCaller(responseId, itemId, payload)
  }

  /** @param isLast whether no more of it follows that would bring a mark. */
  #toCaller(responseId: string, itemId: string, payload: Buffer, isLast = false): void {
    if (this.#isDetached || this.#discarded.has(responseId) || this.#isStuck()) {
      this.lateDeltas += 1
      return
    }
    const media = [this.#head, payload, this.#tail]
    const ms = mulawBytes(payload) / BYTES_PER_MS
    const arrivedAtMs = responseId === this.#unmarkedResponseId ? null : this.#nowMs()
    const mark = this.#markAfter(responseId, ms, isLast)
    if (mark === null) this.#carrier.send(media)
    else this.#carrier.sendAll([media, [this.#codec.mark(this.#streamSid, mark)]])
    if (this.#tap !== null) this.#tap.agent(payload)
    if (this.#ears !== null) this.#ears.agent(payload)
    if (this.#unheard !== null) this.#unheard.add(itemId, payload, ms)
    if (arrivedAtMs === null) this.#reports.sent({ responseId, itemId, ms, mark })
    else this.#reports.sent({ responseId, itemId, ms, mark, arrivedAtMs })
    this.#watchBacklog()
  }

  /** Sends audio of our own, which no answer has: it is told, and can be cut short, under this id. */
  play(id: string, payload: Buffer): void {
    this.#toCaller(id, id, payload)
  }

  /** The same in several pieces. Behind the last one is a mark: nobody else asks when all of them have played. */
  playAll(id: string, pieces: readonly Buffer[]): void {
    for (const [at, piece] of pieces.entries()) this.#toCaller(id, id, piece, at === pieces.length - 1)
  }

  /** What is known of the carrier's play-out has changed, at `nowMs`. */
  follow(before: Playback, after: Playback, nowMs: number): void {
    this.#unheard?.follow(before, after, nowMs)
  }

  /** Sends again, under this id, what was set aside when the carrier's buffer was emptied last, and a mark behind it. */
  playAside(id: string): void {
    const aside = this.#unheard?.takeAside() ?? []
    for (const [at, { itemId, payload }] of aside.entries())
      this.#toCaller(id, itemId, payload, at === aside.length - 1)
  }

  dropAside(): void {
    this.#unheard?.dropAside()
  }

  /** The same for the pieces that begin in a stretch of what they are together. */
  playStretch({ id, fromMs, ms }: { id: string; fromMs: number; ms: number }, pieces: readonly Buffer[]): void {
    let atMs = 0
    const stretch: Buffer[] = []
    for (const piece of pieces) {
      if (atMs >= fromMs && atMs < fromMs + ms) stretch.push(piece)
      atMs += mulawBytes(piece) / BYTES_PER_MS
    }
    this.playAll(id, stretch)
  }

  /** Every answer's first audio has a mark, for it tells how long the way is; then one is worth its while now and then. */
  #markAfter(responseId: string, ms: number, isLast: boolean): string | null {
    const isFirst = responseId !== this.#unmarkedResponseId
    this.#unmarkedResponseId = responseId
    this.#unmarkedMs += ms
    if (!isFirst && !isLast && this.#unmarkedMs < MARK_EVERY_MS) return null
    this.#unmarkedMs = 0
    this.#marks += 1
    return `m${this.#marks}`
  }

  /** Asks the carrier to echo `name` when all audio so far has played. */
  mark(name: string): void {
    this.#unmarkedMs = 0
    if (!this.#isDetached) this.#carrier.send([this.#codec.mark(this.#streamSid, name)])
  }

  #isStuck(): boolean {
    return this.#isBacklogged && this.#carrier.bufferedBytes() > MAX_CARRIER_BYTES
  }

  #watchBacklog(): void {
    const isBacklogged = this.#carrier.bufferedBytes() > MAX_CARRIER_BACKLOG_BYTES
    if (isBacklogged === this.#isBacklogged) return
    this.#isBacklogged = isBacklogged
    this.#reports.backlog(!isBacklogged)
  }

  /** From now on the caller's audio goes to `uplink`, what was kept of it first. */
  openUplink(uplink: Uplink): void {
    this.#caller.open(uplink)
  }

  /** From now on the caller's audio is kept. */
  holdUplink(): void {
    this.#caller.hold()
  }

  /** Whether the caller's audio is kept as well, for the uplink that will be opened next. */
  keepBeside(isOn: boolean): void {
    this.#caller.keepBeside(isOn)
  }

  /** Sends silence to the model in the caller's name. */
  pad(ms: number): void {
    this.#caller.pad(ms)
  }

  /** Drops what these answers still send. */
  discard(responseIds: readonly string[]): void {
    for (const responseId of responseIds) this.#discarded.add(responseId)
    for (const oldest of this.#discarded) {
      if (this.#discarded.size <= MAX_DISCARDED) break
      this.#discarded.delete(oldest)
    }
  }

  /** Empties the carrier's buffer. */
  clear(): void {
    this.#unmarkedMs = 0
    this.#ears?.cleared()
    if (!this.#isDetached) this.#carrier.send([this.#codec.clear(this.#streamSid)])
  }

  /** What it has that is not its own: an uplink, and audio for one. */
  get held(): string[] {
    const unheard = this.#unheard === null || this.#unheard.isEmpty ? [] : ['unheard audio']
    return [...this.#caller.held, ...(this.#reader ? ['reader'] : []), ...unheard]
  }

  /** Nothing goes through any more, and nothing is kept. */
  close(): void {
    this.#isOpen = false
    this.#ears = null
    this.#reader = null
    this.#caller.close()
    this.#unheard?.close()
  }
}
