import { describe, expect, it } from 'vitest'
import { unusable } from './folder-lock.ts'

describe('a folder that cannot hold the database', () => {
  it.each([
    ['an error', new Error('no'), '(no)'],
    [
      'what has a message and is no error',
      { name: 'ExitStatus', message: 'Program terminated' },
      '(Program terminated)',
    ],
    ['a full disk', { name: 'ErrnoError', errno: 51 }, '(ENOSPC: no space left on the disk)'],
    ['an error of another number', { name: 'ErrnoError', errno: 7 }, '(error 7)'],
    ['what says nothing', {}, '(for a reason that it does not tell)'],
    ['a text', 'no', '(no)'],
  ])('is told with its reason: %s', (_name, cause, reason) => {
    const { message } = unusable('/data', cause)
    expect(message).toBe(
      `The folder /data cannot hold the database ${reason}. Mend that, or set DATA_DIR to another folder.`,
    )
  })
})
