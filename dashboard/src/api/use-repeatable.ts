import { useRef } from 'react'
import { ApiFailure, asFailure, isRefused } from './failure.ts'

/** Sends a request with the key by which it may be repeated. */
type SendWithKey = <T>(send: (key: string) => Promise<T>) => Promise<T>

/**
 * For what must not be done twice: whoever presses again after an answer was lost asks what became of the first request, with its key.
 *
 * @param changed what is said where it was changed before it was sent again: that the first one may have been done.
 */
export function useRepeatable(changed: string): SendWithKey {
  const key = useRef('')
  return async (send) => {
    key.current ||= newKey()
    try {
      const answer = await send(key.current)
      key.current = ''
      return answer
    } catch (error) {
      if (isKnown(error)) key.current = ''
      throw inWords(error, changed)
    }
  }
}

/** Not `randomUUID`, which there is at `https://` alone. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Whether it is known that the request has done nothing, or what became of it. */
function isKnown(error: unknown): boolean {
  return isRefused(error) && asFailure(error).code !== 'request_in_flight'
}

/** What is said to programs of a key that was used with another body says nothing to whoever has changed a form. */
function inWords(error: unknown, changed: string): unknown {
  const { code, status, requestId } = asFailure(error)
  if (code !== 'idempotency_mismatch') return error
  return new ApiFailure({ status, code, message: changed, ...(requestId !== null && { requestId }) })
}
