import type { ProviderError } from './faults.ts'
import { type Json, object, textOrNull, wordOrNull } from './members.ts'

/** Some servers speak of the end of a session in words alone. */
const EXPIRED = /maximum duration/i

/** Reads the `error` of an event. A code that is missing is made up from what there is. */
export function providerError(fields: Json): ProviderError {
  const error = object(fields, 'error')
  const message = textOrNull(error, 'message') ?? ''
  const type = wordOrNull(error, 'type')
  const code = wordOrNull(error, 'code') ?? (EXPIRED.test(message) ? 'session_expired' : (type ?? 'unknown_error'))
  const [param, eventId] = [textOrNull(error, 'param'), textOrNull(error, 'event_id')]
  return { code, type, message: told(code, message), param, eventId }
}

/** The provider quotes the ends of a key that it refuses. */
function told(code: string, message: string): string {
  return code.includes('api_key') ? 'The model refused the API key.' : message
}
