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

/** serialization_failure, deadlock_detected: of those that got into each other one was refused, and would not be now. */
const LOST_TO_ANOTHER = new Set(['40001', '40P01'])
const MAX_TRIES = 3

/** Does what is refused because others did something at the same time again: twice at most, at once. Rejects as `work` does. */
export async function againWhenRefused<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === MAX_TRIES || !LOST_TO_ANOTHER.has(sqlState(error))) throw error
    }
  }
}

/** Empty for what is no error of the database. */
function sqlState(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' && SQL_STATE.test(code) ? code : ''
}
