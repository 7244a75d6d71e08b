import { describe, expect, it } from 'vitest'
import { CarrierError } from '../../service/src/platform/telephony/port.ts'
import { explain, Trouble } from './faults.ts'
import { modelAdvice } from './model-advice.ts'

/** As `fetch` throws what went wrong below it. */
function failure(code: string, message = `connect ${code}`): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
}

describe('explain', () => {
  it.each([
    ['ENOTFOUND', 'The name has no address'],
    ['EAI_AGAIN', 'The name has no address'],
    ['ECONNREFUSED', 'The connection was refused'],
    ['ECONNRESET', 'The connection broke off'],
    ['UND_ERR_SOCKET', 'The connection broke off'],
    ['EHOSTUNREACH', 'There is no way to it'],
    ['UND_ERR_CONNECT_TIMEOUT', 'There is no way to it'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'The other side does not speak TLS'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The TLS certificate is not valid'],
    ['CERT_HAS_EXPIRED', 'The TLS certificate is not valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'The TLS certificate is not valid'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'The TLS certificate is not valid'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'The TLS certificate is not valid'],
  ])('knows %s, and keeps the words of the socket', (code, found) => {
    expect(explain(failure(code))).toEqual({ found: `${found} (connect ${code}).`, todo: expect.stringMatching(/\.$/) })
  })

  it('tells what a failure wraps, not that something failed', () => {
    expect(explain(failure('ESOMETHING', 'the reason')).found).toBe('It failed: the reason.')
    expect(explain('odd').found).toBe('It failed: odd.')
  })

  it('takes the end of a limit for no answer', () => {
    expect(explain(new DOMException('late', 'TimeoutError')).found).toBe('No answer came in time.')
  })

  it('keeps what is said already', () => {
    expect(explain(new Trouble('This.', 'Do that.'))).toEqual({ found: 'This.', todo: 'Do that.' })
  })

  it.each([
    { code: '20003', todo: 'TELEPHONY_AUTH_TOKEN' },
    { code: '20008', todo: 'test credentials' },
    { code: '20404', todo: 'TELEPHONY_API_BASE_URL' },
    { code: '21402', todo: 'PUBLIC_URL' },
    { code: null, todo: 'first page of the console' },
  ])('knows the carrier’s $code', ({ code, todo }) => {
    expect(explain(new CarrierError('credentials', 'No', code)).todo).toContain(todo)
  })

  it('tells the network apart from the carrier', () => {
    const cause = failure('ECONNREFUSED')
    expect(explain(new CarrierError('unknown', 'The carrier did not answer.', null, { cause })).found).toBe(
      'The carrier was not reached. The connection was refused (connect ECONNREFUSED).',
    )
    expect(explain(new CarrierError('unknown', 'HTTP 503')).todo).toContain('status.twilio.com')
  })
})

describe('modelAdvice', () => {
  it.each([
    ['insufficient_quota', 'no credit'],
    ['handshake_401', 'OPENAI_API_KEY'],
    ['handshake_404', 'OPENAI_REALTIME_URL'],
    ['model_not_found', '--model'],
    ['handshake_429', 'Too many requests'],
    ['invalid_value', '--voice'],
    ['close_4000', 'beta'],
    ['enotfound', 'OPENAI_REALTIME_URL'],
    ['err_ssl_wrong_version_number', 'TLS'],
    ['depth_zero_self_signed_cert', 'TLS'],
    ['setup_timeout', 'does not answer'],
    ['handshake_503', 'does not answer'],
    ['nobody_knows', 'status.openai.com'],
  ])('for %s says what to do', (code, todo) => {
    expect(modelAdvice(code)).toContain(todo)
  })
})
