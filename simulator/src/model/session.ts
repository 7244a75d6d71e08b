import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { PhraseBook } from '../speech/phrase-book.ts'
import type { Speech } from '../speech/speech.ts'
import type { Brain } from './brain.ts'
import { CallerTurns } from './caller-turns.ts'
import { type ClientEvent, checkEvent, parseFrame } from './client-events.ts'
import { storedItem } from './client-items.ts'
import { Conversation } from './conversation.ts'
import { EventStream } from './event-stream.ts'
import type { ModelFaults } from './faults.ts'
import { newId } from './ids.ts'
import { createItem, deleteItem, retrieveItem, truncateItem } from './item-commands.ts'
import type { StoredItem } from './items.ts'
import { errorBody, ModelError } from './model-error.ts'
import type { Pace, ResponseRequest } from './response-request.ts'
import type { ResponseOutcome } from './response-run.ts'
import { Responses } from './responses.ts'
import type { ScriptBook } from './script-book.ts'
import { defaultConfig, updateConfig } from './session-config.ts'
import { newRecord, note, type SessionRecord } from './session-record.ts'
import type { SessionState } from './session-state.ts'
import { Timers } from './timers.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** What a session is opened with. */
export type SessionOptions = {
  socket: WebSocket
  raw: Socket
  model: string
  /** The `script` of the connection's address. */
  script: string | null
  faults: ModelFaults
  pace: Pace
  maxMs: number
  speech: Speech
  phraseBook: PhraseBook
  scripts: ScriptBook
  activity: VoiceActivity
}

const GOING_AWAY = 1001
const OPEN_ERROR_CLOSE = 4000

