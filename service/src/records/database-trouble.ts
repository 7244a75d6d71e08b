import { AppError } from '../kernel/errors.ts'

const SQL_STATE = /^[0-9A-Z]{5}$/

/**
 * Classes of SQL states that say that what was written is at fault, not the database: data exception, integrity constraint
 * violation, program limit exceeded. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const ROW_FAULT = /^(22|23|54)/

/** Whether the same rows would be refused again however often they are written. */
export function isRowFault(error: unknown): boolean {
  return ROW_FAULT.test(sqlState(error))
}

/** Whether it is worth it to write the same again: the database is away, busy, or was not ready for it. */
export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'unavailable'
  return sqlState(error) !== '' && !isRowFault(error)
}

/** Empty for what is no error of the database: that of a file may have a code of five letters, too (`EPERM`), and names its file. */
function sqlState(error: unknown): string {
  const code = error instanceof Error && 'code' in error && !('path' in error) ? error.code : null
  return typeof code === 'string' && SQL_STATE.test(code) ? code : ''
}
