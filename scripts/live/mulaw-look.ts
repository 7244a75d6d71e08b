/** Bytes of the two loudest of µ-law's sixteen segments: half of full scale and more, of either sign. */
const IS_LOUDEST = (byte: number) => (byte & 0x70) === 0
/** Bytes of the lowest segment: next to silence. */
const IS_QUIET = (byte: number) => (byte & 0x70) === 0x70

/** Speech at an ordinary level reaches the loudest segment in well under a hundredth of its samples. */
const MAX_LOUDEST_SHARE = 0.08
/** The high bytes of 16-bit samples are mostly 0 or 255, which µ-law reads as full scale and as silence. */
const MIN_HEARD_SHARE = 0.1

/** What audio that should be G.711 µ-law looks like. */
export type MulawLook = 'speech' | 'silence' | 'another format'

/** Tells speech in µ-law from silence, and from 16-bit samples that were passed off as µ-law. */
export function lookOfMulaw(audio: Buffer): MulawLook {
  if (share(audio, IS_LOUDEST) > MAX_LOUDEST_SHARE) return 'another format'
  return 1 - share(audio, IS_QUIET) < MIN_HEARD_SHARE ? 'silence' : 'speech'
}

function share(audio: Buffer, isOfThese: (byte: number) => boolean): number {
  let count = 0
  for (const byte of audio) if (isOfThese(byte)) count++
  return audio.length === 0 ? 0 : count / audio.length
}
