import { OutboundFault } from '../platform/outbound/fault.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import { SpeechFault } from '../platform/speech/port.ts'
import { toMulaw } from '../platform/speech/telephone-audio.ts'
import { MAX_MINUTE_BYTES, readWav, WavFault } from '../platform/speech/wav.ts'

/**
 * What callers on hold are to hear, as G.711 µ-law, 8 kHz, mono.
 *
 * @throws SpeechFault with the end of a sentence about the address, when there is no such sound.
 */
export type FetchHoldAudio = (url: string, signal: AbortSignal) => Promise<Buffer>

const MAX_MS = 60_000
const MIN_MS = 500
const FETCH_WITHIN_MS = 10_000

export function makeFetchHoldAudio({ request }: Outbound): FetchHoldAudio {
  return async (url, signal) => {
    try {
      return await soundOf(await fileAt(request, url, signal))
    } catch (cause) {
      if (cause instanceof WavFault) throw new SpeechFault(cause.message, { cause, isLasting: true })
      if (cause instanceof OutboundFault) throw new SpeechFault(`cannot be had: ${cause.message}`, { cause })
      throw cause
    }
  }
}

async function fileAt(request: Outbound['request'], url: string, signal: AbortSignal): Promise<Buffer> {
  const asked = { url, method: 'GET', headers: { accept: 'audio/wav, audio/*' }, signal } as const
  const { status, body, isWhole } = await request({
    ...asked,
    timeoutMs: FETCH_WITHIN_MS,
    maxAnswerBytes: MAX_MINUTE_BYTES,
  })
  if (status !== 200) throw new SpeechFault(`answers ${status} and not 200`)
  if (!isWhole) throw new SpeechFault('is too long, or did not come to its end within 10 s')
  return body
}

async function soundOf(file: Buffer): Promise<Buffer> {
  const { samples, hz } = await readWav(file, { minMs: MIN_MS, maxMs: MAX_MS })
  return toMulaw(samples, hz)
}
