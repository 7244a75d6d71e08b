/** What comes over a media stream, as far as it matters to a page. Audio is µ-law. */
export type StreamMessage =
  | { event: 'media'; track: string; audio: Uint8Array }
  | { event: 'mark'; name: string }
  | { event: 'clear' | 'start' | 'stop' }

type Fields = Record<string, unknown>

/** Reads a message; null for one that is of no use here. */
export function readMessage(text: string): StreamMessage | null {
  const { event, media, mark } = JSON.parse(text) as { event?: unknown; media?: Fields; mark?: Fields }
  if (event === 'clear' || event === 'start' || event === 'stop') return { event }
  if (event === 'mark' && typeof mark?.['name'] === 'string') return { event, name: mark['name'] }
  const { payload, track } = media ?? {}
  if (event !== 'media' || typeof payload !== 'string') return null
  return { event, track: typeof track === 'string' ? track : 'outbound', audio: bytesOf(payload) }
}

/** Writes what a page says on a media stream: the members in the order in which carriers write them, and numbered. */
export class StreamWriter {
  readonly #streamSid: string
  #sequence = 0
  #chunk = 0

  constructor(streamSid: string) {
    this.#streamSid = streamSid
  }

  /** The first two messages. */
  start(callSid: string): string[] {
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 }
    const start = { streamSid: this.#streamSid, callSid, tracks: ['inbound'], customParameters: {}, mediaFormat }
    const connected = JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' })
    return [connected, this.#write('start', { start })]
  }

  /** @param timestampMs since the stream began. */
  media(frame: Uint8Array, timestampMs: number): string {
    this.#chunk += 1
    const payload = btoa(String.fromCharCode(...frame))
    const media = { track: 'inbound', chunk: String(this.#chunk), timestamp: String(timestampMs), payload }
    return this.#write('media', { media })
  }

  mark(name: string): string {
    return this.#write('mark', { mark: { name } })
  }

  dtmf(digit: string): string {
    return this.#write('dtmf', { dtmf: { track: 'inbound_track', digit } })
  }

  stop(): string {
    return this.#write('stop', { stop: {} })
  }

  #write(event: string, content: object): string {
    this.#sequence += 1
    return JSON.stringify({ event, sequenceNumber: String(this.#sequence), streamSid: this.#streamSid, ...content })
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}
