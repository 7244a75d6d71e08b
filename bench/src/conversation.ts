import { AnswerScript, type AnswerStep, THINK_MS } from './answer-script.ts'
import type { Call } from './call.ts'
import * as events from './model-events.ts'
import type { TurnStep } from './turn-script.ts'

/** What a client may say to its model, as far as it is looked at. */
type ClientEvent = {
  type?: string
  event_id?: string
  session?: { audio?: { input?: { turn_detection?: { create_response?: boolean } } } }
  response_id?: string
  item_id?: string
  audio_end_ms?: number
  item?: { id?: string }
}

/**
 * The model's end of one conversation: what is said when, without the bytes. Each function returns the events to send.
 *
 * It behaves as the provider's server does: it greets and answers by itself, as a relay needs it that cannot ask, until
 * a `session.update` turns that off with `create_response: false`; from then on it speaks when it is asked, once at a time.
 */
export class Conversation {
  readonly #thinkMs: number
  #speaksByItself = true
  #call: Call | undefined
  #answer: AnswerScript | undefined
  /** Somebody asked for an answer before it was known whose call this is. */
  #isAskedEarly = false
  /** The caller's turn is over, and nobody has asked for the answer yet. */
  #isAnswerOwed = false
  #lastItemId: string | null = null
  #ownItems = 0

  /** `thinkMs`: from the request for an answer to its first delta. */
  constructor(thinkMs = THINK_MS) {
    this.#thinkMs = thinkMs
  }

  /** Whether the caller's turn is over, and nobody has asked for the answer yet. */
  get isAnswerOwed(): boolean {
    return this.#isAnswerOwed
  }

  /** Whether nothing is being said, and nothing has to be. */
  get isQuiet(): boolean {
    return this.#answer === undefined && !this.#isAnswerOwed
  }

  /** The call that this is the model of is known. */
  bind(call: Call, nowMs: number): string[] {
    this.#call = call
    return this.#speaksByItself || this.#isAskedEarly ? this.#begin(call, nowMs) : []
  }

  /** What the caller does. */
  caller(call: Call, step: TurnStep, nowMs: number): string[] {
    const itemId = events.callerItem(call.id, step.turn)
    if (step.kind === 'speech_started') return [events.speechStarted(itemId, call.heardMs)]
    if (step.kind === 'transcribed') return events.transcribed(itemId)
    const ended = events.speechEnded(itemId, this.#follow(itemId), call.heardMs)
    this.#isAnswerOwed = !this.#speaksByItself
    return this.#speaksByItself ? [...ended, ...this.#begin(call, nowMs)] : ended
  }

  /** What the client asks for. */
  client(event: ClientEvent, nowMs: number): string[] {
    switch (event.type) {
      case 'session.update':
        this.#speaksByItself = event.session?.audio?.input?.turn_detection?.create_response ?? this.#speaksByItself
        return [events.sessionUpdated(event.session)]
      case 'response.create':
        return this.#ask(event.event_id ?? null, nowMs)
      case 'response.cancel':
        return this.#answer ? this.#end('cancelled') : [events.refused('response_cancel_not_active', null)]
      case 'conversation.item.truncate':
        return [events.itemTruncated(event.item_id ?? '', event.audio_end_ms ?? 0)]
      case 'conversation.item.delete':
        return [events.itemDeleted(event.item_id ?? '')]
      case 'conversation.item.create':
        return this.#create(event.item ?? {})
      default:
        return []
    }
  }

  /** The step of the running answer that is due, with its ids; ask again until there is none. */
  due(nowMs: number): { ids: events.AnswerIds; step: AnswerStep } | undefined {
    const step = this.#answer?.due(nowMs)
    return this.#answer && step && { ids: this.#answer.ids, step }
  }

  /** The running answer has said its last. */
  finish(): string[] {
    return this.#end('completed')
  }

  #ask(clientEventId: string | null, nowMs: number): string[] {
    if (this.#answer) return [events.refused('conversation_already_has_active_response', clientEventId)]
    if (this.#call) return this.#begin(this.#call, nowMs)
    this.#isAskedEarly = true
    return []
  }

  #begin(call: Call, nowMs: number): string[] {
    const cut = this.#answer ? this.#end('cancelled') : []
    const ids = events.answerIds(call.id, call.answers)
    call.answers += 1
    this.#isAnswerOwed = false
    this.#answer = new AnswerScript(ids, nowMs, this.#thinkMs)
    return [...cut, ...events.answerStarted(ids, this.#follow(ids.item))]
  }

  #end(status: 'completed' | 'cancelled'): string[] {
    const answer = this.#answer
    this.#answer = undefined
    return answer ? events.answerDone(answer.ids, status) : []
  }

  #create(item: { id?: string }): string[] {
    this.#ownItems += 1
    const id = item.id ?? `item_c${String(this.#ownItems).padStart(14, '0')}`
    return events.itemCreated({ ...item, id }, this.#follow(id))
  }

  /** Puts an item at the end and returns the one before it. */
  #follow(itemId: string): string | null {
    const previous = this.#lastItemId
    this.#lastItemId = itemId
    return previous
  }
}
