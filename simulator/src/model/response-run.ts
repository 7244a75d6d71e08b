import type { Speech } from '../speech/speech.ts'
import { type Codec, makeEncoder } from './audio-codec.ts'
import { writeCall } from './call-output.ts'
import type { Conversation } from './conversation.ts'
import type { EventStream } from './event-stream.ts'
import { newId } from './ids.ts'
import type { Item, Phase } from './items.ts'
import { MessageOutput } from './message-output.ts'
import type { OutputPlace } from './output-part.ts'
import type { CancelReason, Pace, ResponseRequest, ResponseStatus } from './response-request.ts'
import { failureDetails, responseView, type StatusDetails } from './response-view.ts'
import { restOfSpeech, spokenChunks } from './spoken-text.ts'
import type { Timers } from './timers.ts'
import { spokenTokens, type Tokens, textTokens, usageOf } from './usage.ts'

/** What a response works with. */
export type ResponseDeps = {
  stream: EventStream
  conversation: Conversation
  timers: Timers
  speech: Speech
  pace: Pace
}

/** What came of a response; `said` is what was generated, heard or not. */
export type ResponseOutcome = { id: string; status: ResponseStatus; said: string; output: Item[] }

const BYTES_PER_MS = 8
const WORD_MS = 60
const LATE_DELTA_MS = 20
const RATE_LIMITS = [
  { name: 'requests', limit: 5_000, remaining: 4_999, reset_seconds: 0.012 },
  { name: 'tokens', limit: 800_000, remaining: 795_000, reset_seconds: 0.375 },
]

/** A message in the making; `fromBytes`: what was spoken before it. */
type Writing = { message: MessageOutput; text: string; fromBytes: number }

class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** One response from its `response.created` to its `response.done`. */
export class ResponseRun {
  /** The id that all of its events carry. */
  readonly id = newId('resp')
  readonly request: ResponseRequest
  readonly #deps: ResponseDeps
  readonly #stop = new AbortController()
  readonly #output: Item[] = []
  #writing: Writing | null = null
  /** Of the messages that are whole; `#said` has what is being written, too. */
  #saidBefore = ''
  #said = ''
  #spokenBytes = 0
  #cancelReason: CancelReason = 'client_cancelled'

  constructor(deps: ResponseDeps, request: ResponseRequest) {
    this.#deps = deps
    this.request = request
  }

  /** Stops it; the events that end it follow at once. A second time changes nothing. */
  cancel(reason: CancelReason): void {
    if (this.#stop.signal.aborted) return
    this.#cancelReason = reason
    this.#stop.abort()
  }

  /** Writes the whole response, up to its `response.done`. A voice that fails makes a failed response. */
  async run(): Promise<ResponseOutcome> {
    const { stream } = this.#deps
    stream.send('response.created', { response: this.#view('in_progress', null) })
    stream.send('rate_limits.updated', { rate_limits: RATE_LIMITS })
    try {
      await this.#think()
      const failure = this.request.faults.fail_response
      if (failure) return this.#fail(failureDetails(failure.code))
      return await this.#answer()
    } catch (error) {
      if (error instanceof Cancelled) return this.#cancelled()
      this.#closeMessage('incomplete')
      return this.#end('failed', failureDetails('server_error'))
    }
  }

  #fail(details: StatusDetails): ResponseOutcome {
    return this.#end(details.type, details)
  }

  #think(): Promise<void> {
    const thinkMs = this.request.reply.thinkMs ?? this.#deps.pace.thinkMs
    return this.#wait(thinkMs + (this.request.faults.slow_first_byte_ms ?? 0))
  }

  async #wait(delayMs: number): Promise<void> {
    const isOver = await this.#deps.timers.sleep(Math.max(0, delayMs), this.#stop.signal)
    if (!isOver) throw new Cancelled()
  }

