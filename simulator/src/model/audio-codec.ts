import { decodeMulaw, encodeMulaw, SAMPLE_RATE_HZ } from '../audio/mulaw.ts'
import { makeResampler, type Resampler } from '../audio/resample.ts'
import { decodeAlaw, encodeAlaw } from './alaw.ts'
import type { AudioFormat } from './session-shape.ts'

const WIDE_RATE_HZ = 24_000

/** Turns a stream of one wire format into the µ-law that the model works with, or the other way round. */
export type Codec = {
  /** The next stretch of the stream; a codec with a filter may give it out a little later. */
  push(bytes: Uint8Array): Uint8Array
  /** Frees its memory; gives what the filter still held. Call it once, last. */
  finish(): Uint8Array
}

/** From the wire to µ-law 8 kHz. */
export async function makeDecoder(format: AudioFormat): Promise<Codec> {
  if (format.type === 'audio/pcmu') return stateless((bytes) => bytes)
  if (format.type === 'audio/pcma') return stateless((bytes) => encodeMulaw(decodeAlaw(bytes)))
  return pcmDecoder(await exactResampler(WIDE_RATE_HZ, SAMPLE_RATE_HZ))
}

/** From µ-law 8 kHz to the wire. */
export async function makeEncoder(format: AudioFormat): Promise<Codec> {
  if (format.type === 'audio/pcmu') return stateless((mulaw) => mulaw)
  if (format.type === 'audio/pcma') return stateless((mulaw) => encodeAlaw(decodeMulaw(mulaw)))
  const resampler = await exactResampler(SAMPLE_RATE_HZ, WIDE_RATE_HZ)
  return {
    push: (mulaw) => littleEndian(resampler.push(decodeMulaw(mulaw))),
    finish: () => littleEndian(resampler.finish()),
  }
}

function stateless(convert: (bytes: Uint8Array) => Uint8Array): Codec {
  return { push: convert, finish: () => new Uint8Array(0) }
}

/** A resampler that gives out no more than it was given: the silence that empties its filter is not audio. */
async function exactResampler(fromHz: number, toHz: number): Promise<Resampler> {
  const resampler = await makeResampler(fromHz, toHz)
  let owed = 0
  const give = (samples: Int16Array) => {
    owed -= samples.length
    return samples
  }
  return {
    push(samples) {
      owed += (samples.length * toHz) / fromHz
      return give(resampler.push(samples))
    },
    finish: () => give(resampler.finish().subarray(0, Math.max(0, Math.round(owed)))),
  }
}

function pcmDecoder(resampler: Resampler): Codec {
  // A client may cut its chunks in the middle of a sample.
  let odd = Buffer.alloc(0)
  return {
    push(bytes) {
      const all = Buffer.concat([odd, bytes])
      const whole = all.length - (all.length % 2)
      odd = Buffer.from(all.subarray(whole))
      return encodeMulaw(resampler.push(samplesOf(all.subarray(0, whole))))
    },
    finish: () => encodeMulaw(resampler.finish()),
  }
}

function samplesOf(bytes: Buffer): Int16Array {
  const samples = new Int16Array(bytes.length / 2)
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(i * 2)
  return samples
}

function littleEndian(samples: Int16Array): Uint8Array {
  const bytes = Buffer.alloc(samples.length * 2)
  for (const [i, sample] of samples.entries()) bytes.writeInt16LE(sample, i * 2)
  return bytes
}
