import type { IncomingMessage } from 'node:http'
import { addressOf } from '../model/handshake.ts'

/** What a stream was opened with. */
export type VoiceSettings = { voiceId: string; modelId: string; inactivityMs: number; autoMode: boolean }

/** Why a stream is not what this provider opens: a status for the handshake. */
export type VoiceRefusal = { status: number; message: string }

const PATH = /^\/v1\/text-to-speech\/([^/]+)\/stream-input$/
const NO_SUCH_PATH = { status: 404, message: 'Not Found' }
const DEFAULT_INACTIVITY_S = 20
const MAX_INACTIVITY_S = 180

/** Whether a request is for a stream of speech. */
export function isVoicePath(request: IncomingMessage): boolean {
  return (request.url ?? '').startsWith('/v1/text-to-speech/')
}

/** Reads the address of a stream. A rehearsal speaks telephone audio only. */
export function voiceSettings(request: IncomingMessage): VoiceSettings | VoiceRefusal {
  const address = addressOf(request)
  const voiceId = address && decoded(PATH.exec(address.pathname)?.[1])
  if (!voiceId) return NO_SUCH_PATH
  const { searchParams } = address
  const format = searchParams.get('output_format')
  if (format !== 'ulaw_8000') return { status: 400, message: 'This rehearsal speaks ulaw_8000 only.' }
  const inactivityS = Number(searchParams.get('inactivity_timeout') ?? DEFAULT_INACTIVITY_S)
  if (!(inactivityS >= 1 && inactivityS <= MAX_INACTIVITY_S)) {
    return { status: 400, message: 'inactivity_timeout is 1 to 180.' }
  }
  return {
    voiceId,
    modelId: searchParams.get('model_id') ?? 'eleven_multilingual_v2',
    inactivityMs: inactivityS * 1_000,
    autoMode: searchParams.get('auto_mode') === 'true',
  }
}

function decoded(part = ''): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}
