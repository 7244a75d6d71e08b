import { validateHeaderValue } from 'node:http'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../log.ts'
import type { ModelSetup, RealtimeDriver } from '../port.ts'
import type { ModelAddress } from './model-socket.ts'
import { priceOf } from './prices.ts'
import { makeRedaction } from './redaction.ts'
import { OpenaiSession } from './session.ts'
import type { ModelDefaults } from './session-update.ts'
import { SetupFrames } from './setup-frames.ts'

type DriverOptions = {
  /** `wss://…` or `ws://…` of any server that speaks the protocol; its query is kept. */
  url: string
  apiKey: string
  clock: Clock
  log?: Log
  defaults: ModelDefaults
}

/**
 * OpenAI Realtime as it is generally available, and whoever speaks its language.
 *
 * @throws TypeError when the address is none of a WebSocket, or the key cannot stand in a header.
 */
export function openaiDriver({ url, apiKey, clock, log, defaults }: DriverOptions): RealtimeDriver {
  const base = webSocketUrl(url)
  const authorization = `Bearer ${apiKey}`
  validateHeaderValue('authorization', authorization)
  const redact = makeRedaction(apiKey)
  return {
    name: 'openai',
    capabilities: { truncation: true, callerTranscripts: true, textOutput: true, nativeMulaw: true },
    priceOf: (model) => priceOf(model ?? defaults.model),
    modelFor: (model) => model ?? defaults.model,
    voiceFor: (voice) => voice ?? defaults.voice,
    open(setup, listener) {
      const address = addressOf(base, setup, defaults)
      const frames = new SetupFrames(setup, defaults, log ?? null)
      const options = { address: { url: address, headers: { authorization } }, setup: frames }
      return new OpenaiSession({ ...options, clock, log: log ?? null, redact }, listener)
    },
  }
}

function webSocketUrl(text: string): URL {
  const url = new URL(text)
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:')
    throw new TypeError('the address of a model is ws:// or wss://')
  url.hash = ''
  return url
}

function addressOf(base: URL, { model }: ModelSetup, defaults: ModelDefaults): ModelAddress['url'] {
  const url = new URL(base)
  url.searchParams.set('model', model ?? defaults.model)
  return url
}
