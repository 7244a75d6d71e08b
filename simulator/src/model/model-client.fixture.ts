import { WebSocket } from 'ws'
import { FRAME_BYTES } from '../audio/mulaw.ts'
import { makePhraseBook, type PhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../speech/speech.ts'
import { type Model, type ModelOptions, startModel } from './model.ts'

/** A server event as a client sees it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there, and fails if it is not.
export type Event = { type: string } & Record<string, any>

/** How long a test waits for anything before it gives up. */
const PATIENCE_MS = 30_000

/** A session as a test drives it. */
export class TestClient {
  readonly events: Event[] = []
  readonly socket: WebSocket
  closed: { code: number; reason: string } | null = null
  /** The HTTP status of a refused upgrade. */
  refusedStatus: number | null = null
  #waiting = new Set<() => void>()

  constructor(url: string, headers: Record<string, string> = { authorization: 'Bearer key' }) {
    this.socket = new WebSocket(url, { headers, perMessageDeflate: false })
    this.socket.on('message', (data) => this.#add(JSON.parse(String(data))))
    this.socket.on('unexpected-response', (_, response) => {
      this.refusedStatus = response.statusCode ?? null
      response.resume()
      this.socket.terminate()
      this.#wake()
    })
    this.socket.on('error', () => this.#wake())
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
      this.#wake()
    })
  }

  /** Sends a client event. */
  send(event: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(event))
  }

  /** Sends µ-law as a telephone bridge does, 20 ms in each message, without its pauses. */
  sendAudio(mulaw: Uint8Array): void {
    for (let at = 0; at < mulaw.length; at += FRAME_BYTES) {
      const audio = Buffer.from(mulaw.subarray(at, at + FRAME_BYTES)).toString('base64')
      this.send({ type: 'input_audio_buffer.append', audio })
    }
  }

  /** The first event of this type after the `after` ones that came, and that fits. */
  async event(type: string, fits: (event: Event) => boolean = () => true, after = 0): Promise<Event> {
    let found: Event | undefined
    await this.until(() => {
      found = this.events.slice(after).find((event) => event.type === type && fits(event))
      return found !== undefined
    }, type)
    return found as Event
  }

  /** Waits until something holds. */
  async until(holds: () => boolean, what: string): Promise<void> {
    const givenUp = AbortSignal.timeout(PATIENCE_MS)
    while (!holds()) {
      if (givenUp.aborted) throw new Error(`waited in vain for ${what}; had ${this.types().slice(-12).join(', ')}`)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
        givenUp.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  /** The types of all events so far, deltas of one kind told once in a row. */
  types(): string[] {
    return this.events.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1])
  }

  /** Opens the session for a telephone: µ-law both ways, settings on top. Resolves with the effective session. */
  async configure(session: Record<string, unknown> = {}, input: Record<string, unknown> = {}): Promise<Event> {
    await this.event('session.created')
    const format = { type: 'audio/pcmu' }
    const audio = { input: { format, ...input }, output: { format } }
    this.send({ type: 'session.update', session: { type: 'realtime', audio, ...session } })
    return (await this.event('session.updated'))['session']
  }

  #add(event: Event): void {
    this.events.push(event)
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** A model, a voice and the clients of one test file. */
export type Bench = {
  speech: Speech
  phraseBook: PhraseBook
  model(options?: Partial<ModelOptions>): Promise<Model>
  client(model: Model, query?: string, headers?: Record<string, string>): TestClient
  /** Ends the clients and models of a test. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Makes what a test file needs; a fast model that thinks for 20 ms unless told. */
export function makeBench(): Bench {
  const phraseBook = makePhraseBook()
  const speech = makeSpeech({ phraseBook })
  const models: Model[] = []
  const clients: TestClient[] = []
  const reset = async () => {
    for (const client of clients.splice(0)) client.socket.terminate()
    await Promise.all(models.splice(0).map((model) => model.close()))
  }
  return {
    speech,
    phraseBook,
    async model(options = {}) {
      const pace = { thinkMs: 20, timesRealTime: 50 }
      const model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, pace, ...options })
      models.push(model)
      return model
    },
    client(model, query = 'model=gpt-realtime', headers) {
      const client = new TestClient(`${model.url}?${query}`, headers)
      clients.push(client)
      return client
    },
    reset,
    async close() {
      await reset()
      await speech.close()
    },
  }
}
