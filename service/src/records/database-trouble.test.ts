import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/errors.ts'
import { isDatabaseTrouble, isRowFault } from './database-trouble.ts'

function sqlError(code: string): Error {
  return Object.assign(new Error('refused'), { code })
}

describe('an error of a write', () => {
  it.each([
    ['an unreachable database', new AppError('unavailable', 'Try again.'), true, false],
    ['a deadlock', sqlError('40P01'), true, false],
    ['a full disk', sqlError('53100'), true, false],
    ['a standby that was asked to write', sqlError('25006'), true, false],
    ['a number out of range', sqlError('22003'), false, true],
    ['a row that something else needs', sqlError('23503'), false, true],
    ['a text that is too long for an index', sqlError('54000'), false, true],
    ['a refusal of ours', new AppError('not_found', 'There is no such call.'), false, false],
    ['a fault of ours', new TypeError('x is undefined'), false, false],
    ['the code of something else', sqlError('ERR_INVALID_ARG_TYPE'), false, false],
    ['a file that may not be read', Object.assign(sqlError('EPERM'), { path: '/data/a.wav' }), false, false],
    ['no error at all', 'refused', false, false],
  ])('%s is known for what it is', (_what, error, isTrouble, isFault) => {
    expect([isDatabaseTrouble(error), isRowFault(error)]).toEqual([isTrouble, isFault])
  })
})
