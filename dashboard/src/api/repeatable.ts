import { ApiFailure, asFailure, isRefused } from './failure.ts'

/** What is said of something that must not be done twice. */
export type Words = {
  /** By which it is known wherever it is done: of which tenant, too. */
  name: string
  /** It is not known what became of it, and whoever presses again is told. Only where the service says so. */
  unknown?: string
  /** It may have been done as it was asked for before, and whoever presses again does it once more. */
  doubt: string
}

/** Sends requests with a key by which they may be repeated. */
export type Repeatable = {
  /** @throws ApiFailure in those words, and without asking the service where an earlier request is in doubt. */
  send<T>(request: (key: string) => Promise<T>): Promise<T>
  /** What is sent next is another request, and not the last one repeated. */
  leave(): void
}

/** Where a tab keeps, by name, the key of the last request of which it is not known what became of it. */
type Doubts = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** A key, and whether it is not known what became of an earlier request with it. */
type Sent = { key: string; isInDoubt: boolean }

/** The carrier or the service has said of this very key that nothing came of it. */
const SETTLING = new Set([
  ...['idempotency_mismatch', 'carrier_rejected'],
  ...['carrier_busy', 'carrier_unreachable', 'carrier_credentials'],
])
/** Of the service itself: it has done nothing. From anything in between it would come without a code of ours. */
const PASSED_OVER = new Set(['rate_limited', 'unavailable'])
const ERASED = 'What was asked for before has been erased meanwhile. Press again to ask for it anew.'

/**
 * For what must not be done twice: whoever presses again after an answer was lost asks what became of the first request. One that is
 * left in doubt is told of when the next one begins, whatever page it was sent from; only its key is stored, and nothing of what it says.
 */
export function makeRepeatable(words: Words, doubts: Doubts): Repeatable {
  const place = `parley-in-doubt ${words.name}`
  let current: Sent | null = null

  function clearDoubt({ key }: Sent): void {
    if (doubts.getItem(place) === key) doubts.removeItem(place)
  }

  function settle(sent: Sent): void {
    clearDoubt(sent)
    if (current === sent) current = null
  }

  function expectNoDoubt(): void {
    if (doubts.getItem(place) === null) return
    doubts.removeItem(place)
    throw new ApiFailure({ status: 409, code: 'in_doubt', message: words.doubt })
  }

  function noteFailure(sent: Sent, error: unknown): void {
    if (isSettled(error)) settle(sent)
    // A repeated one may be refused before the service has looked for its key: that says nothing of the one before.
    else if (!sent.isInDoubt && hasDoneNothing(error)) clearDoubt(sent)
    else sent.isInDoubt = true
  }

  return {
    async send(request) {
      if (current === null) expectNoDoubt()
      current ??= { key: newKey(), isInDoubt: false }
      const sent = current
      doubts.setItem(place, sent.key)
      try {
        const answer = await request(sent.key)
        settle(sent)
        return answer
      } catch (error) {
        noteFailure(sent, error)
        throw inWords(error, words)
      }
    },
    leave() {
      current = null
    },
  }
}

/** Not `randomUUID`, which there is at `https://` alone. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Whether the service has looked for the key, and it is known what became of every request with it. */
function isSettled(error: unknown): boolean {
  const { status, code } = asFailure(error)
  return (status === 409 && code !== 'request_in_flight') || SETTLING.has(code)
}

/** Whether a first request has surely done nothing. */
function hasDoneNothing(error: unknown): boolean {
  return isRefused(error) ? asFailure(error).code !== 'request_in_flight' : PASSED_OVER.has(asFailure(error).code)
}

/** What is said to programs of their key says nothing to whoever has filled in a form. */
function inWords(error: unknown, { unknown, doubt }: Words): unknown {
  const { code, status, requestId, waitSeconds } = asFailure(error)
  const message = {
    ...{ idempotency_mismatch: doubt, conflict: ERASED },
    ...{ request_in_flight: unknown, submission_unknown: unknown },
  }[code]
  if (message === undefined) return error
  const wait = waitSeconds !== null && { waitSeconds }
  return new ApiFailure({ status, code, message, ...wait, ...(requestId !== null && { requestId }) })
}
