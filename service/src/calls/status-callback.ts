import type { CallReport } from '../records/call-record.ts'
import { CALL_STATUSES } from '../records/call-values.ts'
import { storable } from '../records/storable.ts'

/** What a status callback says. */
export type StatusCallback = { callSid: string; report: CallReport }

/** It goes into every list of calls, and into what the tenant is told. */
const MAX_TEXT_CHARS = 500

/** What refusals of the telephone network mean: https://www.rfc-editor.org/rfc/rfc3261#section-21 */
const SIP_MEANS: Readonly<Record<string, string>> = {
  403: 'it does not let the call through',
  404: 'it does not know the number',
  408: 'nothing was heard of the number in time',
  410: 'the number is not in use any more',
  480: 'the number cannot be reached now',
  484: 'the number is not complete',
  503: 'it has no way to the number now',
  603: 'the call was declined',
  604: 'it does not know the number',
}

type Form = Record<string, string | undefined>

/**
 * Reads the form of a status callback, or of the result of answering machine detection, which carries no status. What is
 * not said, or not understood, is null; fields that carriers add are ignored.
 *
 * @param receivedAt stands in for a timestamp that is missing or lies in the future.
 * @returns null without a call id.
 */
export function readStatusCallback(form: Form, receivedAt: Date): StatusCallback | null {
  const { CallSid: callSid, CallStatus, CallDuration, AnsweredBy, Timestamp } = form
  if (!callSid) return null
  return {
    callSid,
    report: {
      status: CALL_STATUSES.find((status) => status === CallStatus) ?? null,
      at: instant(Timestamp, receivedAt),
      durationSeconds: seconds(CallDuration),
      answeredBy: textOf(AnsweredBy),
      ...faultOf(form),
    },
  }
}

/** Why it failed. Of a call that the network has refused carriers may say no more than how: other statuses tell that themselves. */
function faultOf({ CallStatus, ErrorCode, ErrorMessage, SipResponseCode = '' }: Form) {
  const said = { errorCode: textOf(ErrorCode), errorMessage: textOf(ErrorMessage) }
  const isRefused = CallStatus === 'failed' && /^[456]\d\d$/.test(SipResponseCode)
  if (!isRefused || said.errorCode !== null || said.errorMessage !== null) return said
  const means = SIP_MEANS[SipResponseCode]
  const answer = `The telephone network answered SIP ${SipResponseCode}`
  return { errorCode: `sip_${SipResponseCode}`, errorMessage: means ? `${answer}: ${means}.` : `${answer}.` }
}

function textOf(text = ''): string | null {
  return storable(text.slice(0, MAX_TEXT_CHARS)) || null
}

/** RFC 2822, as in `Tue, 01 Jan 2030 00:00:05 +0000`. */
function instant(text: string | undefined, receivedAt: Date): Date {
  const ms = Date.parse(text ?? '')
  return ms <= receivedAt.getTime() ? new Date(ms) : receivedAt
}

function seconds(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : null
}
