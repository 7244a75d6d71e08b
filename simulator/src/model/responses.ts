import type { PhraseBook } from '../speech/phrase-book.ts'
import type { Brain, Reply } from './brain.ts'
import type { ClientEventOf, ResponseParams } from './client-events.ts'
import { cueOf } from './cue.ts'
import type { ModelFaults } from './faults.ts'
import { newId } from './ids.ts'
import type { Item, StoredItem } from './items.ts'
import { ModelError } from './model-error.ts'
import type { CancelReason, ResponseRequest } from './response-request.ts'
import { type ResponseDeps, type ResponseOutcome, ResponseRun } from './response-run.ts'
import type { SessionConfig } from './session-config.ts'
import { promptTokens, type Tokens } from './usage.ts'

/** What the responses of a session need from it. */
export type ResponsesDeps = ResponseDeps & {
  phraseBook: PhraseBook
  config: () => SessionConfig
  faults: () => ModelFaults
  brain: (metadata: string | null) => Brain
  onEnd: (outcome: ResponseOutcome, request: ResponseRequest) => void
}

const CANCEL_INACTIVE = 'Cancellation failed: no active response found'
const OUTSIDE_MAX = 16

/** The responses of a session: one at a time in the conversation, others beside it. */
export class Responses {
  readonly #deps: ResponsesDeps
  readonly #conversationId = newId('conv')
  readonly #answered = new WeakSet<StoredItem>()
  readonly #outside = new Set<ResponseRun>()
  #active: ResponseRun | null = null
  #brain: Brain | null = null
  #previousPrompt: Tokens | null = null
  #hasSpoken = false

  constructor(deps: ResponsesDeps) {
    this.#deps = deps
  }

  /** Whether a response of the conversation is being written. */
  get isActive(): boolean {
    return this.#active !== null
  }

  /** Whether any response has made sound. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /**
   * Starts a response. `input` is what it reads in place of the conversation, if the client gave that.
   * @throws ModelError `conversation_already_has_active_response`.
   */
  create(params: ResponseParams | null, input: StoredItem[] | null): void {
    const isOutside = params?.conversation === 'none'
    if (!isOutside) this.#requireIdle()
    if (isOutside && this.#outside.size >= OUTSIDE_MAX) throw tooMany()
    const request = this.#request(params ?? {}, this.#reply(params ?? {}, input, isOutside))
    const run = new ResponseRun(this.#deps, request)
    if (isOutside) this.#outside.add(run)
    else this.#active = run
    void run.run().then((outcome) => this.#ended(run, outcome))
  }

  /** Stops the conversation's response, or the one named. @throws ModelError `response_cancel_not_active`. */
  cancel(event: ClientEventOf<'response.cancel'>): void {
    const id = event.response_id
    const all = this.#active ? [this.#active, ...this.#outside] : [...this.#outside]
    const run = id === undefined ? this.#active : all.find((candidate) => candidate.id === id)
    if (!run) throw new ModelError('response_cancel_not_active', CANCEL_INACTIVE)
    run.cancel('client_cancelled')
  }

  /** The caller speaks: the conversation's response stops. */
  interrupt(): void {
    this.#active?.cancel('turn_detected')
  }

  /** Stops all. */
  close(reason: CancelReason = 'client_cancelled'): void {
    this.#active?.cancel(reason)
    for (const run of this.#outside) run.cancel(reason)
  }

  #requireIdle(): void {
    if (this.#active) throw alreadyActive(this.#active.id)
    const faults = this.#deps.faults()
    const rehearsed = faults.active_response_count ?? 0
    if (rehearsed === 0) return
    faults.active_response_count = rehearsed - 1
    throw alreadyActive(newId('resp'))
  }

  /** The faults of one response; what is counted is counted down. */
  #faults(): ModelFaults {
    const faults = this.#deps.faults()
    const copy = structuredClone(faults)
    const left = faults.fail_response?.count
    if (left === 0) delete copy.fail_response
    else if (faults.fail_response && left !== undefined) faults.fail_response.count = left - 1
    return copy
  }

  #request(params: ResponseParams, reply: Reply): ResponseRequest {
    const config = this.#deps.config()
    const modality = (params.output_modalities ?? config.output_modalities)[0] ?? 'audio'
    const metadata = params.metadata ?? null
    const request: ResponseRequest = {
      reply,
      modality,
      format: params.audio?.output?.format ?? config.audio.output.format,
      voice: params.audio?.output?.voice ?? config.audio.output.voice,
      conversationId: params.conversation === 'none' ? null : this.#conversationId,
      metadata,
      maxOutputTokens: params.max_output_tokens ?? config.max_output_tokens,
      prompt: promptTokens(config, this.#deps.conversation.entries),
      previousPrompt: this.#previousPrompt,
      faults: this.#faults(),
    }
    this.#previousPrompt = request.prompt
    return request
  }

  #reply(params: ResponseParams, input: StoredItem[] | null, isOutside: boolean): Reply {
    const { conversation, config, phraseBook, brain } = this.#deps
    const settings = config()
    const fresh = input ?? this.#unanswered()
    const cue = cueOf(
      {
        fresh,
        conversation,
        config: settings,
        instructions: params.instructions ?? null,
        tools: params.tools ?? settings.tools,
        canCall: (params.tool_choice ?? settings.tool_choice) !== 'none',
      },
      phraseBook,
    )
    this.#brain = brain(params.metadata?.['script'] ?? null)
    if (isOutside) return this.#brain.aside(cue)
    for (const entry of fresh) this.#answered.add(entry)
    return this.#brain.reply(cue)
  }

  #unanswered(): StoredItem[] {
    return this.#deps.conversation.entries.filter((entry) => !this.#answered.has(entry) && isFromOutside(entry.item))
  }

  #ended(run: ResponseRun, outcome: ResponseOutcome): void {
    if (this.#active === run) this.#active = null
    this.#outside.delete(run)
    if (outcome.said !== '' && run.request.modality === 'audio') this.#hasSpoken = true
    if (run.request.conversationId !== null && outcome.output.length > 0) this.#brain?.delivered()
    this.#deps.onEnd(outcome, run.request)
  }
}

function isFromOutside(item: Item): boolean {
  return item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant')
}

function alreadyActive(id: string): ModelError {
  const message = `Conversation already has an active response in progress: ${id}. Wait until the response is finished before creating a new one.`
  return new ModelError('conversation_already_has_active_response', message)
}

function tooMany(): ModelError {
  return new ModelError(
    'invalid_value',
    `At most ${OUTSIDE_MAX} responses can run beside the conversation.`,
    'response',
  )
}
