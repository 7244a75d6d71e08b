import { AppError } from '../kernel/errors.ts'

const MAX_CAUSES = 5
const MAX_PARTS = 5

/** Deeper in a field than anybody hangs an error. */
const MAX_FIELD_DEPTH = 5

/** What is logged of an error. */
type ErrorFacts = {
  name: string
  code?: string | number
  message: string
  stack?: string
  detail?: string
  cause?: ErrorFacts
  errors?: ErrorFacts[]
}

/**
 * What may be logged of an error: its name, code, message, stack, its causes and the parts of an aggregate (five deep, five
 * wide), and the `detail` of our own.
 *
 * An allow-list, because what drivers and clients hang on their errors (a row in `detail`, the parameters of a query, the
 * headers and body of a request) is what a log must not hold. Of a thrown value that is no error only its type is told.
 */
function errorFacts(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { name: 'NotAnError', message: `a ${typeof error} was thrown` }
  const code = 'code' in error ? error.code : undefined
  return {
    name: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error instanceof AppError && error.detail !== undefined ? { detail: error.detail } : {}),
    ...(depth < MAX_CAUSES ? deeper(error, depth + 1) : {}),
  }
}

function deeper(error: Error, depth: number): Pick<ErrorFacts, 'cause' | 'errors'> {
  const parts: unknown[] = error instanceof AggregateError ? error.errors.slice(0, MAX_PARTS) : []
  return {
    ...(error.cause === undefined || error.cause === null ? {} : { cause: errorFacts(error.cause, depth) }),
    ...(parts.length === 0 ? {} : { errors: parts.map((part) => errorFacts(part, depth)) }),
  }
}

/** The fields of a log line with every error among them, at any depth, replaced by its facts; `err` is one by its name. */
export function withErrorFacts(fields: Record<string, unknown>): Record<string, unknown> {
  return mapMembers(fields, (member, name) => (name === 'err' ? errorFacts(member) : replaceErrors(member, 1)))
}

function replaceErrors(value: unknown, depth: number): unknown {
  if (value instanceof Error) return errorFacts(value)
  if (depth > MAX_FIELD_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => replaceErrors(item, depth + 1))
  return isPlainObject(value) ? mapMembers(value, (member) => replaceErrors(member, depth + 1)) : value
}

/** What is of a class writes itself, as a Date does. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function mapMembers(
  object: Record<string, unknown>,
  map: (member: unknown, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, map(member, name)]))
}
