import { ApiFailure, unanswered, unreachable } from './failure.ts'
import { noteServiceTime } from './service-clock.ts'

/** A question that is not answered by then is given up. */
export const LONGEST_READ_MS = 30_000
/** Answers to which a body would be a fault. */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * Asks the service. A question is given up when its answer has not come in time; what changes something is waited for, however long that
 * takes: it may be done all the same.
 *
 * @throws ApiFailure `unreachable`.
 */
export function askInTime(request: Request): Promise<Response> {
  if (request.method === 'GET') return readInTime(request)
  return fetch(request).catch(() => Promise.reject(unreachable()))
}

async function readInTime(request: Request): Promise<Response> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), LONGEST_READ_MS)
  try {
    const sentMs = Date.now()
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, limit.signal]) })
    noteServiceTime(response.headers.get('x-service-time'), sentMs)
    // An answer that has begun to come may hang as well.
    const body = await response.arrayBuffer()
    return new Response(WITHOUT_BODY.has(response.status) ? null : body, response)
  } catch (error) {
    // Who asked wants no answer any more.
    if (request.signal.aborted) throw error
    throw limit.signal.aborted ? unanswered(LONGEST_READ_MS) : unreachable()
  } finally {
    clearTimeout(timer)
  }
}

type Fetch = (request: Request) => Promise<Response>

/**
 * Reads a file with a `fetch` that hands it on as it comes: it may be 100 MB, and takes as long as a slow line needs for it. It is given up
 * when nothing of it comes for as long as any answer is waited for.
 *
 * @throws ApiFailure `unreachable`, or what `read` throws.
 */
export async function fileInTime<Read>(read: (fetch: Fetch) => Promise<Read>): Promise<Read> {
  const limit = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => limit.abort(), LONGEST_READ_MS)
  }
  const asked: Fetch = async (request) => {
    wait()
    const response = await fetch(request, { signal: limit.signal })
    wait()
    return response.body === null ? response : new Response(response.body.pipeThrough(noting(wait)), response)
  }
  try {
    return await read(asked)
  } catch (error) {
    if (error instanceof ApiFailure) throw error
    throw limit.signal.aborted ? unanswered(LONGEST_READ_MS) : unreachable()
  } finally {
    clearTimeout(timer)
  }
}

/** Hands on what comes, and says each time that something has. */
function noting(onPart: () => void): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform(part, to) {
      onPart()
      to.enqueue(part)
    },
  })
}
