import { Ajv, type ErrorObject, type Options } from 'ajv'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import { invalidRequest } from '../../kernel/errors.ts'
import { tellFaults } from './faults.ts'
import { addFormats } from './formats.ts'
import { textFault } from './text-faults.ts'
import { readTexts } from './text-values.ts'

/** Of a larger input only the first fault is told: to collect all would let one request hold up every call. */
const MAX_MEMBERS_TO_SEARCH = 1_000

/** One ends at the first fault, the other finds them all. */
const quick = makeValidator({ allErrors: false })
const thorough = makeValidator({ allErrors: true })

function makeValidator(options: Options): Ajv {
  const ajv = new Ajv({ strict: true, strictTypes: false, strictTuples: false, verbose: true, ...options })
  addFormats(ajv)
  return ajv
}

/** Compiles a schema of a route. The types of a body are as sent; queries, paths and headers are read from text. */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const isValid = quick.compile(schema)
  // Now rather than with the first bad request: a large schema takes 50 ms, which every call would hear.
  const findAll = thorough.compile(schema)
  return (given: unknown) => {
    const value = httpPart === 'body' ? given : readTexts(schema, given)
    if (isValid(value)) return { value }
    if (!isSmall(value)) return { error: isValid.errors ?? [] }
    findAll(value)
    return { error: findAll.errors ?? [] }
  }
}

/** Makes the error that a refused input is answered with. */
export function validationError(errors: FastifySchemaValidationError[], part: string): Error {
  const [first, ...others] = tellFaults(errors as ErrorObject[], part)
  if (!first) throw new Error('a validator refused without a reason')
  return invalidRequest([first, ...others])
}

/**
 * The check that a body of this schema gets, for where what is wrong with it is an answer and no refusal. Compile it once.
 *
 * @returns the 400 that a request with this body would be answered with; null for a sound one.
 */
export function makeBodyCheck(schema: object): (body: unknown) => Error | null {
  const check = compileValidator({ schema, method: 'POST', url: '', httpPart: 'body' })
  return (body) => {
    const text = textFault(body)
    if (text) return invalidRequest([text])
    const checked: unknown = check(body)
    const { error } = checked as { error?: FastifySchemaValidationError[] }
    return error ? validationError(error, 'body') : null
  }
}

function isSmall(value: unknown): boolean {
  return membersWithin(value, MAX_MEMBERS_TO_SEARCH) <= MAX_MEMBERS_TO_SEARCH
}

/** Counts the members of a value in all its depth, and stops soon after `max`. */
function membersWithin(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const member of Object.values(value)) {
    count += membersWithin(member, max - count)
    if (count > max) break
  }
  return count
}
