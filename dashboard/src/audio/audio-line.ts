import { ApiFailure } from '../api/failure.ts'
import { beginSound } from './begin-sound.ts'
import { FRAME_MS, FrameCutter, SILENT_FRAME } from './frame-cutter.ts'
import type { Level } from './level.ts'
import { type Microphone, openMicrophone } from './microphone.ts'
import { TELEPHONE_RATE_HZ, toMulaw } from './mulaw.ts'
import { Resampler } from './resampler.ts'
import { Speaker } from './speaker.ts'
import { readMessage, type StreamMessage, StreamWriter } from './stream-message.ts'

/** What opens a media stream, as the service grants it. `callSid` and `streamSid` are of the call that it is of. */
export type LineGrant = { streamUrl: string; streamToken: string; callSid: string; streamSid: string }

/**
 * call: somebody speaks with an agent · takeover: with the caller of an agent · listen: somebody hears both sides, and is heard
 * by nobody.
 */
export type LineKind = 'call' | 'takeover' | 'listen'

/** line: nothing comes over it, or nothing goes out · sound: the browser has stopped the page's own. */
export type Stall = 'line' | 'sound'

type LineOptions = {
  kind: LineKind
  /** Asked for when the microphone is there, because a grant is good for a while only. */
  grant: () => Promise<LineGrant>
  /** The other end has said something: the call goes on. */
  onOpen: (grant: LineGrant) => void
  /** What keeps either side from being heard, or null once nothing does. */
  onStalled: (stall: Stall | null) => void
  /** Once, at the end; null when it is over as it should be. */
  onOver: (failure: ApiFailure | null) => void
}

/** An agent speaks faster than it is heard: as much as carriers keep. */
const OF_AN_AGENT = { mostAheadS: 600 }
/** Of what comes as people speak no more is kept: it is heard when it is said, also after the network has held it up. */
const LIVE = { mostAheadS: 0.3, aimS: 0.12 }
/** Of a call 50 messages a second come; a line that breaks is not told of for as long as the network keeps trying. */
const STALLED_AFTER_MS = 3_000
const LOOK_INTERVAL_MS = 500
/** Some seconds of speech that the browser could not send. */
const MOST_UNSENT_BYTES = 64 * 1_024
const SILENCE: Level = () => 0
const NORMAL = 1000

/** Why a stream was not taken, or was not kept. */
const CLOSINGS: Record<number, string> = {
  1006: 'The connection was lost.',
  1008: 'The service did not take the stream.',
  1013: 'There is no room for the call now, it moves to another node, or the connection is too slow. Try again.',
  4401: 'The call had waited too long to be opened. Try again.',
  4409: 'Somebody else has the call, or it is being put through or ending.',
}
const NO_MICROPHONE = 'The microphone is gone, so nobody heard you any more. Connect one, then try again.'
/** Of whoever speaks in an agent's place: they would go on, and nobody would hear them. */
const HANDED_BACK =
  'The caller does not hear you any more: somebody else has given the call back to the agent, or it is over.'
/** Of a line into a call of others, which lasts no longer than what it was asked for with. */
const NOT_LET_IN = 4401
const SENT_AWAY = 'You are not logged in any more, or may not do this any more.'

/** A line of audio between this page and a call, over a WebSocket that speaks Media Streams. */
export class AudioLine {
  readonly #options: LineOptions
  readonly #context = new AudioContext()
  readonly #speakers = new Map<string, Speaker>()
  readonly #frames = new FrameCutter()
  readonly #toTelephone: Resampler
  #microphone: Microphone | null = null
  #socket: WebSocket | null = null
  #writer: StreamWriter | null = null
  #sentMs = 0
  #heardAtMs = 0
  #stall: Stall | null = null
  #watch: ReturnType<typeof setInterval> | undefined
  #isOpen = false
  #isOver = false
  isMuted = false

  /** To be made while somebody clicks: browsers let nothing be heard otherwise. */
  constructor(options: LineOptions) {
    this.#options = options
    this.#toTelephone = new Resampler(this.#context.sampleRate, TELEPHONE_RATE_HZ)
    this.#begin().catch((error: unknown) => this.#end(error as ApiFailure))
  }

