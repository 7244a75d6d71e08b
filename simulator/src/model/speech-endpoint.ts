import type { IncomingMessage, ServerResponse } from 'node:http'
import { decodeMulaw, SAMPLE_RATE_HZ } from '../audio/mulaw.ts'
import { resample } from '../audio/resample.ts'
import type { Speech } from '../speech/speech.ts'
import { refusedKey } from './handshake.ts'
import { bodyOf, errorOf } from './json-exchange.ts'
import { ModelError } from './model-error.ts'
import { decimal, object, oneOf, type Shaped, text } from './shape.ts'

/** Where speech is asked for, below the address that clients call their base. */
export const SPEECH_PATH = '/v1/audio/speech'

/** The rate of PCM as the real server speaks it. */
const PCM_HZ = 24_000
const INPUT_CHARS_MAX = 4_096

/** What of a request is understood; a rehearsal refuses what it would not do, so that nobody counts on it. */
const request = object(
  { model: text(200), input: text(INPUT_CHARS_MAX), voice: text(200), response_format: oneOf(['pcm']) },
  { speed: decimal(0.25, 4) },
)
type Request = Shaped<typeof request>

type Deps = { speech: Speech; apiKey: string | null }

/** Reads out a text with the one voice of the simulator at its one speed, whatever is named: 16-bit PCM of 24 kHz, as the real server has it. */
export async function answerSpeech(deps: Deps, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answer(deps, incoming)
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

type Answer = { status: number; type: string; body: Buffer }

async function answer({ speech, apiKey }: Deps, incoming: IncomingMessage): Promise<Answer> {
  const refusal = refusedKey(incoming, apiKey)
  if (refusal) return refused(refusal.status, refusal.code, refusal.message)
  if (incoming.method !== 'POST') return refused(405, 'method_not_supported', 'Use POST.')
  try {
    const asked = request(JSON.parse(await bodyOf(incoming)), '')
    // The telephone's own audio, as it is, for whoever takes that: then the model knows these words when it hears them.
    if (incoming.headers.accept?.includes('audio/basic'))
      return { status: 200, type: 'audio/basic', body: Buffer.from(await speech.say(asked.input)) }
    return { status: 200, type: 'audio/pcm', body: await pcmOf(speech, asked) }
  } catch (error) {
    if (error instanceof SyntaxError) return refused(400, 'invalid_json', 'The body is not JSON.')
    if (!(error instanceof ModelError)) throw error
    return refused(400, error.code, error.message, error.param)
  }
}

async function pcmOf(speech: Speech, { input }: Request): Promise<Buffer> {
  const samples = await resample(decodeMulaw(await speech.say(input)), SAMPLE_RATE_HZ, PCM_HZ)
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
}

function refused(status: number, code: string, message: string, param: string | null = null): Answer {
  return { status, type: 'application/json', body: Buffer.from(JSON.stringify(errorOf(code, message, param))) }
}
