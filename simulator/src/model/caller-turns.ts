import { type Codec, makeDecoder } from './audio-codec.ts'
import { fromBase64 } from './client-items.ts'
import { IdlePrompt } from './idle-prompt.ts'
import { newId } from './ids.ts'
import { InputAudio, type Turn } from './input-audio.ts'
import type { Item, StoredItem } from './items.ts'
import { shown } from './output-part.ts'
import { note } from './session-record.ts'
import type { AudioFormat } from './session-shape.ts'
import type { SessionState } from './session-state.ts'
import { Transcripts } from './transcripts.ts'
import type { Completeness, TurnEvent } from './turn-detector.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** What happens to responses when the caller speaks and stops. */
export type TurnReactions = {
  /** Speech began while a response may be running. */
  interrupt(): void
  /** A turn has ended and is to be answered. */
  answer(): void
}

const TRAILING_OFF = /(?:,|…|\.\.\.|\b(?:um+|uh+m?|and|but|so|because))$/i

/** The caller's side of a session: audio in, turns found, items and transcripts made of them. */
export class CallerTurns {
  readonly #state: SessionState
  readonly #reactions: TurnReactions
  readonly #input: InputAudio
  readonly #transcripts: Transcripts
  readonly #idle: IdlePrompt
  #decoder: { format: AudioFormat; codec: Codec } | null = null
  #itemId = newId('item')

  constructor(state: SessionState, activity: VoiceActivity, reactions: TurnReactions) {
    this.#state = state
    this.#reactions = reactions
    this.#input = new InputAudio(activity, (mulaw) => completenessOf(state, mulaw))
    this.#transcripts = new Transcripts(state)
    this.#idle = new IdlePrompt(state.timers, (idleMs) => this.#timedOut(idleMs))
  }

  /** Takes audio in the session's input format. @throws ModelError `invalid_value` for what is no base64. */
  async append(base64: string): Promise<void> {
    const codec = await this.#codec()
    const mulaw = codec.push(fromBase64(base64, 'audio'))
    for (const event of this.#input.append(mulaw, this.#state.config.audio.input.turn_detection)) this.#turn(event)
  }

  /** Makes an item of the buffer. @throws ModelError `input_audio_buffer_commit_empty`. */
  commit(): void {
    this.#store(this.#input.commit(), this.#itemId)
  }

  /** Empties the buffer. */
  clear(): void {
    this.#input.clear()
    this.#state.stream.send('input_audio_buffer.cleared')
  }

  /** A response has ended with these items: from their last sound on the caller may be too long silent. */
  answered(spoken: StoredItem[]): void {
    this.#idle.arm(this.#state.config.audio.input.turn_detection, spoken)
  }

  /** Frees what it holds. */
  close(): void {
    this.#idle.disarm()
    this.#decoder?.codec.finish()
    this.#input.close()
  }

  async #codec(): Promise<Codec> {
    const { format } = this.#state.config.audio.input
    if (this.#decoder?.format.type === format.type) return this.#decoder.codec
    this.#decoder?.codec.finish()
    this.#decoder = { format, codec: await makeDecoder(format) }
    return this.#decoder.codec
  }

  #turn(event: TurnEvent): void {
    const { stream, config } = this.#state
    const settings = config.audio.input.turn_detection
    if (event.kind === 'started') {
      this.#idle.disarm()
      stream.send('input_audio_buffer.speech_started', { audio_start_ms: event.startMs, item_id: this.#itemId })
      if (settings?.interrupt_response) this.#reactions.interrupt()
      return
    }
    stream.send('input_audio_buffer.speech_stopped', { audio_end_ms: event.endMs, item_id: this.#itemId })
    this.#store(this.#input.take(event), this.#itemId)
    if (settings?.create_response) this.#reactions.answer()
  }

  #store(turn: Turn, itemId: string): void {
    const { stream, conversation, record, phraseBook } = this.#state
    const item: Item = {
      id: itemId,
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [],
    }
    item.content.push({ type: 'input_audio', transcript: null })
    const entry: StoredItem = { item, audio: turn.audio }
    stream.send('input_audio_buffer.committed', { item_id: itemId, previous_item_id: conversation.lastId })
    const previous = conversation.insert(entry)
    stream.send('conversation.item.added', { previous_item_id: previous, item: shown(item) })
    stream.send('conversation.item.done', { previous_item_id: previous, item: shown(item) })
    const text = phraseBook.recognise(turn.audio)?.text ?? null
    note(record.heard, { itemId, text, startMs: turn.startMs, endMs: turn.endMs })
    this.#itemId = newId('item')
    const { transcription } = this.#state.config.audio.input
    if (transcription) this.#transcripts.start(entry, this.#state.faults, transcription.model ?? 'gpt-4o-transcribe')
  }

  #timedOut(idleMs: number): void {
    if (this.#input.isSpeaking) return
    const endMs = this.#input.endMs
    const startMs = Math.max(0, endMs - idleMs)
    const fields = { audio_start_ms: startMs, audio_end_ms: endMs, item_id: this.#itemId }
    this.#state.stream.send('input_audio_buffer.timeout_triggered', fields)
    this.#store(this.#input.take({ startMs, endMs }), this.#itemId)
    this.#reactions.answer()
  }
}

function completenessOf({ phraseBook }: SessionState, mulaw: Uint8Array): Completeness {
  const text = phraseBook.recognise(mulaw)?.text
  if (text === undefined) return 'unknown'
  return TRAILING_OFF.test(text) ? 'trailing_off' : 'whole'
}
