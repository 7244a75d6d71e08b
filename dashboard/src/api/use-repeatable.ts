import { useRef } from 'react'
import { ApiFailure, asFailure, isRefused } from './failure.ts'

/** What is said of something that must not be done twice. */
type Words = {
  /** By which it is known wherever it is done: of which tenant, too. */
  name: string
  /** It is not known what became of it, and whoever presses again is told, and does it no second time. */
  unknown: string
  /** It may have been done as it was asked for before, and whoever presses again does it once more. */
  doubt: string
}

/** Sends requests with a key by which they may be repeated. */
type Repeatable = {
  /** @throws ApiFailure in those words, and without asking the service where an earlier request is in doubt. */
  send<T>(request: (key: string) => Promise<T>): Promise<T>
  /** What is sent next is another request, and not the last one repeated. */
  leave(): void
}

/** By name the last request of which it is not known what became of it, whatever page it was sent from: its key. */
const inDoubt = new Map<string, string>()

/** For what must not be done twice: whoever presses again after an answer was lost asks what became of the first request. */
export function useRepeatable(words: Words): Repeatable {
  const { name, doubt } = words
  const key = useRef('')
  return {
    async send(request) {
      if (key.current === '' && inDoubt.delete(name))
        throw new ApiFailure({ status: 409, code: 'in_doubt', message: doubt })
      const sent = key.current || newKey()
      key.current = sent
      inDoubt.set(name, sent)
      const settle = () => {
        if (inDoubt.get(name) === sent) inDoubt.delete(name)
        if (key.current === sent) key.current = ''
      }
      try {
        const answer = await request(sent)
        settle()
        return answer
      } catch (error) {
        if (isKnown(error)) settle()
        throw inWords(error, words)
      }
    },
    leave() {
      key.current = ''
    },
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

/** What is said to programs of their key says nothing to whoever has filled in a form. */
function inWords(error: unknown, { unknown, doubt }: Words): unknown {
  const { code, status, requestId, waitSeconds } = asFailure(error)
  const message = { idempotency_mismatch: doubt, request_in_flight: unknown, submission_unknown: unknown }[code]
  if (message === undefined) return error
  const wait = waitSeconds !== null && { waitSeconds }
  return new ApiFailure({ status, code, message, ...wait, ...(requestId !== null && { requestId }) })
}
