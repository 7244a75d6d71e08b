import { newId } from './ids.ts'
import type { Content, ItemStatus, MessageItem, Phase, StoredItem } from './items.ts'
import { closeItem, type OutputPlace, openItem, placeOf } from './output-part.ts'

const CONTENT_INDEX = 0

/** Writes one spoken or written message of a response. */
export class MessageOutput {
  readonly #place: OutputPlace
  readonly #entry: StoredItem
  readonly #item: MessageItem
  readonly #modality: 'audio' | 'text'
  readonly #content: Content[]
  #text = ''

  constructor(place: OutputPlace, modality: 'audio' | 'text', phase?: Phase) {
    this.#place = place
    this.#modality = modality
    this.#content = [
      modality === 'audio' ? { type: 'output_audio', transcript: '' } : { type: 'output_text', text: '' },
    ]
    this.#item = {
      id: newId('item'),
      object: 'realtime.item',
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
      ...(phase && { phase }),
    }
    this.#entry = { item: this.#item, audio: modality === 'audio' ? new Uint8Array(0) : null }
  }

  /** The item as it stands. */
  get item(): MessageItem {
    return this.#item
  }

  /** The words written so far. */
  get text(): string {
    return this.#text
  }

  /** Announces the item and its one part. */
  open(): void {
    openItem(this.#place, this.#entry)
    this.#item.content = this.#content
    this.#send('response.content_part.added', { part: this.#part() })
  }

  /** Writes words: the transcript of speech, or the text itself. */
  words(delta: string): void {
    this.#text += delta
    const [part] = this.#content
    if (part?.type === 'output_audio') part.transcript = this.#text
    else if (part?.type === 'output_text') part.text = this.#text
    this.#send(this.#modality === 'audio' ? 'response.output_audio_transcript.delta' : 'response.output_text.delta', {
      delta,
    })
  }

  /** Writes audio: `mulaw` is kept (unless the client has cut the item short), `wire` is the same in the session's format. */
  audio(mulaw: Uint8Array, wire: Uint8Array): void {
    // A truncation replaces the content: what is still generated then was never heard, and must not grow it again.
    if (this.#entry.audio && this.#item.content === this.#content)
      this.#entry.audio = Buffer.concat([this.#entry.audio, mulaw])
    this.lateAudio(wire)
  }

  /** Writes audio that belongs to nothing any more. */
  lateAudio(wire: Uint8Array): void {
    if (wire.length > 0) this.#send('response.output_audio.delta', { delta: Buffer.from(wire).toString('base64') })
  }

  /** Ends the part and the item. */
  close(status: ItemStatus): void {
    if (this.#modality === 'audio') {
      this.#send('response.output_audio.done', {})
      this.#send('response.output_audio_transcript.done', { transcript: this.#text })
    } else this.#send('response.output_text.done', { text: this.#text })
    this.#send('response.content_part.done', { part: this.#part() })
    closeItem(this.#place, this.#entry, status)
  }

  #part(): { type: string; transcript?: string; text?: string } {
    return this.#modality === 'audio' ? { type: 'audio', transcript: this.#text } : { type: 'text', text: this.#text }
  }

  #send(type: string, fields: Record<string, unknown>): void {
    this.#place.stream.send(type, {
      ...placeOf(this.#place),
      item_id: this.#item.id,
      content_index: CONTENT_INDEX,
      ...fields,
    })
  }
}
