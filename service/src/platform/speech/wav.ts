import { othersFirst } from '../../kernel/clock.ts'

/** The sound of a file: 16-bit samples, mono, at its own rate. */
export type WavSound = { samples: Int16Array; hz: number }

/** Why a file is no sound that can be used, as the end of a sentence about it. */
export class WavFault extends Error {
  override readonly name = 'WavFault'
}

/** A minute of the widest sound there may be, and its head. */
export const MAX_MINUTE_BYTES = 60 * 48_000 * 2 * 2 + 4_096

const PCM = 1
const MULAW = 7
/** The format stands behind these bytes of the chunk. */
const EXTENSIBLE = 0xfffe
const SUBFORMAT_AT = 24
const RATES = { min: 8_000, max: 48_000 }
const CHUNK_HEAD = 8
/** More than any program writes. */
const MAX_CHUNKS = 100
/** Some milliseconds of work. */
const SLICE_FRAMES = 32_768

type Format = { coding: number; channels: number; hz: number; bits: number }

/**
 * Reads it in slices, because calls go on beside it.
 *
 * @throws WavFault for what is no WAV file of 8- or 16-bit PCM or of µ-law, mono or stereo, 8 to 48 kHz, or of another length; the
 * length is told by its head, before anything is read.
 */
export async function readWav(file: Buffer, { minMs, maxMs }: { minMs: number; maxMs: number }): Promise<WavSound> {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new WavFault('is no WAV file')
  }
  const format = formatOf(chunk(file, 'fmt '))
  const data = chunk(file, 'data')
  const frames = Math.floor(data.length / frameBytesOf(format))
  const ms = (frames * 1_000) / format.hz
  if (ms > maxMs || ms < minMs) throw new WavFault(`is not of ${minMs / 1_000} to ${maxMs / 1_000} s`)
  return { samples: await samplesOf(data, format, frames), hz: format.hz }
}

/** A recorder that was cut off, or that writes as it goes, leaves a length that is not true, none as a rule: what is there counts. */
function chunk(file: Buffer, name: string): Buffer {
  let at = 12
  for (let seen = 0; seen < MAX_CHUNKS && at + CHUNK_HEAD <= file.length; seen += 1) {
    const sizeBytes = file.readUInt32LE(at + 4)
    if (file.toString('latin1', at, at + 4) === name) {
      return file.subarray(at + CHUNK_HEAD, sizeBytes === 0 ? file.length : at + CHUNK_HEAD + sizeBytes)
    }
    at += CHUNK_HEAD + sizeBytes + (sizeBytes % 2)
  }
  throw new WavFault('is a WAV file without sound')
}

function formatOf(head: Buffer): Format {
  if (head.length < 16) throw new WavFault('is a WAV file without a format')
  const tag = head.readUInt16LE(0)
  const isLong = tag === EXTENSIBLE && head.length >= SUBFORMAT_AT + 2
  const coding = isLong ? head.readUInt16LE(SUBFORMAT_AT) : tag
  const format = { coding, channels: head.readUInt16LE(2), hz: head.readUInt32LE(4), bits: head.readUInt16LE(14) }
  const isKnown =
    (coding === PCM && (format.bits === 8 || format.bits === 16)) || (coding === MULAW && format.bits === 8)
  if (!isKnown) throw new WavFault('holds neither PCM of 8 or 16 bits nor µ-law')
  if (format.channels !== 1 && format.channels !== 2) throw new WavFault('has neither one channel nor two')
  if (format.hz < RATES.min || format.hz > RATES.max) throw new WavFault('is not of 8 to 48 kHz')
  return format
}

function frameBytesOf({ bits, channels }: Format): number {
  return (bits / 8) * channels
}

async function samplesOf(data: Buffer, format: Format, frames: number): Promise<Int16Array> {
  const { coding, channels, bits } = format
  const frameBytes = frameBytesOf(format)
  const valueAt = readerOf(coding, bits)
  const samples = new Int16Array(frames)
  for (let frame = 0; frame < frames; frame += 1) {
    const at = frame * frameBytes
    const first = valueAt(data, at)
    samples[frame] = channels === 1 ? first : (first + valueAt(data, at + bits / 8)) / 2
    if (frame % SLICE_FRAMES === SLICE_FRAMES - 1) await othersFirst()
  }
  return samples
}

function readerOf(coding: number, bits: number): (data: Buffer, at: number) => number {
  if (coding === MULAW) return (data, at) => linear(data[at] ?? 0xff)
  if (bits === 16) return (data, at) => data.readInt16LE(at)
  return (data, at) => ((data[at] ?? 128) - 128) * 256
}

/** A byte of µ-law as a sample. */
function linear(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) * 8 + 132) << ((bits >> 4) & 7)) - 132
  return bits & 0x80 ? -magnitude : magnitude
}
