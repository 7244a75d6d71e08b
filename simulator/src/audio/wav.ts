import { decodeMulaw, encodeMulaw, SAMPLE_RATE_HZ } from './mulaw.ts'
import { resample } from './resample.ts'

const PCM = 1
const MULAW = 7

/** Samples of one channel and their rate. */
export type Pcm = { samples: Int16Array; sampleRateHz: number }

/** A stereo 16-bit WAV file at 8 kHz of two µ-law channels; the shorter one is filled up with silence. */
export function stereoWav(left: Uint8Array, right: Uint8Array): Uint8Array {
  const frames = Math.max(left.length, right.length)
  const leftSamples = decodeMulaw(left)
  const rightSamples = decodeMulaw(right)
  const file = Buffer.alloc(44 + frames * 4)
  writeHeader(file, { channels: 2, dataBytes: frames * 4 })
  for (let i = 0; i < frames; i++) {
    file.writeInt16LE(leftSamples[i] ?? 0, 44 + i * 4)
    file.writeInt16LE(rightSamples[i] ?? 0, 46 + i * 4)
  }
  return file
}

/**
 * Reads the first channel of a WAV file of 16-bit PCM or µ-law.
 * @throws Error when the bytes are no WAV file or hold another encoding.
 */
export function readWav(file: Uint8Array): Pcm {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') {
    throw new Error('not a WAV file')
  }
  const format = findChunk(bytes, 'fmt ')
  const data = findChunk(bytes, 'data')
  if (format.length < 16) throw new Error('the WAV file has a short fmt chunk')
  const encoding = format.readUInt16LE(0)
  const channels = Math.max(1, format.readUInt16LE(2))
  const bits = format.readUInt16LE(14)
  const sampleRateHz = format.readUInt32LE(4)
  if (encoding === MULAW) return { samples: everyNth(decodeMulaw(data), channels), sampleRateHz }
  if (encoding === PCM && bits === 16) return { samples: everyNth(pcm16(data), channels), sampleRateHz }
  throw new Error(`the WAV file has encoding ${encoding} with ${bits} bits; 16-bit PCM and µ-law are read`)
}

/** µ-law 8 kHz of a WAV file, resampled when it has another rate. @throws Error like `readWav`. */
export async function wavToMulaw(file: Uint8Array): Promise<Uint8Array> {
  const { samples, sampleRateHz } = readWav(file)
  return encodeMulaw(await resample(samples, sampleRateHz, SAMPLE_RATE_HZ))
}

function writeHeader(file: Buffer, { channels, dataBytes }: { channels: number; dataBytes: number }): void {
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(36 + dataBytes, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(PCM, 20)
  file.writeUInt16LE(channels, 22)
  file.writeUInt32LE(SAMPLE_RATE_HZ, 24)
  file.writeUInt32LE(SAMPLE_RATE_HZ * channels * 2, 28)
  file.writeUInt16LE(channels * 2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(dataBytes, 40)
}

function findChunk(bytes: Buffer, id: string): Buffer {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const sizeBytes = bytes.readUInt32LE(at + 4)
    // A file that was written as a stream may name a size that it does not have.
    if (bytes.toString('latin1', at, at + 4) === id) return bytes.subarray(at + 8, at + 8 + sizeBytes)
    at += 8 + sizeBytes + (sizeBytes & 1)
  }
  throw new Error(`the WAV file has no ${id.trim()} chunk`)
}

function pcm16(data: Buffer): Int16Array {
  const samples = new Int16Array(data.length >> 1)
  for (let i = 0; i < samples.length; i++) samples[i] = data.readInt16LE(i * 2)
  return samples
}

function everyNth(samples: Int16Array, n: number): Int16Array {
  return n === 1 ? samples : samples.filter((_, i) => i % n === 0)
}