  async #answer(): Promise<ResponseOutcome> {
    const { ahead, say, calls } = this.request.reply
    const isGoingOn = !ahead || (await this.#sayAhead(ahead))
    const isWhole = isGoingOn && (say === '' || (await this.#write(say, ahead && 'final_answer')))
    if (!isWhole) return this.#end('incomplete', { type: 'incomplete', reason: 'max_output_tokens' })
    for (const call of calls) this.#output.push(writeCall(this.#place(), call))
    return this.#end('completed', null)
  }

  async #sayAhead({ say, thinkMs }: { say: string; thinkMs: number }): Promise<boolean> {
    const isWhole = await this.#write(say, 'commentary')
    if (isWhole) await this.#wait(thinkMs)
    return isWhole
  }

  /** Writes a message; false when the limit of tokens cut it short. */
  async #write(text: string, phase?: Phase): Promise<boolean> {
    const message = new MessageOutput(this.#place(), this.request.modality, phase)
    const writing = { message, text, fromBytes: this.#spokenBytes }
    this.#writing = writing
    this.#output.push(message.item)
    message.open()
    const isWhole = this.request.modality === 'audio' ? await this.#speak(writing) : await this.#type(writing)
    this.#closeMessage(isWhole ? 'completed' : 'incomplete')
    this.#saidBefore = `${this.#said} `
    return isWhole
  }

  async #speak(writing: Writing): Promise<boolean> {
    const encoder = await makeEncoder(this.request.format)
    let isWhole = false
    try {
      isWhole = await this.#stream(writing, encoder)
    } finally {
      const rest = encoder.finish()
      if (isWhole) writing.message.lateAudio(rest)
    }
    return isWhole
  }

  async #stream({ message, text, fromBytes }: Writing, encoder: Codec): Promise<boolean> {
    const { speech, pace } = this.#deps
    const startedMs = performance.now()
    for await (const { mulaw, words } of spokenChunks(speech, text)) {
      // Due times count from the start, so that slow timers do not add up.
      const dueMs = startedMs + (this.#spokenBytes - fromBytes) / BYTES_PER_MS / pace.timesRealTime
      await this.#wait(dueMs - performance.now())
      if (this.#isOverLimit()) return false
      if (words !== '') message.words(words)
      message.audio(mulaw, encoder.push(mulaw))
      this.#said = this.#saidBefore + message.text
      this.#spokenBytes += mulaw.length
    }
    return true
  }

  async #type({ message, text }: Writing): Promise<boolean> {
    for (const word of text.match(/\s*\S+/g) ?? []) {
      await this.#wait(WORD_MS / this.#deps.pace.timesRealTime)
      if (this.#isOverLimit()) return false
      message.words(word)
      this.#said = this.#saidBefore + message.text
    }
    return true
  }

  #isOverLimit(): boolean {
    const { maxOutputTokens } = this.request
    const { text, audio } = this.#outputTokens()
    return maxOutputTokens !== 'inf' && text + audio >= maxOutputTokens
  }

  async #cancelled(): Promise<ResponseOutcome> {
    const late = this.request.faults.late_deltas
    const writing = this.#writing
    if (late && !late.after_done) await this.#speakOn(writing, late.deltas)
    this.#closeMessage('incomplete')
    const outcome = this.#end('cancelled', { type: 'cancelled', reason: this.#cancelReason })
    // Nobody waits for these any more; a voice that ends meanwhile ends them too.
    if (late?.after_done) this.#speakOn(writing, late.deltas).catch(() => {})
    return outcome
  }

  /** Goes on with the speech as if nothing had been cancelled. */
  async #speakOn(writing: Writing | null, deltas: number): Promise<void> {
    if (!writing || this.request.modality === 'text') return
    const { message, text, fromBytes } = writing
    const encoder = await makeEncoder(this.request.format)
    const chunks = await restOfSpeech(this.#deps.speech, text, this.#spokenBytes - fromBytes)
    const never = new AbortController().signal
    for (const mulaw of chunks.slice(0, deltas)) {
      await this.#deps.timers.sleep(LATE_DELTA_MS, never)
      message.lateAudio(encoder.push(mulaw))
    }
    encoder.finish()
  }

  #closeMessage(status: 'completed' | 'incomplete'): void {
    this.#writing?.message.close(status)
    this.#writing = null
  }

  #end(status: ResponseStatus, details: StatusDetails | null): ResponseOutcome {
    this.#deps.stream.send('response.done', { response: this.#view(status, details) })
    return { id: this.id, status, said: this.#said, output: this.#output }
  }

  #view(status: ResponseStatus | 'in_progress', details: StatusDetails | null): Record<string, unknown> {
    const { prompt, previousPrompt } = this.request
    const usage = status === 'in_progress' ? null : usageOf(prompt, this.#outputTokens(), previousPrompt)
    return responseView(this.request, { id: this.id, status, details, output: this.#output, usage })
  }

  #outputTokens(): Tokens {
    const calls = this.#output.filter((item) => item.type === 'function_call')
    const text = textTokens(this.#said) + calls.reduce((sum, call) => sum + textTokens(call.arguments), 0)
    return { text, audio: spokenTokens(this.#spokenBytes) }
  }

  #place(): OutputPlace {
    const { stream, conversation } = this.#deps
    const isOutside = this.request.conversationId === null
    return {
      stream,
      conversation: isOutside ? null : conversation,
      responseId: this.id,
      outputIndex: this.#output.length,
    }
  }
}
