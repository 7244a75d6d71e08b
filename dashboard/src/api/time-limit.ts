import { unanswered, unreachable } from './failure.ts'

/** A question that is not answered by then is given up. */
export const LONGEST_READ_MS = 30_000
/** A file takes as long as a slow line needs for it. */
export const LONGEST_FILE_MS = 10 * 60_000
/** Answers to which a body would be a fault. */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * Asks the service. A question is given up when its answer has not come in time; what changes something is waited for, however long that
 * takes: it may be done all the same.
 *
 * @throws ApiFailure `unreachable`.
 */
export function askInTime(request: Request, longestMs = LONGEST_READ_MS): Promise<Response> {
  if (request.method === 'GET') return readInTime(request, longestMs)
  return fetch(request).catch(() => Promise.reject(unreachable()))
}

async function readInTime(request: Request, longestMs: number): Promise<Response> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), longestMs)
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, limit.signal]) })
    // An answer that has begun to come may hang as well.
    const body = await response.arrayBuffer()
    return new Response(WITHOUT_BODY.has(response.status) ? null : body, response)
  } catch (error) {
    // Who asked wants no answer any more.
    if (request.signal.aborted) throw error
    throw limit.signal.aborted ? unanswered(longestMs) : unreachable()
  } finally {
    clearTimeout(timer)
  }
}
