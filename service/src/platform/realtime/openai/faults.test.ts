import { describe, expect, it } from 'vitest'
import { answerFault, closeFault, errorFault, handshakeFault } from './faults.ts'

const error = (code: string, type: string | null = 'invalid_request_error') => ({
  code,
  type,
  message: '',
  eventId: null,
})

describe('errorFault', () => {
  it.each([
    ['invalid_api_key', 'fatal', 'fatal'],
    ['missing_api_key', 'fatal', 'fatal'],
    ['insufficient_quota', 'fatal', 'fatal'],
    ['account_deactivated', 'fatal', 'fatal'],
    ['billing_hard_limit_reached', 'fatal', 'fatal'],
    ['billing_not_active', 'fatal', 'fatal'],
    ['unsupported_country_region_territory', 'fatal', 'fatal'],
    ['model_not_found', 'fatal', 'fatal'],
    ['session_expired', 'expired', 'expired'],
    ['rate_limit_exceeded', 'retry', 'retry'],
    ['server_error', 'retry', 'retry'],
    ['conversation_already_has_active_response', 'setup', 'benign'],
    ['response_cancel_not_active', 'setup', 'benign'],
    ['input_audio_buffer_commit_empty', 'setup', 'benign'],
    ['item_truncate_invalid_item_id', 'setup', 'benign'],
    ['item_delete_invalid_item_id', 'setup', 'benign'],
    ['missing_required_parameter', 'setup', 'benign'],
    ['unknown_parameter', 'setup', 'benign'],
    ['invalid_parameter', 'setup', 'benign'],
    ['invalid_value', 'setup', 'benign'],
    ['invalid_type', 'setup', 'benign'],
    ['beta_api_shape_disabled', 'setup', 'benign'],
    ['something_new', 'setup', 'benign'],
    ['constructor', 'setup', 'benign'],
  ])('of %s is %s while the session is set up and %s in the middle of a call', (code, before, after) => {
    expect([errorFault(error(code), false), errorFault(error(code), true)]).toEqual([before, after])
  })

  it('of an unknown trouble of the server itself is worth a new try', () => {
    const trouble = error('something_new', 'server_error')
    expect([errorFault(trouble, false), errorFault(trouble, true)]).toEqual(['retry', 'retry'])
  })
})

describe('answerFault', () => {
  it.each([
    ['rate_limit_exceeded', 'retry'],
    ['server_error', 'retry'],
    ['insufficient_quota', 'fatal'],
    ['session_expired', 'expired'],
    ['something_new', 'retry'],
  ])('of %s is %s', (code, fault) => {
    expect(answerFault(code)).toBe(fault)
  })
})

describe('handshakeFault', () => {
  it.each([
    [301, null, 'setup'],
    [400, null, 'setup'],
    [401, null, 'fatal'],
    [402, null, 'fatal'],
    [403, null, 'fatal'],
    [404, null, 'fatal'],
    [405, null, 'setup'],
    [408, null, 'retry'],
    [425, null, 'retry'],
    [429, null, 'retry'],
    [429, 'rate_limit_exceeded', 'retry'],
    [429, 'insufficient_quota', 'fatal'],
    [400, 'model_not_found', 'fatal'],
    [429, 'something_new', 'retry'],
    [500, null, 'retry'],
    [503, null, 'retry'],
  ])('of status %i with code %s is %s', (status, code, fault) => {
    expect(handshakeFault(status, code)).toBe(fault)
  })
})

describe('closeFault', () => {
  it.each([
    [1000, null, 'retry'],
    [1000, 'session_expired', 'expired'],
    [1001, 'session_expired', 'expired'],
    [1001, null, 'retry'],
    [1005, null, 'retry'],
    [1006, null, 'retry'],
    [1008, null, 'retry'],
    [1011, null, 'retry'],
    [1012, null, 'retry'],
    [1013, null, 'retry'],
    [3000, null, 'fatal'],
    [3003, null, 'fatal'],
    [4000, null, 'setup'],
    [4000, 'beta_api_shape_disabled', 'setup'],
    [4000, 'model_not_found', 'fatal'],
    [4000, 'server_error', 'retry'],
    [4500, null, 'retry'],
  ])('of code %i with %s in its reason is %s', (closeCode, code, fault) => {
    expect(closeFault(closeCode, code)).toBe(fault)
  })
})