/** One connection of a client: it reads client events in order and answers them. */
export class ModelSession {
  readonly #options: SessionOptions
  readonly #state: SessionState
  readonly #responses: Responses
  readonly #turns: CallerTurns
  #brain: Brain | null = null
  #inbox: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: SessionOptions) {
    this.#options = options
    const { socket, raw, model, speech, phraseBook, pace } = options
    const timers = new Timers()
    const stream = new EventStream({ socket, raw, timers }, () => this.#expire())
    const conversation = new Conversation()
    const record = newRecord(newId('sess'), model)
    this.#state = {
      config: defaultConfig(model),
      faults: options.faults,
      record,
      stream,
      timers,
      conversation,
      phraseBook,
    }
    this.#responses = new Responses({
      stream,
      timers,
      conversation,
      phraseBook,
      speech,
      pace,
      config: () => this.#state.config,
      faults: () => this.#state.faults,
      brain: (metadata) => this.#brainFor(metadata),
      onEnd: (outcome, request) => this.#answered(outcome, request),
    })
    this.#turns = new CallerTurns(this.#state, options.activity, {
      interrupt: () => this.#responses.interrupt(),
      answer: () => this.#answerTurn(),
    })
  }

  /** What happened in it so far. */
  get record(): SessionRecord {
    return this.#state.record
  }

  /** Replaces the faults of this session; their moments count from now. */
  setFaults(faults: ModelFaults): void {
    this.#state.faults = structuredClone(faults)
    this.#state.stream.setFaults(this.#state.faults)
  }

  /** Begins to read and says hello; with a `refusal` says that and closes. */
  open(refusal: { code: string; message: string } | null): void {
    const { stream, timers, faults } = this.#state
    stream.setFaults(faults)
    this.#options.socket.on('message', (data, isBinary) => {
      this.#receive(!isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : null)
    })
    this.#options.socket.on('close', (code) => this.#closed(code))
    // An error of the socket is always followed by its close.
    this.#options.socket.on('error', () => {})
    if (refusal) return this.#turnAway(refusal.code, refusal.message)
    if (faults.open_error) return this.#turnAway(faults.open_error, `Rehearsed: ${faults.open_error}.`)
    timers.after(this.#options.maxMs, () => this.#expire())
    stream.send('session.created', { session: this.#view() })
  }

  /** Ends it from the server's side. */
  close(): void {
    this.#state.stream.close(GOING_AWAY, 'the server goes away')
    this.#closed(GOING_AWAY)
  }

  #turnAway(code: string, message: string): void {
    this.#refuse(new ModelError(code, message), null)
    this.#state.stream.close(OPEN_ERROR_CLOSE, `invalid_request_error.${code}`)
  }

  #receive(data: string | null): void {
    // One after the other, although some wait for a codec: a later event must not overtake an earlier one.
    this.#inbox = this.#inbox.then(() => this.#handle(data))
  }

  async #handle(data: string | null): Promise<void> {
    if (this.#isClosed) return
    let eventId: string | null = null
    try {
      const frame = parseFrame(data)
      if (typeof frame['event_id'] === 'string') eventId = frame['event_id']
      const event = checkEvent(frame)
      this.record.received[event.type] = (this.record.received[event.type] ?? 0) + 1
      await this.#dispatch(event)
    } catch (error) {
      this.#refuse(error, eventId)
    }
  }

  #dispatch(event: ClientEvent): Promise<void> | void {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session)
      case 'input_audio_buffer.append':
        return this.#turns.append(event.audio)
      case 'input_audio_buffer.commit':
        return this.#turns.commit()
      case 'input_audio_buffer.clear':
        return this.#turns.clear()
      case 'conversation.item.create':
        return createItem(this.#state, event)
      case 'conversation.item.retrieve':
        return retrieveItem(this.#state, event)
      case 'conversation.item.delete':
        return deleteItem(this.#state, event)
      case 'conversation.item.truncate':
        return truncateItem(this.#state, event)
      case 'response.create':
        return this.#respond(event.response ?? null)
      case 'response.cancel':
        return this.#responses.cancel(event)
    }
  }

  #update(session: unknown): void {
    const { faults, stream } = this.#state
    if (faults.ignore_session_update) return
    if (faults.reject_session_update)
      throw new ModelError(faults.reject_session_update, 'Rehearsed refusal.', 'session')
    const { hasSpoken, isActive: isSpeaking } = this.#responses
    this.#state.config = updateConfig(this.#state.config, session, { hasSpoken, isSpeaking })
    stream.send('session.updated', { session: this.#view() })
    if (faults.huge_event_bytes) stream.sendHuge(faults.huge_event_bytes)
  }

  async #respond(params: Parameters<Responses['create']>[0]): Promise<void> {
    const { conversation, config } = this.#state
    if (!params?.input) return this.#responses.create(params, null)
    const input: StoredItem[] = []
    for (const item of params.input) {
      if (item.type === 'item_reference') input.push(conversation.retrieve(item.id))
      else input.push(await storedItem(item, config.audio.input.format))
    }
    this.#responses.create(params, input)
  }

  #brainFor(metadata: string | null): Brain {
    const { scripts, script, model } = this.#options
    this.#brain ??= scripts.open({ query: script, model, instructions: this.#state.config.instructions, metadata })
    return this.#brain
  }

  #answered(outcome: ResponseOutcome, request: ResponseRequest): void {
    const { record, conversation } = this.#state
    const { id, status, said, output } = outcome
    note(record.said, { responseId: id, text: said, status, atMs: Date.now() })
    for (const item of output) {
      if (item.type === 'function_call')
        note(record.calls, { callId: item.call_id, name: item.name, arguments: item.arguments, output: null })
    }
    if (request.reply.problem) note(record.problems, request.reply.problem)
    if (!this.#isClosed) this.#turns.answered(conversation.entries.filter(({ item }) => output.includes(item)))
  }

  /** A turn that was found by the server is answered by it, unless it is still speaking. */
  #answerTurn(): void {
    try {
      this.#responses.create(null, null)
    } catch (error) {
      this.#refuse(error, null)
    }
  }

  #refuse(error: unknown, eventId: string | null): void {
    const known =
      error instanceof ModelError ? error : new ModelError('server_error', `Internal error: ${String(error)}`)
    const body = errorBody(known, eventId)
    note(this.record.errors, body)
    this.#state.stream.send('error', { error: body })
  }

  #expire(): void {
    const minutes = Math.round(this.#options.maxMs / 60_000) || 1
    this.#refuse(
      new ModelError('session_expired', `Your session hit the maximum duration of ${minutes} minutes.`),
      null,
    )
    this.#state.stream.close(GOING_AWAY, 'session_expired')
  }

  #view(): Record<string, unknown> {
    const { record, config } = this.#state
    const expiresAt = Math.floor((record.openedAtMs + this.#options.maxMs) / 1000)
    return { object: 'realtime.session', id: record.id, expires_at: expiresAt, ...config }
  }

  #closed(code: number): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.record.closedAtMs = Date.now()
    this.record.closeCode = code
    this.#responses.close()
    // What the last event still waits for may use the codec, so that goes after it.
    void this.#inbox.then(() => this.#turns.close())
    this.#state.timers.close()
  }
}
