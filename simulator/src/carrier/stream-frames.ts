import type { Malformation } from './faults.ts'

/** What the server asks of the stream. */
export type StreamCommand = { kind: 'media'; audio: Uint8Array } | { kind: 'mark'; name: string } | { kind: 'clear' }

/** Who a stream belongs to. */
export type StreamIdentity = {
  accountSid: string
  callSid: string
  streamSid: string
  parameters: [string, string][]
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Writes a stream's messages as the carrier does: numbers as strings, one sequence over all of them from `start` on.
 */
export class StreamFrames {
  #identity: StreamIdentity
  #sequence = 0
  #chunk = 0

  constructor(identity: StreamIdentity) {
    this.#identity = identity
  }

  connected(): string {
    return '{"event":"connected","protocol":"Call","version":"1.0.0"}'
  }

  start(): string {
    const { accountSid, callSid, streamSid, parameters } = this.#identity
    return JSON.stringify({
      event: 'start',
      sequenceNumber: this.#next(),
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: Object.fromEntries(parameters),
      },
      streamSid,
    })
  }

  /** One frame of the caller; `timestampMs` counts from the stream's start. */
  media(frame: Uint8Array, timestampMs: number): string {
    const payload = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('base64')
    this.#chunk++
    return (
      `{"event":"media","sequenceNumber":"${this.#next()}","streamSid":"${this.#identity.streamSid}","media":` +
      `{"track":"inbound","chunk":"${this.#chunk}","timestamp":"${Math.round(timestampMs)}","payload":"${payload}"}}`
    )
  }

  dtmf(digit: string): string {
    return this.#event('dtmf', { dtmf: { track: 'inbound_track', digit } })
  }

  mark(name: string): string {
    return this.#event('mark', { mark: { name } })
  }

  stop(): string {
    const { accountSid, callSid } = this.#identity
    return this.#event('stop', { stop: { accountSid, callSid } })
  }

  /** Something that is no message of the protocol. */
  malformed(kind: Malformation): string | Uint8Array {
    switch (kind) {
      case 'not-json':
        return 'this is not JSON'
      case 'binary':
        return Uint8Array.of(0, 1, 2, 0xff)
      case 'truncated':
        return this.media(new Uint8Array(160), 0).slice(0, -40)
      case 'no-event':
        return '{"sequenceNumber":"1"}'
      case 'oversized':
        return JSON.stringify({ event: 'media', media: { payload: 'A'.repeat(70_000) } })
    }
  }

  #event(event: string, body: object): string {
    return JSON.stringify({ event, streamSid: this.#identity.streamSid, sequenceNumber: this.#next(), ...body })
  }

  #next(): string {
    this.#sequence++
    return String(this.#sequence)
  }
}

/**
 * Reads a message of the server. Null when the carrier discards it: no JSON, no known event, no or a foreign
 * `streamSid`, a payload that is no base64.
 */
export function readCommand(text: string, streamSid: string): StreamCommand | null {
  const message = parseMessage(text)
  if (message?.streamSid !== streamSid) return null
  switch (message.event) {
    case 'clear':
      return { kind: 'clear' }
    case 'mark': {
      const name = asMessage(message.mark)?.name
      return typeof name === 'string' ? { kind: 'mark', name } : null
    }
    case 'media': {
      const payload = asMessage(message.media)?.payload
      if (typeof payload !== 'string' || !BASE64.test(payload)) return null
      return { kind: 'media', audio: new Uint8Array(Buffer.from(payload, 'base64')) }
    }
    default:
      return null
  }
}

/** What may stand in a message, or in an object inside one; nothing of it is believed before it was looked at. */
type Message = {
  event?: unknown
  streamSid?: unknown
  media?: unknown
  mark?: unknown
  name?: unknown
  payload?: unknown
}

function parseMessage(text: string): Message | null {
  try {
    return asMessage(JSON.parse(text))
  } catch {
    return null
  }
}

function asMessage(value: unknown): Message | null {
  return typeof value === 'object' && value !== null ? value : null
}
