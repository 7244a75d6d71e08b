import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'

type CurrentRequest = {
  readonly id: string
  /** It only looks at something. */
  readonly isReading: boolean
  answer: Pick<ServerResponse, 'headersSent'> | null
}

const requests = new AsyncLocalStorage<CurrentRequest | null>()

/**
 * Remembers the request whose work is done, across what it awaits. It is over once its answer begins: what it has set going by then, such as a socket
 * or the work of a queue, is nobody's any more.
 */
export class RequestScope {
  readonly #current: CurrentRequest

  constructor({ id, isReading }: Pick<CurrentRequest, 'id' | 'isReading'>, answer: ServerResponse) {
    this.#current = { id, isReading, answer }
    // A socket that was opened meanwhile keeps this as long as it lives.
    answer.once('close', () => {
      this.#current.answer = null
    })
  }

  run(work: () => void): void {
    requests.run(this.#current, work)
  }
}

/** Does work that is that of no request, though one has set it going. */
export function ofNoRequest(work: () => void): void {
  requests.run(null, work)
}

/** The id of the request whose work is being done, for the lines of its log; null where it is that of none. */
export function currentRequestId(): string | null {
  return current()?.id ?? null
}

/** Whether the work of a request is being done that only looks at something. */
export function isReading(): boolean {
  return current()?.isReading === true
}

function current(): CurrentRequest | null {
  const request = requests.getStore()
  return request?.answer?.headersSent === false ? request : null
}
