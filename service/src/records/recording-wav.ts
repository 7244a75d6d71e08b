/** Samples a second of telephone audio, of each channel. */
export const FRAMES_PER_SECOND = 8_000
export const FRAMES_PER_MS = FRAMES_PER_SECOND / 1_000
/** A frame is one sample of both channels: the caller's, then the agent's. µ-law on the disk, PCM of 16 bits on the wire. */
export const STORED_FRAME_BYTES = 2
export const SERVED_FRAME_BYTES = 4
export const STORED_HEADER_BYTES = 58
export const SERVED_HEADER_BYTES = 44
/** The µ-law byte that sounds like nothing. */
export const SILENCE = 0xff

const CHANNELS = 2
const FORMAT_PCM = 1
const FORMAT_MULAW = 7
/** A chunk's name and size. */
const CHUNK_BYTES = 8

/** The head of a part's file that holds so many frames: WAV with G.711 µ-law, half the size of PCM. */
export function storedHeader(frames: number): Buffer {
  const dataBytes = frames * STORED_FRAME_BYTES
  const head = Buffer.alloc(STORED_HEADER_BYTES)
  // µ-law wants the longer format chunk, and one that says how many frames there are.
  const at = writeFormat(head, { format: FORMAT_MULAW, sampleBytes: 1, formatBytes: 18, dataBytes })
  head.write('fact', at, 'latin1')
  head.writeUInt32LE(4, at + 4)
  head.writeUInt32LE(frames, at + 8)
  return writeData(head, dataBytes)
}

/** The head of the whole recording as it is served: WAV with PCM of 16 bits, which everything plays. */
export function servedHeader(frames: number): Buffer {
  const dataBytes = frames * SERVED_FRAME_BYTES
  const head = Buffer.alloc(SERVED_HEADER_BYTES)
  writeFormat(head, { format: FORMAT_PCM, sampleBytes: 2, formatBytes: 16, dataBytes })
  return writeData(head, dataBytes)
}

type Format = { format: number; sampleBytes: number; formatBytes: number; dataBytes: number }

/** Returns where the next chunk begins. */
function writeFormat(head: Buffer, { format, sampleBytes, formatBytes, dataBytes }: Format): number {
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(head.length - CHUNK_BYTES + dataBytes, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(formatBytes, 16)
  head.writeUInt16LE(format, 20)
  head.writeUInt16LE(CHANNELS, 22)
  head.writeUInt32LE(FRAMES_PER_SECOND, 24)
  head.writeUInt32LE(FRAMES_PER_SECOND * CHANNELS * sampleBytes, 28)
  head.writeUInt16LE(CHANNELS * sampleBytes, 32)
  head.writeUInt16LE(sampleBytes * 8, 34)
  return 20 + formatBytes
}

function writeData(head: Buffer, dataBytes: number): Buffer {
  head.write('data', head.length - CHUNK_BYTES, 'latin1')
  head.writeUInt32LE(dataBytes, head.length - 4)
  return head
}

/** The two bytes of each µ-law byte's sample, the lower one first. */
const LOW = new Uint8Array(256)
const HIGH = new Uint8Array(256)
for (let byte = 0; byte < 256; byte++) {
  const bits = ~byte & 0x7f
  const magnitude = (((bits & 0x0f) * 2 + 33) << (bits >> 4)) * 4 - 132
  const sample = byte & 0x80 ? magnitude : -magnitude
  LOW[byte] = sample & 0xff
  HIGH[byte] = (sample >> 8) & 0xff
}

/** µ-law as PCM of 16 bits, twice as long. */
export function expanded(mulaw: Uint8Array): Buffer {
  const pcm = Buffer.allocUnsafe(mulaw.length * 2)
  for (let i = 0; i < mulaw.length; i++) {
    const byte = mulaw[i] as number
    pcm[2 * i] = LOW[byte] as number
    pcm[2 * i + 1] = HIGH[byte] as number
  }
  return pcm
}
