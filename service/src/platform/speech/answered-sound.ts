import { SpeechFault } from './port.ts'
import { BYTES_PER_SAMPLE, SPOKEN_HZ, TELEPHONE_HZ, toTelephone, trimmedTelephone, wordsOf } from './telephone-audio.ts'
import { readWav, WavFault } from './wav.ts'

/** What a speech endpoint has answered, which was asked for bare PCM. */
export type Answered = { contentType: string | null; bytes: Buffer }

/** A server that has the telephone's own audio may answer with that: as it was, it needs no filter. */
export const TELEPHONE_TYPE = 'audio/basic'

/** Of a page, or a refusal, of whoever stands between: 16-bit samples are never called so. */
const WRITTEN = /^text\/|[/+](?:json|xml)$/
/** How the formats begin that need a decoder: Ogg, FLAC, WebM, and MP3 with its words ahead. */
const PACKED = ['OggS', 'fLaC', '\x1aE\xdf\xa3', 'ID3'].map((magic) => Buffer.from(magic, 'latin1'))
const RATE = /;\s*rate="?(\d{4,5})\b/i
const RATES = { min: 8_000, max: 48_000 }
const MAX_MS = 60_000
/** More than this of a page is not read. */
const MAX_REASON_CHARS = 300

/**
 * The sound of it for the telephone; empty when there is nothing but silence. Gateways have formats of their own, whatever they are asked
 * for, and not all of them say which: what is no sound that can be read would be noise in the ears of all callers.
 *
 * @throws SpeechFault for that.
 */
export async function answeredSound({ contentType, bytes }: Answered): Promise<Buffer> {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === TELEPHONE_TYPE) return trimmedTelephone(withinMinute(bytes, TELEPHONE_HZ))
  if (WRITTEN.test(type)) throw noSound(`${type}: ${bytes.toString('utf8', 0, MAX_REASON_CHARS)}`)
  if (bytes.toString('latin1', 0, 4) === 'RIFF') return wordsOfWav(bytes)
  if (isPacked(bytes)) throw noSound(`a format that needs a decoder (${type})`, { isLasting: true })
  const hz = rateOf(contentType) ?? SPOKEN_HZ
  return toTelephone(withinMinute(bytes, hz * BYTES_PER_SAMPLE), hz)
}

/** @throws SpeechFault for what is longer: nobody listens to a recording for so long. */
function withinMinute(bytes: Buffer, bytesPerSecond: number): Buffer {
  if (bytes.length > (MAX_MS / 1_000) * bytesPerSecond) throw tooLong()
  return bytes
}

/** Other words may be shorter; these are as long the next time. */
export function tooLong(): SpeechFault {
  return new SpeechFault('the speech model speaks for more than a minute', { isLasting: true })
}

async function wordsOfWav(bytes: Buffer): Promise<Buffer> {
  const { samples, hz } = await readWav(bytes, { minMs: 0, maxMs: MAX_MS }).catch((cause: unknown) => {
    throw cause instanceof WavFault ? noSound(`what ${cause.message}`, { cause, isLasting: true }) : cause
  })
  return wordsOf(samples, hz)
}

/** Whoever answers so has nothing to speak with. */
function noSound(what: string, options: { cause?: unknown; isLasting?: boolean } = {}): SpeechFault {
  return new SpeechFault(`the speech model answered with ${what}`, { isGone: true, ...options })
}

function isPacked(bytes: Buffer): boolean {
  return PACKED.some((magic) => magic.equals(bytes.subarray(0, magic.length))) || isFrameOfMpeg(bytes)
}

/** The head of a frame of MP3 (layer III, with a bit rate and a sample rate that there are) or of AAC. Speech does not begin so loud. */
function isFrameOfMpeg(bytes: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = bytes
  const [bitRate, sampleRate] = [third >> 4, (third >> 2) & 3]
  const isMp3 = (second & 0xe6) === 0xe2 && bitRate > 0 && bitRate < 15 && sampleRate < 3
  return first === 0xff && (isMp3 || (second & 0xf6) === 0xf0)
}

/** That of `audio/pcm; rate=16000`; undefined where none is told. */
function rateOf(contentType: string | null): number | undefined {
  const hz = Number(RATE.exec(contentType ?? '')?.[1])
  return hz >= RATES.min && hz <= RATES.max ? hz : undefined
}
