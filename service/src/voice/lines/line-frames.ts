import type { Parts } from '../../platform/websocket/frames.ts'
import { BYTES_PER_MS } from '../playback.ts'
import type { AudioBatch } from './line.ts'

const FRAME_MS = 20
const FRAME_BYTES = FRAME_MS * BYTES_PER_MS

type Track = 'inbound' | 'outbound'

/** What a listener is sent: the protocol of media streams, as a carrier speaks it to whoever hears a call of two tracks. */
export class LineFrames {
  readonly #ids: { streamSid: string; callSid: string }
  readonly #chunks: Record<Track, number> = { inbound: 0, outbound: 0 }
  #sequence = 0
  #beganMs: number | null = null

  constructor(ids: { streamSid: string; callSid: string }) {
    this.#ids = ids
  }

  start(): Parts[] {
    const { streamSid, callSid } = this.#ids
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 }
    const start = {
      accountSid: '',
      streamSid,
      callSid,
      tracks: ['inbound', 'outbound'],
      mediaFormat,
      customParameters: {},
    }
    return [text({ event: 'connected', protocol: 'Call', version: '1.0.0' }), this.#message('start', { start })]
  }

  /** Frames of 20 ms, each with its time since the first. */
  media({ atMs, inbound, outbound }: AudioBatch): Parts[] {
    this.#beganMs ??= atMs
    const fromMs = atMs - this.#beganMs
    return [...this.#track('inbound', inbound, fromMs), ...this.#track('outbound', outbound, fromMs)]
  }

  #track(track: Track, payload: string, fromMs: number): Parts[] {
    const audio = Buffer.from(payload, 'base64')
    return Array.from({ length: Math.ceil(audio.length / FRAME_BYTES) }, (_, index) => {
      const piece = audio.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES)
      this.#chunks[track] += 1
      const media = { track, chunk: String(this.#chunks[track]), timestamp: String(fromMs + index * FRAME_MS) }
      return this.#message('media', { media: { ...media, payload: piece.toString('base64') } })
    })
  }

  /** The line is over. */
  stop(): Parts {
    return this.#message('stop', { stop: { accountSid: '', callSid: this.#ids.callSid } })
  }

  #message(event: string, content: object): Parts {
    this.#sequence += 1
    return text({ event, sequenceNumber: String(this.#sequence), streamSid: this.#ids.streamSid, ...content })
  }
}

function text(message: object): Parts {
  return [Buffer.from(JSON.stringify(message))]
}
