import { FRAME_BYTES, FRAME_MS, noiseBase64 } from './audio.ts'
import { type Stamp, writeStamp } from './stamp.ts'

/** The audio of every caller frame, without its stamp, as base64. */
export const CALLER_AUDIO = noiseBase64(FRAME_BYTES)

const PAYLOAD_KEY = '"payload":"'

/**
 * The `media` message of one caller, kept ready: per frame only its digits and its stamp are written.
 *
 * It is built anew when a number gains a digit, which happens a few times in a call.
 */
export class MediaFrame {
  readonly #streamSid: string
  #bytes: Buffer = Buffer.alloc(0)
  #payloadAt = 0
  #sequence: DigitField = { at: 0, width: 0 }
  #chunk: DigitField = { at: 0, width: 0 }
  #timestamp: DigitField = { at: 0, width: 0 }

  constructor(streamSid: string) {
    this.#streamSid = streamSid
  }

  /** Writes the `chunk`-th frame (from 1) as the stream's message number `sequence`. The bytes are valid until the next call. */
  fill(sequence: number, chunk: number, stamp: Stamp): Buffer {
    const timestampMs = (chunk - 1) * FRAME_MS
    const fits =
      digits(sequence) === this.#sequence.width &&
      digits(chunk) === this.#chunk.width &&
      digits(timestampMs) === this.#timestamp.width
    if (!fits) this.#build(sequence, chunk, timestampMs)
    writeDigits(this.#bytes, this.#sequence, sequence)
    writeDigits(this.#bytes, this.#chunk, chunk)
    writeDigits(this.#bytes, this.#timestamp, timestampMs)
    writeStamp(this.#bytes, this.#payloadAt, stamp)
    return this.#bytes
  }

  #build(sequence: number, chunk: number, timestampMs: number): void {
    const text = JSON.stringify({
      event: 'media',
      sequenceNumber: String(sequence),
      streamSid: this.#streamSid,
      media: {
        track: 'inbound',
        chunk: String(chunk),
        timestamp: String(timestampMs),
        payload: CALLER_AUDIO.toString('latin1'),
      },
    })
    this.#bytes = Buffer.from(text, 'latin1')
    this.#payloadAt = text.indexOf(PAYLOAD_KEY) + PAYLOAD_KEY.length
    this.#sequence = fieldOf(text, 'sequenceNumber', sequence)
    this.#chunk = fieldOf(text, 'chunk', chunk)
    this.#timestamp = fieldOf(text, 'timestamp', timestampMs)
  }
}

type DigitField = { at: number; width: number }

function fieldOf(text: string, key: string, value: number): DigitField {
  const prefix = `"${key}":"`
  return { at: text.indexOf(prefix) + prefix.length, width: digits(value) }
}

function digits(value: number): number {
  let width = 1
  for (let limit = 10; value >= limit; limit *= 10) width += 1
  return width
}

function writeDigits(bytes: Buffer, field: DigitField, value: number): void {
  let left = value
  for (let at = field.at + field.width - 1; at >= field.at; at--) {
    bytes[at] = 0x30 + (left % 10)
    left = Math.floor(left / 10)
  }
}
