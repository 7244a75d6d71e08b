import type { ModelFault } from '../port.ts'

/** What the provider's error codes mean for a session, wherever they stand: event, failed answer, refusal, close frame. */
const FAULTS: ReadonlyMap<string, ModelFault> = new Map<string, ModelFault>([
  ['invalid_api_key', 'fatal'],
  ['missing_api_key', 'fatal'],
  ['insufficient_quota', 'fatal'],
  ['billing_hard_limit_reached', 'fatal'],
  ['billing_not_active', 'fatal'],
  ['account_deactivated', 'fatal'],
  ['unsupported_country_region_territory', 'fatal'],
  ['model_not_found', 'fatal'],

  ['session_expired', 'expired'],

  ['rate_limit_exceeded', 'retry'],
  ['server_error', 'retry'],

  ['conversation_already_has_active_response', 'benign'],
  ['response_cancel_not_active', 'benign'],
  ['input_audio_buffer_commit_empty', 'benign'],

  ['missing_required_parameter', 'setup'],
  ['unknown_parameter', 'setup'],
  ['invalid_parameter', 'setup'],
  ['invalid_value', 'setup'],
  ['invalid_type', 'setup'],
  ['beta_api_shape_disabled', 'setup'],
])

/** `item_truncate_invalid_item_id` and its like: the item is gone already, or was never there. */
const INVALID_ITEM = /^item_[a-z]+_invalid_item_id$/

/** HTTP statuses of a refused handshake; those of 500 and above are worth a new try, the rest is our setting. */
const HANDSHAKES: Readonly<Record<number, ModelFault>> = {
  401: 'fatal',
  402: 'fatal',
  403: 'fatal',
  404: 'fatal',
  408: 'retry',
  425: 'retry',
  429: 'retry',
}

/** Close codes that say more than that the connection is over. */
const CLOSES: Readonly<Record<number, ModelFault>> = { 3000: 'fatal', 3003: 'fatal', 4000: 'setup' }

/** An error as the provider tells it. */
export type ProviderError = {
  code: string
  type: string | null
  message: string
  /** The member of ours that it is about, such as `session.tools[0].parameters`. */
  param: string | null
  eventId: string | null
}

/** What an error code means; null when nobody here knows it. */
export function knownFault(code: string): ModelFault | null {
  return FAULTS.get(code) ?? (INVALID_ITEM.test(code) ? 'benign' : null)
}

/**
 * What an `error` event means. While the session is being set up every error ends it; later on the conversation goes on
 * without what was refused.
 */
export function errorFault({ code, type }: Pick<ProviderError, 'code' | 'type'>, isReady: boolean): ModelFault {
  const fault = knownFault(code) ?? (type === 'server_error' ? 'retry' : 'setup')
  if (isReady) return fault === 'setup' ? 'benign' : fault
  return fault === 'benign' ? 'setup' : fault
}

/** What the error of a failed answer means: without a known code it is worth asking again. */
export function answerFault(code: string): ModelFault {
  return knownFault(code) ?? 'retry'
}

/** What a refused handshake means; a known `code` in its body knows better than the status. */
export function handshakeFault(status: number, code: string | null): ModelFault {
  return (code === null ? null : knownFault(code)) ?? HANDSHAKES[status] ?? (status >= 500 ? 'retry' : 'setup')
}

/** What a close frame means; a known code in its reason, such as `invalid_request_error.model_not_found`, knows better. */
export function closeFault(closeCode: number, code: string | null): ModelFault {
  return (code === null ? null : knownFault(code)) ?? CLOSES[closeCode] ?? 'retry'
}
