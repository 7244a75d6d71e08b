import type { RawData, WebSocket } from 'ws'
import { BYTES_PER_MS, FRAME_MS } from '../audio/mulaw.ts'
import type { Clock } from './clock.ts'
import { makeDeferred } from './deferred.ts'
import { type FarEnd, type Heard, NOBODY } from './far-end.ts'
import type { StreamEnding, StreamFaults } from './faults.ts'
import { Playout } from './playout.ts'
import type { Random } from './random.ts'
import { readCommand, type StreamFrames } from './stream-frames.ts'
import type { StreamSocket } from './stream-socket.ts'
import { type StreamTroubles, troublesDue } from './stream-troubles.ts'
import type { Notification } from './verbs.ts'

// A server that does not answer our close frame is not waited for longer.
const CLOSE_TIMEOUT_MS = 2000
// Two minutes of a caller whom the server does not read.
const MOST_UNSENT_BYTES = 1024 * 1024

/** How a stream came to its end: the carrier ended it, the server closed the socket, or the connection was lost. */
export type StreamEnd = 'carrier' | 'server' | 'lost'

/** Audio that a `clear` threw away: how much of the agent had been played by then, and how much never was. */
export type Clear = { playedMs: number; droppedMs: number }

/** What a stream tells its call. */
export type StreamWatcher = {
  cleared(clear: Clear): void
  notify(problem: Notification): void
}

/** What a stream is made of. */
export type StreamParts = {
  clock: Clock
  chance: Random
  faults: StreamFaults
  streamSid: string
  frames: StreamFrames
  watcher: StreamWatcher
}

/** What went over a stream. */
export type StreamCounts = { receivedBytes: number; discardedMessages: number; marksEchoed: number; clears: number }

/**
 * The carrier's side of an open media stream. It is moved by its call, once every 20 ms: the caller's frame goes out,
 * the agent's next 20 ms come back, marks are echoed as their audio has played.
 */
export class MediaStream implements FarEnd {
  #parts: StreamParts
  #ws: WebSocket
  #connection: StreamSocket['connection']
  #playout = new Playout()
  #counts: StreamCounts = { receivedBytes: 0, discardedMessages: 0, marksEchoed: 0, clears: 0 }
  #timestampMs = 0
  #elapsedMs = 0
  #pausedUntilMs = 0
  #timers = new Set<() => void>()
  #state: 'open' | 'unplugged' | 'ended' = 'open'
  #ended = makeDeferred<StreamEnd>()
  #closed = makeDeferred<void>()
  #gone = makeDeferred<void>()

