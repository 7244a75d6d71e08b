import { describe, expect, it } from 'vitest'
import { closeEnding, failureEnding, handshakeEnding, retryAfterMs } from './endings.ts'

const refusal = (status: number, body: string, retryAfter?: string) => ({ status, retryAfter, body: Buffer.from(body) })

describe('handshakeEnding', () => {
  it('names the code that the body gives and leaves out its words, which may quote the key', () => {
    const body = '{"error":{"message":"Incorrect API key provided: my-se**ret.","code":"invalid_api_key"}}'
    expect(handshakeEnding(refusal(401, body))).toEqual({
      code: 'invalid_api_key',
      message: 'The model refused the connection with status 401.',
      fault: 'fatal',
    })
  })

  it.each(['', '<html>', '{"error":"no"}', '{"error":{"code":7}}', '{"error":{"code":"two words"}}'])(
    'goes by the status when the body is %j',
    (body) => {
      expect(handshakeEnding(refusal(503, body))).toMatchObject({ code: 'handshake_503', fault: 'retry' })
    },
  )
})

describe('retryAfterMs', () => {
  it.each([
    ['2', 2_000],
    ['0', 0],
    ['3600', 60_000],
    ['-1', null],
    ['Wed, 21 Oct 2015 07:28:00 GMT', null],
    [undefined, null],
  ])('of %s is %s', (header, ms) => {
    expect(retryAfterMs(refusal(429, '', header))).toBe(ms)
  })
})

describe('closeEnding', () => {
  it.each([
    [1001, 'session_expired', 'session_expired', 'expired'],
    [4000, 'invalid_request_error.model_not_found', 'model_not_found', 'fatal'],
    [1011, 'an internal error', 'close_1011', 'retry'],
    [1006, '', 'close_1006', 'retry'],
  ])('of %i %j has code %s and fault %s', (closeCode, reason, code, fault) => {
    expect(closeEnding(closeCode, reason)).toMatchObject({ code, fault })
  })
})

describe('failureEnding', () => {
  it('names the code of the error and not its message', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' })
    expect(failureEnding(error)).toEqual({
      code: 'econnrefused',
      message: 'The connection to the model failed (econnrefused).',
      fault: 'retry',
    })
    expect(failureEnding(new Error('no code')).code).toBe('socket_error')
  })
})
