/** An attempt as it is kept with what it was to deliver. */
export type LoggedAttempt = { at: string; status_code: number | null; error: string | null; duration_ms: number } & {
  /** Which of the row's attempts; what older versions wrote has none. */
  attempt?: number
}

/** What came of an attempt. */
export type AttemptResult = {
  /** Where it went; null when there was nowhere to go. */
  url: string | null
  /** What was answered; null without an answer. */
  statusCode: number | null
  /** Null: it was delivered. Otherwise a sentence for the tenant. */
  error: string | null
  /** What the target asked for. */
  retryAfterMs: number | null
  /** No further attempt could end otherwise. */
  isFinal: boolean
}

/** A result, or that the attempt was given up because the service stops. */
export type SendResult = AttemptResult | 'stopped'

/** Makes one attempt. Takes `SEND_WITHIN_MS` at most; what it throws says nothing of the target. */
export type Send = (row: ClaimedRow, signal: AbortSignal) => Promise<SendResult>

/** A row that this process alone may deliver, until its lease is over. */
export type ClaimedRow = {
  tenantId: string
  id: string
  claimToken: string
  event: string
  callSid: string | null
  sequence: number | null
  /** As it was written, to the byte. */
  body: string
  /** This one included. */
  attempts: number
  /** Those before the last redelivery. */
  attemptsBefore: number
  /** Attempts since the last redelivery that came to an end: without those that ended with their process. */
  endedBefore: number
}

/** What a target has for its answer. */
export const SEND_WITHIN_MS = 10_000
