import { AppError, type ErrorCode } from '../kernel/errors.ts'
import type { CallLogRow } from '../records/call-log-store.ts'
import type { CallStatus } from '../records/call-values.ts'
import type { DialState } from './dial-store.ts'

/** What is known of a call that was asked for. */
export type PlacedCall = { state: DialState; log: CallLogRow }

/** The answer to who asked for it; `callSid` is null for one that the carrier did not confirm in time. */
export type CallAnswer = { callSid: string | null; status: CallStatus; to: string; from: string }

type Fault = Extract<ErrorCode, 'carrier_rejected' | 'carrier_credentials' | 'carrier_busy' | 'carrier_unreachable'>

/** For what passes by itself. */
const PASSING_SECONDS = '30'
const IN_FLIGHT_SECONDS = '1'
/** By then it is known. */
const UNKNOWN_SECONDS = '120'

/** What is said of a call that the carrier did not take; `reason` is the carrier's own. */
const FAULTS: Record<Fault, (reason: string) => AppError> = {
  carrier_rejected: (reason) => new AppError('carrier_rejected', `The carrier refused the call: ${reason}`),
  carrier_credentials: () =>
    new AppError('carrier_credentials', 'The carrier refuses the credentials of the account: nothing was dialled.'),
  carrier_busy: () =>
    new AppError('carrier_busy', 'The carrier takes no more calls at the moment: nothing was dialled.', {
      headers: { 'retry-after': PASSING_SECONDS },
    }),
  carrier_unreachable: () =>
    new AppError('carrier_unreachable', 'The carrier cannot be reached at the moment: nothing was dialled.', {
      headers: { 'retry-after': PASSING_SECONDS },
    }),
}

/**
 * What is answered to the request that asked for a call, the first time and whenever it is repeated: it follows from what
 * stands in the records alone.
 *
 * @throws AppError `carrier_rejected`, `carrier_credentials`, `carrier_busy` or `carrier_unreachable` for a call that was not placed,
 *   `submission_unknown` while that is not known, `request_in_flight` while the carrier is being asked.
 */
export function answerOf({ state, log }: PlacedCall): CallAnswer {
  const { call_sid: callSid, to, from } = log
  switch (state) {
    case 'dialing':
      throw inFlight()
    case 'unknown':
      throw submissionUnknown()
    case 'accepted':
      return { callSid, status: 'queued', to, from }
    default:
      throwFault(log)
      return { callSid, status: log.status, to, from }
  }
}

function throwFault({ call_sid, error_code, error_message }: CallLogRow): void {
  if (call_sid === null && isFault(error_code)) throw FAULTS[error_code](error_message ?? 'it gave no reason')
}

function isFault(code: string | null): code is Fault {
  return code !== null && Object.hasOwn(FAULTS, code)
}

/** It is not known whether the carrier took a call. */
export function submissionUnknown(cause?: unknown): AppError {
  const sentence =
    'It is not known yet whether the carrier took the call. Repeat the request with the same Idempotency-Key, or read the call log; another request would place another call.'
  const headers = { 'retry-after': UNKNOWN_SECONDS }
  return new AppError('submission_unknown', sentence, cause === undefined ? { headers } : { headers, cause })
}

/** Another request with the same key has not been answered, or was a moment ago. */
export function inFlight(): AppError {
  const headers = { 'retry-after': IN_FLIGHT_SECONDS }
  return new AppError('request_in_flight', 'A request with this Idempotency-Key is being worked on.', { headers })
}
