import { ApiFailure } from '../api/failure.ts'

/** Headphones without a wire take seconds. */
const LONGEST_MS = 10_000
const NO_SOUND =
  'The browser plays no sound. Connect a loudspeaker or headphones, look whether it lets this page be heard, then try again.'

/**
 * Has the sound begin. A browser that has nothing to play it on may wait for that without an end, and without a word, as Firefox does.
 *
 * @throws ApiFailure `no_sound` that says what to do, after ten seconds.
 */
export async function beginSound(context: AudioContext): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ApiFailure({ status: 0, code: 'no_sound', message: NO_SOUND })), LONGEST_MS)
  })
  await Promise.race([context.resume(), tooLong]).finally(() => clearTimeout(timer))
}
