import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { PhraseBook } from '../speech/phrase-book.ts'
import type { Speech } from '../speech/speech.ts'
import { isVoicePath } from '../voices/voice-settings.ts'
import { Voices } from '../voices/voices.ts'
import { answerChat, CHAT_PATH } from './chat.ts'
import { answerControl } from './control.ts'
import { type FaultPlan, FaultSwitches } from './faults.ts'
import { type Admission, admit, refusalResponse } from './handshake.ts'
import { NATURAL_PACE, type Pace } from './response-request.ts'
import type { Script } from './script.ts'
import { ScriptBook } from './script-book.ts'
import { ModelSession, type SessionOptions } from './session.ts'
import { answerSpeech, SPEECH_PATH } from './speech-endpoint.ts'
import { Timers } from './timers.ts'
import { loadVoiceActivity, type VoiceActivity } from './voice-activity.ts'

/** How a model is started. */
export type ModelOptions = {
  host: string
  /** 0 takes any free port. */
  port: number
  speech: Speech
  phraseBook: PhraseBook
  /** What sessions say that name no script of their own; without it, that this is a rehearsal. */
  brain?: Script
  faults?: FaultPlan[]
  /** The only key taken; without it any key is. */
  apiKey?: string
  pace?: Partial<Pace>
  /** The longest a session lasts: 60 minutes, like the real one, unless told. */
  sessionMaxMs?: number
}

/** A running model double. */
export type Model = {
  /** Where its sessions open: `ws://host:port/v1/realtime`. */
  readonly url: string
  /** The base address of its chats, and of its speech: `http://host:port/v1`. */
  readonly baseUrl: string
  /** The base address of its voices, which speak what others write: `ws://host:port/v1/text-to-speech`. */
  readonly voiceUrl: string
  /** Those voices. */
  readonly voices: Voices
  /** Sessions, oldest first: all open ones and the latest 200 that ended. */
  readonly sessions: readonly ModelSession[]
  /** The scripts that sessions may follow. */
  readonly scripts: ScriptBook
  /** Replaces the faults of all sessions to come; running ones keep theirs. Returns what puts the ones before back. */
  setFaults(plans: FaultPlan[]): () => void
  /** Ends all sessions and stops listening. Safe to call twice. */
  close(): Promise<void>
}

const SESSION_MAX_MS = 60 * 60_000
const FRAME_BYTES_MAX = 16 * 1024 * 1024
const SESSIONS_KEPT = 200
/** How long a client has to answer the closing of a session. */
const CLOSE_GRACE_MS = 500
const HEADERS_TIMEOUT_MS = 10_000

/** Starts a model that speaks the Realtime protocol as it is generally available. Rejects when the port is taken. */
export async function startModel(options: ModelOptions): Promise<Model> {
  const model = new RunningModel(options, await loadVoiceActivity())
  await model.listen()
  return model
}

class RunningModel implements Model {
  readonly scripts = new ScriptBook()
  readonly voices: Voices
  readonly #options: ModelOptions
  readonly #makeActivity: () => VoiceActivity
  readonly #pace: Pace
  readonly #switches = new FaultSwitches()
  readonly #timers = new Timers()
  readonly #sockets = new Set<Socket>()
  readonly #upgrader = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: FRAME_BYTES_MAX })
  readonly #server: Server
  #sessions: ModelSession[] = []

  constructor(options: ModelOptions, makeActivity: () => VoiceActivity) {
    this.#options = options
    this.#makeActivity = makeActivity
    this.#pace = { ...NATURAL_PACE, ...options.pace }
    if (options.brain) this.scripts.setDefault(options.brain)
    this.#switches.set(options.faults ?? [])
    this.voices = new Voices(options.speech, options.apiKey ?? null)
    this.#server = createServer((request, response) => this.#answer(request, response))
    this.#server.headersTimeout = HEADERS_TIMEOUT_MS
    this.#server.on('connection', (socket) => this.#track(socket))
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head))
  }

  get url(): string {
    return `ws://${this.#authority()}/v1/realtime`
  }

  get baseUrl(): string {
    return `http://${this.#authority()}/v1`
  }

  get voiceUrl(): string {
    return `ws://${this.#authority()}/v1/text-to-speech`
  }

  get sessions(): readonly ModelSession[] {
    return this.#sessions
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  setFaults(plans: FaultPlan[]): () => void {
    return this.#switches.set(plans)
  }

  async close(): Promise<void> {
    this.#timers.close()
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    this.voices.close()
    const impatient = setTimeout(() => this.#cutAll(), CLOSE_GRACE_MS)
    await stopped
    clearTimeout(impatient)
    this.#cutAll()
  }

  #authority(): string {
    const { port } = this.#server.address() as AddressInfo
    return `${this.#options.host}:${port}`
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url?.split('?')[0]
    const { speech, apiKey = null } = this.#options
    // Only a request that broke off rejects; there is nobody left to tell.
    const broken = () => response.destroy()
    if (path === CHAT_PATH) answerChat({ scripts: this.scripts, apiKey }, request, response).catch(broken)
    else if (path === SPEECH_PATH) answerSpeech({ speech, apiKey }, request, response).catch(broken)
    else void answerControl(this, request, response)
  }

  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    // An upgraded socket is nobody's between two parties; without a listener its reset would end the process.
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (isVoicePath(request)) return this.voices.upgrade(request, socket, head)
    const faults = this.#switches.forNextSession()
    if (faults.refuse) {
      socket.resetAndDestroy()
      return
    }
    const admission = admit(request, this.#options.apiKey ?? null, faults)
    this.#timers.after(faults.handshake_delay_ms ?? 0, () => {
      if (admission.kind === 'refused') {
        socket.end(refusalResponse(admission))
        return
      }
      this.#upgrader.handleUpgrade(request, socket, head, (accepted) =>
        this.#open(
          new ModelSession(this.#sessionOptions({ socket: accepted, raw: socket, ...admission, faults })),
          admission,
        ),
      )
    })
  }

  #open(session: ModelSession, admission: Extract<Admission, { kind: 'open' }>): void {
    this.#keep(session)
    session.open(admission.error)
  }

  #sessionOptions(own: Pick<SessionOptions, 'socket' | 'raw' | 'model' | 'script' | 'faults'>): SessionOptions {
    const { speech, phraseBook, sessionMaxMs = SESSION_MAX_MS } = this.#options
    const shared = { speech, phraseBook, scripts: this.scripts, pace: this.#pace, maxMs: sessionMaxMs }
    return { ...own, ...shared, activity: this.#makeActivity() }
  }

  #keep(session: ModelSession): void {
    this.#sessions.push(session)
    const ended = this.#sessions.filter((candidate) => candidate.record.closedAtMs !== null)
    const surplus = new Set(ended.slice(0, Math.max(0, ended.length - SESSIONS_KEPT)))
    this.#sessions = this.#sessions.filter((candidate) => !surplus.has(candidate))
  }
}
