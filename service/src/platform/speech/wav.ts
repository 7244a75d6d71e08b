/** The sound of a file: 16-bit samples, mono, at its own rate. */
export type WavSound = { samples: Int16Array; hz: number }

/** Why a file is no sound that can be used, as the end of a sentence about it. */
export class WavFault extends Error {
  override readonly name = 'WavFault'
}

const PCM = 1
const MULAW = 7
/** The format stands behind these bytes of the chunk. */
const EXTENSIBLE = 0xfffe
const SUBFORMAT_AT = 24
const RATES = { min: 8_000, max: 48_000 }
const CHUNK_HEAD = 8

type Format = { coding: number; channels: number; hz: number; bits: number }

/** @throws WavFault for what is no WAV file of 8- or 16-bit PCM or of µ-law, mono or stereo, 8 to 48 kHz. */
export function readWav(file: Buffer): WavSound {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new WavFault('is no WAV file')
  }
  const format = formatOf(chunk(file, 'fmt '))
  return { samples: samplesOf(chunk(file, 'data'), format), hz: format.hz }
}

/** A recorder that was cut off leaves a length that is not true: what is there counts. */
function chunk(file: Buffer, name: string): Buffer {
  let at = 12
  while (at + CHUNK_HEAD <= file.length) {
    const sizeBytes = file.readUInt32LE(at + 4)
    if (file.toString('latin1', at, at + 4) === name) return file.subarray(at + CHUNK_HEAD, at + CHUNK_HEAD + sizeBytes)
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

function samplesOf(data: Buffer, { coding, channels, bits }: Format): Int16Array {
  const frameBytes = (bits / 8) * channels
  const valueAt = readerOf(coding, bits)
  return Int16Array.from({ length: Math.floor(data.length / frameBytes) }, (_, frame) => {
    const at = frame * frameBytes
    const first = valueAt(data, at)
    return channels === 1 ? first : (first + valueAt(data, at + bits / 8)) / 2
  })
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
