import { once } from 'node:events'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { until } from './wait.ts'

type Message = Record<string, unknown> & { event: string }
type Start = { callSid?: string; streamSid?: string; accountSid?: string; parameters?: Record<string, string> }

/** 20 ms of silence. */
export const SILENT_FRAME = Buffer.alloc(160, 0xff).toString('base64')

/** A carrier's end of a media stream, played by a test. */
export class StreamClient {
  readonly #socket: WebSocket
  readonly messages: Message[] = []
  closeCode: number | null = null
  /** Empty while it is open. */
  closeReason = ''
  #sequence = 1
  #connection: Socket | null = null

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message))
    socket.on('upgrade', ({ socket: connection }) => {
      this.#connection = connection
    })
    socket.on('close', (code, reason) => {
      this.closeCode = code
      this.closeReason = reason.toString()
    })
    // What the server ends without a goodbye shows as a close.
    socket.on('error', () => {})
    onTestFinished(() => socket.terminate())
  }

  /**
   * Opens a stream at a path of the service. @param address as `http://127.0.0.1:…`.
   *
   * @throws Error with the status when the handshake is refused.
   */
  static async open(
    address: string,
    path = '/media-stream',
    headers: Record<string, string> = {},
  ): Promise<StreamClient> {
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}${path}`, { headers })
    const client = new StreamClient(socket)
    const opened = once(socket, 'open')
    await Promise.race([opened, refused(socket)])
    return client
  }

  start({ callSid = 'CA1', streamSid = 'MZ1', accountSid = '', parameters = {} }: Start = {}): void {
    this.send({ event: 'connected', protocol: 'Call', version: '1.0.0' })
    this.send({
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        ...{ accountSid, streamSid, callSid, tracks: ['inbound'], customParameters: parameters },
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    })
  }

  /** Audio of the caller; `payload` is base64. */
  media(payload = SILENT_FRAME, streamSid = 'MZ1'): void {
    this.#sequence += 1
    const number = String(this.#sequence)
    const media = { track: 'inbound', chunk: number, timestamp: number, payload }
    this.send({ event: 'media', sequenceNumber: number, streamSid, media })
  }

  /** Resolves when the service has read all that was sent: its pong comes behind that. */
  async heard(): Promise<void> {
    let isHeard = false
    this.#socket.once('pong', () => {
      isHeard = true
    })
    this.#socket.ping()
    await until(() => isHeard || this.closeCode !== null, { what: 'the service to have read all' })
  }

  send(message: object): void {
    this.raw(JSON.stringify(message))
  }

  raw(data: string | Buffer, binary = typeof data !== 'string'): void {
    this.#socket.send(data, { binary })
  }

  /** Stops to read what the service sends. */
  pause(): void {
    this.#socket.pause()
  }

  /** Reads on: also that the service has ended the stream meanwhile. */
  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.close()
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** Ends the connection without a word of the protocol. */
  fin(): void {
    this.#connection?.end()
  }

  /** Breaks the connection. */
  rst(): void {
    this.#connection?.resetAndDestroy()
  }

  /** The code with which the service closed the stream. */
  async closed(): Promise<number> {
    await until(() => this.closeCode !== null, { what: 'the end of the stream' })
    return this.closeCode ?? 0
  }
}

/** Rejects when the handshake is refused. */
export function refused(socket: WebSocket): Promise<never> {
  return new Promise((_resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      reject(new Error(`the handshake was refused with ${response.statusCode}`))
      response.resume()
    })
  })
}
