/** 20 ms of µ-law. */
export const FRAME_MS = 20
const BYTES_PER_MS = 8
/** Bytes below are loud in µ-law, so that a byte says whose sound it is and is loud as well. */
const LOUD_BELOW = 64
const SILENCE = 0xff

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
  return tone(answer % 256, ms)
}

/** The number of the answer in a piece of the agent's voice, modulo 256, and how long it is; null for a sound of the service's own. */
export function answerIn(payload: string): { answer: number | null; ms: number } {
  const bytes = Buffer.from(payload, 'base64')
  const [answer = SILENCE] = bytes
  // Tones begin softly.
  return { answer: answer === SILENCE ? null : answer, ms: bytes.length / BYTES_PER_MS }
}

function firstByte(payload: Buffer): number {
  return Buffer.from(payload.toString('latin1', 0, 4), 'base64')[0] ?? SILENCE
}
