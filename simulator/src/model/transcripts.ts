import type { PhraseBook } from '../speech/phrase-book.ts'
import type { EventStream } from './event-stream.ts'
import type { ModelFaults } from './faults.ts'
import type { StoredItem } from './items.ts'
import type { Timers } from './timers.ts'
import { textTokens } from './usage.ts'

/** What the transcript of audio says that nobody here synthesised. */
const INAUDIBLE = '(inaudible)'

const INPUT_BYTES_PER_TOKEN = 800
const NATURAL_DELAY_MS = 300
const LATE_MS = 5_000

type Deps = { stream: EventStream; timers: Timers; phraseBook: PhraseBook }
type Job = { entry: StoredItem; faults: ModelFaults; model: string }

/** Writes the caller's turns down, beside and after everything else; by fault never, late, or after the next one's. */
export class Transcripts {
  readonly #deps: Deps
  #heldBack: Job | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Starts the transcript of a caller's turn; `model` decides how its usage is told. */
  start(entry: StoredItem, faults: ModelFaults, model: string): void {
    const job = { entry, faults, model }
    const how = faults.transcripts?.how
    if (how === 'never') return
    if (how === 'swapped' && !this.#heldBack) {
      this.#heldBack = job
      return
    }
    const delayMs = how === 'late' ? (faults.transcripts?.late_ms ?? LATE_MS) : NATURAL_DELAY_MS
    this.#deps.timers.after(delayMs, () => this.#finish(job))
  }

  #finish(job: Job): void {
    this.#write(job)
    const earlier = this.#heldBack
    this.#heldBack = null
    if (earlier) this.#write(earlier)
  }

  #write({ entry, faults, model }: Job): void {
    const { stream, phraseBook } = this.#deps
    const type = 'conversation.item.input_audio_transcription'
    const place = { item_id: entry.item.id, content_index: 0 }
    if (faults.transcripts?.how === 'failed') {
      const error = {
        type: 'transcription_error',
        code: 'audio_unintelligible',
        message: 'The audio could not be transcribed.',
      }
      stream.send(`${type}.failed`, { ...place, error })
      return
    }
    const audio = entry.audio ?? new Uint8Array(0)
    const transcript = phraseBook.recognise(audio)?.text ?? INAUDIBLE
    for (const word of transcript.match(/\s*\S+/g) ?? []) stream.send(`${type}.delta`, { ...place, delta: word })
    fillIn(entry, transcript)
    stream.send(`${type}.completed`, { ...place, transcript, usage: usageOf(model, audio.length, transcript) })
  }
}

function fillIn({ item }: StoredItem, transcript: string): void {
  if (item.type !== 'message') return
  for (const part of item.content) if (part.type === 'input_audio') part.transcript = transcript
}

/** The one older model is billed by time, the others by tokens. */
function usageOf(model: string, audioBytes: number, transcript: string): Record<string, unknown> {
  if (model === 'whisper-1') return { type: 'duration', seconds: Math.ceil(audioBytes / 8_000) }
  const audio = Math.ceil(audioBytes / INPUT_BYTES_PER_TOKEN)
  const output = textTokens(transcript)
  return {
    type: 'tokens',
    total_tokens: audio + output,
    input_tokens: audio,
    input_token_details: { text_tokens: 0, audio_tokens: audio },
    output_tokens: output,
  }
}
