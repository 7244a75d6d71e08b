import { validateHeaderValue } from 'node:http'
import { primaryLanguage } from '../../../kernel/language.ts'
import type { StreamedSpeech, StreamedSpeechSettings, VoiceSetup } from '../streamed-port.ts'
import { ElevenlabsStream } from './stream.ts'

/** Its quickest model, which speaks some 30 languages. */
const DEFAULT_MODEL = 'eleven_flash_v2_5'
const TAKES_LANGUAGE = /_v2_5$/
/** How long a stream may wait for the words of the model, in s; the provider's own default is 20. */
const INACTIVITY_S = 60

/**
 * ElevenLabs' streaming endpoint of text to speech, and whoever speaks its language. `url` is its base address, such as
 * `wss://api.elevenlabs.io/v1/text-to-speech`; its query is kept.
 *
 * @throws TypeError when the address is none of a WebSocket, or the key cannot stand in a header.
 */
export function elevenlabsSpeech({ url, apiKey, clock }: StreamedSpeechSettings): StreamedSpeech {
  const base = new URL(url)
  if (base.protocol !== 'ws:' && base.protocol !== 'wss:')
    throw new TypeError('the address of the secondary provider is ws:// or wss://')
  validateHeaderValue('xi-api-key', apiKey)
  return {
    name: 'elevenlabs',
    open: (setup, listener) => {
      const address = { url: addressOf(base, setup), headers: { 'xi-api-key': apiKey } }
      const redact = (message: string) => message.replaceAll(apiKey, '***')
      return new ElevenlabsStream({ address, clock, speed: setup.speed, redact }, listener)
    },
  }
}

function addressOf(base: URL, { voiceId, modelId, language }: VoiceSetup): URL {
  const url = new URL(base)
  url.hash = ''
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${encodeURIComponent(voiceId)}/stream-input`
  const model = modelId ?? DEFAULT_MODEL
  url.searchParams.set('model_id', model)
  url.searchParams.set('output_format', 'ulaw_8000')
  url.searchParams.set('inactivity_timeout', String(INACTIVITY_S))
  url.searchParams.set('sync_alignment', 'true')
  // The others refuse to be told, and find out by themselves.
  if (language !== null && TAKES_LANGUAGE.test(model)) {
    url.searchParams.set('language_code', primaryLanguage(language))
  }
  return url
}
