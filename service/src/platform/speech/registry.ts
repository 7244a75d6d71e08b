import { elevenlabsSpeech } from './elevenlabs/driver.ts'
import type { StreamedSpeech, StreamedSpeechSettings } from './streamed-port.ts'

/** Every provider of voices that Parley speaks with beside its models: a further one is a folder and a line here. */
const STREAMED_SPEECH_DRIVERS = {
  elevenlabs: elevenlabsSpeech,
} satisfies Record<string, (settings: StreamedSpeechSettings) => StreamedSpeech>

/** The one of SECONDARY_AUDIO_URL. */
export function makeStreamedSpeech(settings: StreamedSpeechSettings): StreamedSpeech {
  return STREAMED_SPEECH_DRIVERS.elevenlabs(settings)
}
