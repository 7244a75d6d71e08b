import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import { othersFirst } from '../../kernel/clock.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import { tellFaults } from './faults.ts'
import { addFormats } from './formats.ts'
import { oncePerText } from './once-per-text.ts'
import { textFault } from './text-faults.ts'
import { readTexts } from './text-values.ts'

/** Of a larger input only the first fault is told: to collect all would let one request hold up every call. */
const MAX_MEMBERS_TO_SEARCH = 1_000

/** One ends at the first fault, the other, which is seldom asked, finds them all: its code is not worth making shorter. */
const quickly = makeCompiler({ allErrors: false })
const thoroughly = makeCompiler({ allErrors: true, code: { optimize: false } })

function makeCompiler(options: Options): (schema: object) => ValidateFunction {
  const ajv = new Ajv({ strict: true, strictTypes: false, strictTuples: false, verbose: true, ...options })
  addFormats(ajv)
  return oncePerText((schema) => ajv.compile(schema))
}

type Check = ReturnType<FastifySchemaCompiler<object>>

/**
 * The checks of a server's routes. To compile them all takes a second, which a start does not wait for: each is compiled when it
 * is first asked, or by `prepare`.
 */
export class RouteChecks {
  #steps: (() => unknown)[] = []

  /** Makes the check of a part of a route. The types of a body are as sent; queries, paths and headers are read from text. */
  readonly compiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
    this.#steps.push(
      () => quickly(schema),
      () => thoroughly(schema),
    )
    return makeCheck(schema, httpPart)
  }

  /**
   * Compiles what has not been asked yet, one after the other, so that no later request of a route holds up the calls: a large
   * schema takes 50 ms.
   */
  async prepare(): Promise<void> {
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      step()
      await othersFirst()
    }
  }
}

/** A schema that was compiled before, for whatever check, is not compiled again. */
function makeCheck(schema: object, httpPart: string | undefined): Check {
  let isValid: ValidateFunction | undefined
  let findAll: ValidateFunction | undefined
  return (given: unknown) => {
    const value = httpPart === 'body' ? given : readTexts(schema, given)
    isValid ??= quickly(schema)
    if (isValid(value)) return { value }
    if (!isSmall(value)) return { error: isValid.errors ?? [] }
    findAll ??= thoroughly(schema)
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
 * The check that a body of this schema gets, for where what is wrong with it is an answer and no refusal.
 *
 * @returns the 400 that a request with this body would be answered with; null for a sound one.
 */
export function makeBodyCheck(schema: object): (body: unknown) => Error | null {
  const check = makeCheck(schema, 'body')
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

/** Counts the members of a value in all its depth, and stops at `max`: no deeper than that either, or the stack would end first. */
function membersWithin(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const member of Object.values(value)) {
    if (count > max) break
    count += membersWithin(member, max - count)
  }
  return count
}
