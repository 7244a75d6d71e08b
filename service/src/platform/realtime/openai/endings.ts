import type { ModelEvent } from '../port.ts'
import { closeFault, handshakeFault, knownFault } from './faults.ts'
import { object, parseEvent, wordOrNull } from './members.ts'

/** Why a session is over. */
export type Ending = Omit<Extract<ModelEvent, { type: 'closed' }>, 'type'>

/** A refused handshake, as much of it as came. */
export type Refusal = { status: number; retryAfter: string | undefined; body: Buffer }

/** The wait that is believed of a `retry-after`, at most. */
const MAX_RETRY_AFTER_MS = 60_000

/** The server did not take up the connection in time. */
export const HANDSHAKE_TIMEOUT: Ending = {
  code: 'handshake_timeout',
  message: 'The model did not take the connection in time.',
  fault: 'retry',
}

/** The server did not answer the session's settings in time. */
export const SETUP_TIMEOUT: Ending = {
  code: 'setup_timeout',
  message: 'The model did not set the session up in time.',
  fault: 'retry',
}

/** The server took the settings, and goes by another format of audio: what it says would be noise, and so would callers be to it. */
export const OTHER_AUDIO: Ending = {
  code: 'other_audio_format',
  message: 'The model hears or speaks in another format than audio/pcmu, which a telephone has.',
  fault: 'setup',
}

/** Nothing has come for so long that the server, or the way to it, must be gone. */
export const PEER_SILENT: Ending = {
  code: 'peer_silent',
  message: 'The connection to the model is dead: not even pings are answered.',
  fault: 'retry',
  wasDeaf: true,
}

/** The server answered the handshake with an HTTP status. Its words are left out: they may quote the key. */
export function handshakeEnding({ status, body }: Refusal): Ending {
  const code = codeOf(body)
  return {
    code: code ?? `handshake_${status}`,
    message: `The model refused the connection with status ${status}.`,
    fault: handshakeFault(status, code),
  }
}

/** How long the server asks to wait; null when it does not say. */
export function retryAfterMs({ retryAfter }: Refusal): number | null {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter)
  return seconds >= 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : null
}

/** The connection was closed, with a close frame or without one (1006). */
export function closeEnding(closeCode: number, reason: string): Ending {
  const code = lastWord(reason)
  const isKnown = code !== null && knownFault(code) !== null
  return {
    code: isKnown ? code : `close_${closeCode}`,
    message: `The model closed the connection with code ${closeCode}.`,
    fault: closeFault(closeCode, code),
  }
}

/** The socket failed: refused, reset, no such host, a frame against the protocol. */
export function failureEnding(error: Error & { code?: unknown }): Ending {
  const code = typeof error.code === 'string' ? error.code.toLowerCase() : 'socket_error'
  return { code, message: `The connection to the model failed (${code}).`, fault: 'retry' }
}

/** `{"error":{"code":…}}`, as the provider's HTTP side tells it. */
function codeOf(body: Buffer): string | null {
  try {
    return wordOrNull(object(parseEvent(body), 'error'), 'code')
  } catch {
    return null
  }
}

function lastWord(reason: string): string | null {
  return /(?:^|\.)(\w+)$/.exec(reason)?.[1] ?? null
}
