/** 20 ms of µ-law. */
export const FRAME_MS = 20
const BYTES_PER_MS = 8
/** Bytes below are loud in µ-law, so that a byte says whose sound it is and is loud as well. */
const LOUD_BELOW = 64
const SILENCE = 0xff
/** Answers sound by the bytes from here on, and people by those below, so that it can be told who is heard. */
const ANSWERS_FROM = LOUD_BELOW
const ANSWER_VOICES = 128

const cache = new Map<string, Buffer>()

function tone(byte: number, ms: number): Buffer {
  const key = `${byte}/${ms}`
  const known = cache.get(key)
  if (known) return known
  const payload = Buffer.from(Buffer.alloc(ms * BYTES_PER_MS, byte).toString('base64'))
  cache.set(key, payload)
  return payload
}

/** 20 ms of a caller who makes the sound of this number; of a silent one for null. */
export function callerFrame(sound: number | null): Buffer {
  return tone(sound ?? SILENCE, FRAME_MS)
}

/** The number of the sound in a frame of the caller; null for silence. */
export function soundIn(payload: Buffer): number | null {
  const byte = firstByte(payload)
  return byte < LOUD_BELOW ? byte : null
}

/** `ms` of the agent's voice in the answer of this number. */
export function agentAudio(answer: number, ms: number): Buffer {
  return tone(ANSWERS_FROM + (answer % ANSWER_VOICES), ms)
}

/** Who is heard in a piece of audio that goes down: the agent in the answer of this number, modulo 128, a person, or nobody. */
type Voice = { answer: number } | 'person' | 'nobody'

/** Whose voice a piece of audio is, and how long it is. */
export function voiceIn(payload: string): { voice: Voice; ms: number } {
  const bytes = Buffer.from(payload, 'base64')
  const [byte = SILENCE] = bytes
  return { voice: voiceOf(byte), ms: bytes.length / BYTES_PER_MS }
}

function voiceOf(byte: number): Voice {
  if (byte < LOUD_BELOW) return 'person'
  // Tones begin softly.
  return byte < ANSWERS_FROM + ANSWER_VOICES ? { answer: byte - ANSWERS_FROM } : 'nobody'
}

function firstByte(payload: Buffer): number {
  return Buffer.from(payload.toString('latin1', 0, 4), 'base64')[0] ?? SILENCE
}
