import { BYTES_PER_MS, silence } from '../audio/mulaw.ts'
import { splitSentences } from '../speech/sentences.ts'
import type { Speech } from '../speech/speech.ts'

/** The real server's deltas grow quickly to a quarter of a second. */
const FIRST_CHUNKS_MS = [100, 150]
const CHUNK_MS = 250
const SENTENCE_PAUSE_MS = 240

/** A piece of speech to send, and the words that begin in it. */
export type SpokenChunk = { mulaw: Uint8Array; words: string }

/** Speaks a text, sentence by sentence, so that the first is heard while the next is still being made. */
export async function* spokenChunks(speech: Speech, text: string): AsyncGenerator<SpokenChunk> {
  const sentences = splitSentences(text)
  let next = sentences[0] === undefined ? null : speak(speech, sentences[0])
  let count = 0
  for (const [index, sentence] of sentences.entries()) {
    const made = (await next) ?? null
    const following = sentences[index + 1]
    next = following === undefined ? null : speak(speech, following)
    if (made instanceof Error) throw made
    const pause = following === undefined ? new Uint8Array(0) : silence(SENTENCE_PAUSE_MS)
    const audio = Buffer.concat([made ?? new Uint8Array(0), pause])
    const lead = index === 0 ? '' : ' '
    for (const chunk of chunksOf(audio, lead + sentence, count)) {
      count++
      yield chunk
    }
  }
}

/** What follows in a spoken text after its first `spokenBytes`, in pieces of a quarter of a second. */
export async function restOfSpeech(speech: Speech, text: string, spokenBytes: number): Promise<Uint8Array[]> {
  const whole = await speech.say(text)
  const size = CHUNK_MS * BYTES_PER_MS
  const chunks: Uint8Array[] = []
  for (let at = spokenBytes; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size))
  return chunks
}

function* chunksOf(audio: Uint8Array, text: string, firstIndex: number): Generator<SpokenChunk> {
  const words = text.match(/\s*\S+/g) ?? []
  let said = 0
  for (let at = 0, index = firstIndex; at < audio.length; index++) {
    const lengthMs = FIRST_CHUNKS_MS[index] ?? CHUNK_MS
    const end = Math.min(audio.length, at + lengthMs * BYTES_PER_MS)
    // The transcript runs a little ahead of the sound, never behind it.
    const upTo = Math.ceil((end / audio.length) * words.length)
    yield { mulaw: audio.subarray(at, end), words: words.slice(said, upTo).join('') }
    said = upTo
    at = end
  }
}

// The sentence ahead may fail while nobody awaits it: its error waits as a value until it is asked for.
async function speak(speech: Speech, sentence: string): Promise<Uint8Array | Error> {
  try {
    return await speech.say(sentence)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
