import { describe, expect, it } from 'vitest'
import { AppError, assertNever, ERROR_CODES, invalidRequest } from './errors.ts'

describe('AppError', () => {
  it('has an error status for every code', () => {
    const statuses = ERROR_CODES.map((code) => new AppError(code, 'x').status)
    expect(statuses.filter((status) => status < 400 || status > 599)).toEqual([])
  })

  it('keeps its cause and what only operators may read apart from its message', () => {
    const cause = new Error('password=hunter2')
    const error = new AppError('unavailable', 'The database is down.', { cause, detail: 'pool exhausted' })
    expect(error).toMatchObject({ message: 'The database is down.', cause, detail: 'pool exhausted', status: 503 })
  })

  it('has no cause when it was given none', () => {
    expect('cause' in new AppError('not_found', 'x')).toBe(false)
  })
})

describe('invalidRequest', () => {
  it('names the field as a person would', () => {
    const error = invalidRequest([{ path: '/body/limits/idle_seconds', message: 'must be at least 3' }])
    expect(error.message).toBe('limits.idle_seconds must be at least 3.')
    expect(error.details).toEqual([{ path: '/body/limits/idle_seconds', message: 'must be at least 3' }])
  })

  it('says so when it is about the body as a whole', () => {
    expect(invalidRequest([{ path: '/body', message: 'must be an object' }]).message).toBe(
      'The body must be an object.',
    )
  })

  it('reads back the slashes and tildes of a name', () => {
    expect(invalidRequest([{ path: '/body/a~1b~0c', message: 'is not a known field' }]).message).toBe(
      'a/b~c is not a known field.',
    )
  })

  it('says that there are more, and lists 20 at most', () => {
    const fault = { path: '/body/x', message: 'is required' }
    const error = invalidRequest([fault, ...Array(30).fill(fault)])
    expect(error.message).toBe('x is required. There are more faults: see details.')
    expect(error.details).toHaveLength(20)
  })
})

describe('assertNever', () => {
  it('fails with the value that should not be', () => {
    expect(() => assertNever('parked' as never)).toThrow('unexpected value: "parked"')
  })
})