  /** How loud whoever speaks here is. */
  readonly own: Level = () => (this.isMuted ? 0 : (this.#microphone?.level ?? SILENCE)())

  /** How loud the others are. */
  readonly others: Level = () => Math.max(0, ...[...this.#speakers.values()].map(({ level }) => level()))

  /** Presses a key of a telephone. */
  press(digit: string): void {
    if (this.#writer) this.#send(this.#writer.dtmf(digit))
  }

  /** Hangs up. */
  close(): void {
    this.#hangUp(null)
  }

  #hangUp(failure: ApiFailure | null): void {
    if (this.#writer) this.#send(this.#writer.stop())
    this.#end(failure)
  }

  async #begin(): Promise<void> {
    const { kind, grant: ask } = this.#options
    await beginSound(this.#context)
    if (kind !== 'listen') {
      const microphone = await openMicrophone(this.#context, {
        onBlock: (samples) => this.#speak(samples),
        // Silence would go on in its place, and nobody would know.
        onLost: () => this.#hangUp(new ApiFailure({ status: 0, code: 'microphone_lost', message: NO_MICROPHONE })),
      })
      if (this.#isOver) return microphone.close()
      this.#microphone = microphone
    }
    const grant = await ask()
    // A call holds its place until its page has come, and be it to go.
    if (!this.#isOver || kind === 'call') this.#connect(grant)
  }

  #connect(grant: LineGrant): void {
    const { kind } = this.#options
    const socket = new WebSocket(addressOf(grant))
    this.#socket = socket
    socket.onopen = () => {
      if (this.#isOver) return socket.close(NORMAL)
      if (kind === 'listen') return
      const writer = new StreamWriter(grant.streamSid)
      for (const text of writer.start(grant.callSid)) socket.send(text)
      this.#writer = writer
    }
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (this.#isOver) return
      this.#heardAtMs = performance.now()
      if (!this.#isOpen) this.#open(grant)
      const message = readMessage(data)
      if (message) this.#take(message)
    }
    socket.onclose = ({ code, reason }) => {
      const isFine = code === NORMAL || (this.#isOpen && code === 1005)
      const isSentAway = code === NOT_LET_IN && kind !== 'call'
      const message = isSentAway ? SENT_AWAY : (CLOSINGS[code] ?? `The line was closed (${code} ${reason}).`)
      this.#end(isFine ? null : new ApiFailure({ status: 0, code: 'line_closed', message }))
    }
  }

  #open(grant: LineGrant): void {
    this.#isOpen = true
    this.#options.onOpen(grant)
    this.#watch = setInterval(() => this.#look(), LOOK_INTERVAL_MS)
  }

  /** An agent may be silent for as long as it likes; a caller is heard, or their silence is. */
  #look(): void {
    const isQuiet = this.#options.kind !== 'call' && performance.now() - this.#heardAtMs > STALLED_AFTER_MS
    const isUnsent = (this.#socket?.bufferedAmount ?? 0) > MOST_UNSENT_BYTES
    const ofSound = this.#isSounding() ? null : 'sound'
    const stall = isQuiet || isUnsent ? 'line' : ofSound
    if (stall === this.#stall) return
    this.#stall = stall
    this.#options.onStalled(stall)
  }

  /** A telephone stops the sound of its pages while it rings itself, or shows others, and not every one begins with it again. */
  #isSounding(): boolean {
    const isRunning = this.#context.state === 'running'
    // While it may not yet it is refused, and asked again at the next look.
    if (!isRunning) void this.#context.resume().catch(() => undefined)
    return isRunning
  }

  #take(message: StreamMessage): void {
    switch (message.event) {
      case 'media':
        return this.#speaker(message.track).play(message.audio)
      case 'mark':
        return this.#speaker('outbound').mark(message.name)
      case 'clear':
        return this.#speaker('outbound').clear()
      case 'stop':
        return this.#stopped()
      case 'start':
        return
    }
  }

  /** By the other end: who gives a call back themselves has hung up before. */
  #stopped(): void {
    if (this.#options.kind !== 'takeover') return this.#end(null)
    this.#end(new ApiFailure({ status: 0, code: 'handed_back', message: HANDED_BACK }))
  }

  #speaker(track: string): Speaker {
    const known = this.#speakers.get(track)
    if (known) return known
    const ahead = this.#options.kind === 'call' ? OF_AN_AGENT : LIVE
    const onMark = (name: string) => {
      if (this.#writer) this.#send(this.#writer.mark(name))
    }
    const made = new Speaker(this.#context, { ahead, onMark })
    this.#speakers.set(track, made)
    return made
  }

  #speak(samples: Float32Array): void {
    const frames = this.#frames.push(toMulaw(this.#toTelephone.push(samples)))
    for (const frame of frames) {
      if (this.#writer) this.#send(this.#writer.media(this.isMuted ? SILENT_FRAME : frame, this.#sentMs))
      this.#sentMs += FRAME_MS
    }
  }

  #send(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  #end(failure: ApiFailure | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#watch)
    this.#microphone?.close()
    for (const speaker of this.#speakers.values()) speaker.clear()
    if (this.#socket?.readyState !== WebSocket.CONNECTING) this.#socket?.close(NORMAL)
    void this.#context.close()
    this.#options.onOver(failure)
  }
}

/** At the host that the page came from: the policy of the page lets it go nowhere else, and it is the same service. */
function addressOf({ streamUrl, streamToken }: LineGrant): string {
  const address = new URL(new URL(streamUrl).pathname, location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  address.searchParams.set('stream_token', streamToken)
  return address.href
}
