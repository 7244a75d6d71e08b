import { AppError, ERROR_CODES, type ErrorCode, type FaultDetail } from '../../kernel/errors.ts'

/** A failure on its way from the node that was asked to the one that asks. */
export type WireFault = { code: ErrorCode; message: string; details?: FaultDetail[] }

/** What another node may know of a failure: all that a caller may see, and nothing of a fault of ours. */
export function wireFault(error: unknown): WireFault {
  if (!(error instanceof AppError)) return { code: 'internal', message: 'The node that has it failed.' }
  const { code, message, details } = error
  return { code, message, ...(details && { details }) }
}

/** The failure as it is thrown here. A code that this version does not know is `internal`. */
export function errorOf({ code, message, details }: WireFault): AppError {
  const known = ERROR_CODES.find((each) => each === code) ?? 'internal'
  return new AppError(known, message, details ? { details } : {})
}
