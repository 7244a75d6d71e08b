import { ID, runEnd, standsAt } from '../../json-bytes.ts'

/** The event that carries the model's speech: by far the most frequent and the largest. */
export const AUDIO_DELTA = 'response.output_audio.delta'

/** The event that carries the words of that speech, as often. */
export const WORDS_DELTA = 'response.output_audio_transcript.delta'

/** What stands before the base64 in a frame of the caller's audio. */
export const APPEND_HEAD = Buffer.from('{"type":"input_audio_buffer.append","audio":"')
/** What stands behind it. */
export const APPEND_TAIL = Buffer.from('"}')

const TYPE = Buffer.from('{"type":')
const SPACE = 0x20
const QUOTE = 0x22

/** The type of an event that begins with it, without reading any further; null when it does not. */
export function eventType(frame: Buffer): string | null {
  if (!standsAt(frame, 0, TYPE)) return null
  const opening = frame[TYPE.length] === SPACE ? TYPE.length + 1 : TYPE.length
  const end = runEnd(frame, opening + 1, ID)
  if (frame[opening] !== QUOTE || frame[end] !== QUOTE) return null
  return frame.toString('latin1', opening + 1, end)
}
