import { describe, expect, it } from 'vitest'
import { isNeverSent } from './never-sent.ts'

const fault = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall })
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })

describe('a request that failed', () => {
  it.each([
    fault('ENOTFOUND', 'getaddrinfo'),
    fault('EAI_AGAIN', 'getaddrinfo'),
    fault('ECONNREFUSED', 'connect'),
    fault('EHOSTUNREACH', 'connect'),
    fault('ENETUNREACH', 'connect'),
    new AggregateError([fault('ECONNREFUSED', 'connect'), fault('ENETUNREACH', 'connect')]),
  ])('was never sent: %s', (cause) => {
    expect(isNeverSent(fetchFailed(cause))).toBe(true)
  })

  it.each([
    ['a reset', fault('ECONNRESET', 'read')],
    ['a host that is gone from a socket that was connected', fault('EHOSTUNREACH', 'read')],
    ['a time-out of the connection', fault('ETIMEDOUT', 'connect')],
    ['one address of several', new AggregateError([fault('ECONNREFUSED', 'connect'), fault('ETIMEDOUT', 'connect')])],
    ['no address at all', new AggregateError([])],
    ['a fault without a code', new Error('other side closed')],
    ['nothing', undefined],
  ])('may have been sent: %s', (_what, cause) => {
    expect(isNeverSent(fetchFailed(cause))).toBe(false)
  })

  it('may have been sent when it was given up', () => {
    expect(isNeverSent(new DOMException('This operation was aborted', 'AbortError'))).toBe(false)
  })
})
