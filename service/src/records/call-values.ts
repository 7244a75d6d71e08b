import { CARRIER_CALL_STATUSES, type CarrierCallStatus } from '../platform/telephony/port.ts'

/** How far a call has come, in the carrier's words. */
export const CALL_STATUSES = CARRIER_CALL_STATUSES
export type CallStatus = CarrierCallStatus

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

export const TURN_ROLES = ['caller', 'agent', 'system', 'supervisor'] as const
export type TurnRole = (typeof TURN_ROLES)[number]

/** How a tool ended. timeout: it is not known whether it was done. */
export const TOOL_STATUSES = ['ok', 'error', 'timeout'] as const
export type ToolStatus = (typeof TOOL_STATUSES)[number]

/** A voice session's id, which is not that of its call. */
export type SessionId = string & { readonly __brand: 'SessionId' }
