import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/errors.ts'
import { isLoginRefused, toAppError, uniqueViolation } from './errors.ts'

function sqlError(code: string, constraint?: string): Error {
  const error = new pg.DatabaseError('text', 4, 'error')
  error.code = code
  error.constraint = constraint
  return error
}

function socketError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code })
}

const OTHERS_CAME_BETWEEN = 'Something else changed the same in the database at the same time. Try again.'

describe('toAppError', () => {
  it.each([
    ['57P01', sqlError('57P01')],
    ['57P03', sqlError('57P03')],
    ['a file of the embedded database that has no room', sqlError('58P02')],
    ['a server whose disk fails', sqlError('58030')],
    ['a pooler that has lost its server', sqlError('08P01')],
    ['a session that the server ended as idle', sqlError('57P05')],
    [
      'a transaction that took too long, in the language of its server',
      Object.assign(sqlError('25P04'), { severity: 'ВАЖНО' }),
    ],
    [
      'a session that the server ended for a reason of its own',
      Object.assign(sqlError('55000'), { severity: 'FATAL' }),
    ],
    ['a server that gives itself up', Object.assign(sqlError('XX000'), { severity: 'PANIC' })],
    ['ECONNREFUSED', socketError('ECONNREFUSED')],
    ['all addresses of a name', new AggregateError([socketError('ECONNREFUSED'), socketError('ENETUNREACH')])],
  ])('says that the database is not reachable for %s, and keeps the cause', (_name, cause) => {
    const error = toAppError(cause)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'unavailable', message: 'The database is not reachable. Try again.', cause })
  })

  it.each([
    ['F58: a server that may only be read', '25006', 'The database can only be read. Try again.'],
    ['F59: a full disk of the database', '53100', 'The disk of the database is full. Try again.'],
    ['a server without memory', '53200', 'The database has no memory left. Try again.'],
    ['a server without a connection left', '53300', 'The database has no connection left. Try again.'],
    ['a password that was changed', '28P01', 'The database does not let this service in. Try again.'],
    ['a role that may not log in', '28000', 'The database does not let this service in. Try again.'],
    ['a database that is not there', '3D000', 'The database does not let this service in. Try again.'],
    ['a database that was dropped', '57P04', 'The database does not let this service in. Try again.'],
    ['a statement that took too long', '57014', 'The database took too long over this. Try again.'],
    ['a serialization failure', '40001', OTHERS_CAME_BETWEEN],
    ['a deadlock', '40P01', OTHERS_CAME_BETWEEN],
    ['a lock that was not had in time', '55P03', 'Something else in the database holds what this needs. Try again.'],
  ])('says what is wrong with %s, and keeps the cause', (_name, state, message) => {
    const cause = sqlError(state)
    const error = toAppError(cause)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'unavailable', message, cause })
  })

  it.each([
    ['an error of SQL', sqlError('23505')],
    ['a statement that was given too few values', Object.assign(sqlError('08P01'), { routine: 'exec_bind_message' })],
    ['a fault of ours', new TypeError('undefined is not a function')],
    ['what is no error', 'text'],
  ])('leaves %s as it is', (_name, error) => {
    expect(toAppError(error)).toBe(error)
  })
})

describe('what is not waited for at a start', () => {
  const missing = (syscall: string) => Object.assign(new Error(`ENOENT, ${syscall}`), { code: 'ENOENT', syscall })

  it.each([
    ['a wrong password', sqlError('28P01'), true],
    ['a certificate that is not there', missing('open'), true],
    ['a Unix socket that is not there', missing('connect'), false],
    ['a server that starts', sqlError('57P03'), false],
  ])('is told by its cause: %s', (_name, cause, isRefused) => {
    expect([isLoginRefused(toAppError(cause)), isLoginRefused(cause)]).toEqual([isRefused, isRefused])
  })
})

describe('the violated constraint', () => {
  it('is null for what is not an error of PostgreSQL', () => {
    const lookalike = Object.assign(new Error('no'), { code: '23505', constraint: 'x' })
    expect(uniqueViolation(lookalike)).toBeNull()
  })

  it('is told for its own kind only', () => {
    expect(uniqueViolation(sqlError('23505', 'one'))).toBe('one')
    expect(uniqueViolation(sqlError('23503', 'one'))).toBeNull()
  })
})
