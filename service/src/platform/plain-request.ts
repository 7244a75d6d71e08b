import type { Clock } from '../kernel/clock.ts'

/** What is asked of an address. */
export type PlainRequest = {
  url: string
  method: 'POST'
  headers: Record<string, string>
  body: string
  /** For all of it, the answer included. */
  timeoutMs: number
  /** More of an answer is not read. */
  maxAnswerBytes: number
}

/** What it said; `isWhole` is false for an answer that was longer than asked for. */
export type PlainAnswer = { status: number; body: Buffer; isWhole: boolean }

/** Asks an address. @throws Error when there is no answer in time. */
export type AskAddress = (request: PlainRequest) => Promise<PlainAnswer>

/** Asks whatever address it is given; redirects are answers and are not followed. */
export function makePlainRequest(clock: Clock): AskAddress {
  return async ({ url, method, headers, body, timeoutMs, maxAnswerBytes }) => {
    const late = new AbortController()
    const cancel = clock.after(timeoutMs, () => late.abort(new Error(`There was no answer within ${timeoutMs} ms.`)))
    try {
      const response = await fetch(url, { method, headers, body, redirect: 'manual', signal: late.signal })
      return { status: response.status, ...(await readUpTo(response, maxAnswerBytes)) }
    } finally {
      cancel()
    }
  }
}

async function readUpTo(response: Response, maxBytes: number): Promise<{ body: Buffer; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let left = maxBytes
  const bytes = (response.body ?? []) as AsyncIterable<Uint8Array> | Uint8Array[]
  // Ending the loop early ends the connection too.
  for await (const chunk of bytes) {
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left < 0) return { body: Buffer.concat(chunks), isWhole: false }
  }
  return { body: Buffer.concat(chunks), isWhole: true }
}
