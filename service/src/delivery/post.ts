import type { Clock } from '../kernel/clock.ts'
import { OutboundFault } from '../platform/outbound/fault.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import { type AttemptResult, type ClaimedRow, SEND_WITHIN_MS, type SendResult } from './attempt.ts'
import { readRetryAfter } from './retry-schedule.ts'
import { signedHeaders } from './sign.ts'

/** Answers are thrown away; what a target goes on to say is not listened to. */
const MAX_ANSWER_BYTES = 16 * 1024

/** Where to, and what it is signed with, the newest secret first. */
export type Target = { url: string; secrets: string[] }

type Deps = { clock: Clock; outbound: Outbound }

/** Posts a row to a target, signed as Standard Webhooks say, and tells what came of it. Never rejects for what the target does. */
export async function post(
  { clock, outbound }: Deps,
  row: ClaimedRow,
  { target, signal }: { target: Target; signal: AbortSignal },
): Promise<SendResult> {
  const { url, secrets } = target
  const timestampSeconds = Math.floor(clock.now() / 1_000)
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(row.body)),
    'user-agent': 'Parley-Webhooks/1',
    ...signedHeaders(secrets, { id: row.id, timestampSeconds, body: row.body }),
    ...(row.sequence !== null && { 'parley-sequence': String(row.sequence) }),
  }
  const asked = { url, method: 'POST' as const, headers, body: row.body, signal }
  try {
    const bounds = { timeoutMs: SEND_WITHIN_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
    const answer = await outbound.request({ ...asked, ...bounds })
    return answered(url, answer, clock.now())
  } catch (error) {
    if (!(error instanceof OutboundFault)) throw error
    if (error.kind === 'stopped') return 'stopped'
    return { url, statusCode: null, error: error.message, retryAfterMs: null, isFinal: false }
  }
}

type Answer = { status: number; headers: Record<string, string | string[] | undefined> }

function answered(url: string, { status, headers }: Answer, nowMs: number): AttemptResult {
  const retryAfterMs = readRetryAfter(headers['retry-after'], nowMs)
  return { url, statusCode: status, error: errorOf(status), retryAfterMs, isFinal: false }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `The target answered ${status}; redirects are not followed.`
  return `The target answered ${status}.`
}
