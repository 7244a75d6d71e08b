import { ID, runEnd, standsAt } from './bytes.ts'

/** The event that carries the model's speech: by far the most frequent and the largest. */
export const AUDIO_DELTA = 'response.output_audio.delta'

const APPEND_HEAD = Buffer.from('{"type":"input_audio_buffer.append","audio":"')
const APPEND_TAIL = Buffer.from('"}')
const APPEND_BYTES = APPEND_HEAD.length + APPEND_TAIL.length

const TYPE = Buffer.from('{"type":')
const SPACE = 0x20
const QUOTE = 0x22

/** A frame of the caller's audio around its base64, which is spliced in as it is. */
export function appendFrame(payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(APPEND_BYTES + payload.length)
  frame.set(APPEND_HEAD)
  frame.set(payload, APPEND_HEAD.length)
  frame.set(APPEND_TAIL, APPEND_HEAD.length + payload.length)
  return frame
}

/** The type of an event that begins with it, without reading any further; null when it does not. */
export function eventType(frame: Buffer): string | null {
  if (!standsAt(frame, 0, TYPE)) return null
  const opening = frame[TYPE.length] === SPACE ? TYPE.length + 1 : TYPE.length
  const end = runEnd(frame, opening + 1, ID)
  if (frame[opening] !== QUOTE || frame[end] !== QUOTE) return null
  return frame.toString('latin1', opening + 1, end)
}
