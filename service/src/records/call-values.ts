/** How far a call has come, in the carrier's words. From `completed` on it is over. */
export const CALL_STATUSES = [
  'queued',
  'initiated',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

/** No call lasts longer: its carrier ends it by then. */
export const LONGEST_CALL_SECONDS = 14_400
/** The same, and a quarter of an hour in which it rings and its end is written down. */
export const LONGEST_LIVE_MS = (LONGEST_CALL_SECONDS + 900) * 1_000

/** Who began the call; browser: a person at the dashboard or a page, without a carrier. */
export const CALL_DIRECTIONS = ['inbound', 'outbound', 'browser'] as const
export type CallDirection = (typeof CALL_DIRECTIONS)[number]

/** Why a session ended. */
export const END_REASONS = [
  'caller_hangup',
  'agent_hangup',
  'supervisor',
  'transferred',
  'idle_timeout',
  'max_duration',
  'carrier_lost',
  'model_lost',
  'process_lost',
  'voicemail',
  'rejected',
  'shutdown',
] as const
export type SessionEndReason = (typeof END_REASONS)[number]

/** Why a call ended, as its log has it in `error_code`, that was answered and whose stream never began, or was lost for good. */
export const STREAM_LOST = 'stream_lost'
/** The same for people, as the log has it in `error_message`. */
export const STREAM_LOST_REASON = 'Its stream never began, or was lost for good.'

/** The same of a call that came in, and that its tenant's own address did not want. */
export const REJECTED = 'rejected'

export type TurnRole = 'caller' | 'agent' | 'system' | 'supervisor'

/** A voice session's id, which is not that of its call. */
export type SessionId = string & { readonly __brand: 'SessionId' }