  constructor(socket: StreamSocket, parts: StreamParts) {
    this.#parts = parts
    this.#ws = socket.ws
    this.#connection = socket.connection
    this.#ws.on('close', (code) => {
      this.#closed.resolve()
      this.#gone.resolve()
      this.#closedBy(code)
    })
    this.#ws.on('message', (data, isBinary) => this.#receive(data, isBinary))
    this.#send(parts.frames.connected())
    const early = new Uint8Array(160).fill(0xff)
    for (let i = 0; i < parts.faults.mediaBeforeStart; i++) this.#send(parts.frames.media(early, i * FRAME_MS))
    this.#send(parts.frames.start())
  }

  /** Resolves once, when the stream is over for the call. */
  get ended(): Promise<StreamEnd> {
    return this.#ended.promise
  }

  /** Resolves when the socket is closed, or is left open because a switch says so. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Resolves when the socket is closed. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  get counts(): Readonly<StreamCounts & { playedMs: number; bufferedMs: number }> {
    return {
      ...this.#counts,
      playedMs: this.#playout.playedBytes / BYTES_PER_MS,
      bufferedMs: this.#playout.bufferedBytes / BYTES_PER_MS,
    }
  }

  exchange(voice: Uint8Array): Heard {
    if (this.#state === 'ended') return NOBODY.exchange(voice)
    const troubles = troublesDue(this.#parts.faults, this.#elapsedMs)
    this.#suffer(troubles)
    const paused = this.#elapsedMs < this.#pausedUntilMs
    const skipped = this.#parts.faults.skipSilentFrames && voice.every((byte) => byte === 0xff || byte === 0x7f)
    if (!paused && !skipped) this.#send(this.#parts.frames.media(voice, this.#timestampMs))
    this.#elapsedMs += FRAME_MS
    this.#timestampMs += FRAME_MS
    const { frame, marks, seams } = this.#playout.play()
    for (const name of marks) this.#echo(name)
    return { frame, seams }
  }

  key(digit: string): void {
    this.#send(this.#parts.frames.dtmf(digit))
  }

  /** Ends the stream from the carrier's side, as the call's faults say. Repeats change nothing. */
  leave(): void {
    // Nothing gets through a black hole, not even goodbye.
    if (this.#state === 'unplugged') this.#finish('carrier')
    if (this.#state === 'ended') return
    const { faults, chance } = this.#parts
    const unlucky = faults.ending === 'stop-and-close' && chance() < faults.stopMissingShare
    this.#end(unlucky ? 'close-only' : faults.ending, 'carrier')
  }

  /** Cuts the connection at once, leaving no timer; resolves when it is gone. */
  async destroy(): Promise<void> {
    this.#finish('carrier')
    this.#ws.terminate()
    await this.gone
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#state !== 'open') return
    const text = !isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : ''
    const command = readCommand(text, this.#parts.streamSid)
    switch (command?.kind) {
      case 'media':
        this.#counts.receivedBytes += command.audio.length
        if (!this.#playout.add(command.audio)) this.#discard(31931, 'ten minutes of audio wait already')
        return
      case 'mark':
        if (this.#playout.mark(command.name)) this.#echo(command.name)
        return
      case 'clear':
        return this.#clear()
      default:
        this.#discard(31950, 'a message was malformed and was discarded')
    }
  }

  #clear(): void {
    const { marks, droppedBytes } = this.#playout.clear()
    this.#counts.clears++
    this.#parts.watcher.cleared({
      playedMs: this.#playout.playedBytes / BYTES_PER_MS,
      droppedMs: droppedBytes / BYTES_PER_MS,
    })
    for (const name of marks) this.#echo(name)
  }

  #echo(name: string): void {
    const { faults, frames } = this.#parts
    if (!faults.marksEchoed) return
    const send = () => {
      this.#counts.marksEchoed++
      this.#send(frames.mark(name))
    }
    if (faults.marksLateMs > 0) this.#later(faults.marksLateMs, send)
    else send()
  }

  #suffer(troubles: StreamTroubles): void {
    const { frames } = this.#parts
    if (troubles.secondStart) this.#send(frames.start())
    if (troubles.malformed) this.#send(frames.malformed(troubles.malformed))
    if (troubles.timestampJumpMs) this.#timestampMs += troubles.timestampJumpMs
    if (troubles.mediaPauseMs) this.#pausedUntilMs = this.#elapsedMs + troubles.mediaPauseMs
    for (let i = 0; i < troubles.burstFrames; i++) {
      this.#send(frames.media(NOBODY.exchange(new Uint8Array()).frame, this.#timestampMs))
      this.#timestampMs += FRAME_MS
    }
    if (troubles.slowReaderMs) {
      this.#ws.pause()
      this.#later(troubles.slowReaderMs, () => this.#ws.resume())
    }
    if (troubles.cut) this.#end(troubles.cut, 'lost')
  }

  #end(how: StreamEnding, end: StreamEnd): void {
    if (how === 'stop-and-close' || how === 'stop-only') this.#send(this.#parts.frames.stop())
    if (how === 'black-hole') {
      // Whoever is at the other end cannot tell; neither can the carrier, until the call ends.
      this.#state = 'unplugged'
      this.#connection.pause()
      this.#closed.resolve()
      if (end === 'lost') return
    }
    if (how === 'stop-only') this.#closed.resolve()
    if (how === 'fin') this.#connection.end()
    if (how === 'rst') reset(this.#connection)
    if (how === 'stop-and-close' || how === 'close-only') {
      this.#ws.close(1000)
      const cancel = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => this.#ws.terminate())
      void this.gone.then(cancel)
    }
    this.#finish(end)
  }

  #closedBy(code: number): void {
    if (this.#state === 'ended') return
    const lost = code === 1006
    if (code !== 1000 && code !== 1005) {
      const message = lost ? 'the connection was lost' : `the server closed the stream with code ${code}`
      this.#parts.watcher.notify({ code: 31921, message })
    }
    this.#finish(lost ? 'lost' : 'server')
  }

  #finish(end: StreamEnd): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#ended.resolve(end)
  }

  #discard(code: number, message: string): void {
    this.#counts.discardedMessages++
    this.#parts.watcher.notify({ code, message })
  }

  #send(message: string | Uint8Array): void {
    if (this.#state !== 'open' || this.#ws.readyState !== this.#ws.OPEN) return
    if (this.#ws.bufferedAmount > MOST_UNSENT_BYTES) this.#discard(31930, 'the server does not read')
    else this.#ws.send(message)
  }

  #later(delayMs: number, run: () => void): void {
    const cancel = this.#parts.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }
}

function reset(connection: StreamSocket['connection']): void {
  // A connection under TLS has no reset of its own; destroying it is as abrupt.
  if ('encrypted' in connection) connection.destroy()
  else connection.resetAndDestroy()
}
