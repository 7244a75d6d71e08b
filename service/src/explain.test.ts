import { expect, it } from 'vitest'
import { ConfigError } from './config.ts'
import { explain } from './explain.ts'
import { AppError } from './kernel/errors.ts'

it('says what there is to mend, a line each', () => {
  expect(explain(new ConfigError(['PORT must be a number.', 'HOST must be set.']))).toBe(
    'parley: PORT must be a number.\nparley: HOST must be set.',
  )
  expect(explain(Object.assign(new Error('listen'), { code: 'EADDRINUSE', port: 8080 }))).toContain(
    'PORT 8080 is in use',
  )
  expect(explain(new AppError('unavailable', 'No database.'))).toBe('parley: No database.')
})

it.each([
  new AppError(
    'unavailable',
    "The folder /data cannot hold a key (EMFILE: too many open files, open '/data/encryption.key'). Set DATA_DIR to another one.",
  ),
  Object.assign(new Error("EMFILE: too many open files, open '/service/src/app.ts'"), { code: 'EMFILE' }),
])('blames the limit of open files, and nothing that met it: $message', (error) => {
  expect(explain(error)).toMatch(/^parley: this process has as many files open as it may \(EMFILE\)\. Raise the limit/)
})

it('tells the limit of the machine from that of the process', () => {
  expect(explain(new Error('ENFILE: file table overflow'))).toMatch(/^parley: this machine .* fs\.file-max/)
})
