import {
  _,
  Ajv2020,
  type AnySchemaObject,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import type { AddedKeywordDefinition } from 'ajv/dist/types/index.js'
import { LastUsed } from '../kernel/last-used.ts'
import { sha256 } from '../kernel/seal.ts'
import { OF_STORED, weightFault } from './schema-weight.ts'

/** What does not fit, as Ajv tells it; empty when the value fits. Never throws, and takes a bounded time. */
export type SchemaCheck = (value: unknown) => ErrorObject[]

/** Whether regular expressions pass unlooked at. They are refused otherwise: one that backtracks would stop every call of the process. */
type Options = { passesPatterns: boolean }

/** Steps of one check. A value that a person or a model wrote needs some hundreds; these take some 20 ms. */
const MAX_STEPS = 1_000_000

/**
 * Makes the check of a schema that somebody else has written (draft 2020-12), an object of bounded size.
 *
 * Nothing in it does more than check: it cannot run on behind the check (`$async`), ask for another document, or take longer
 * than a number of steps. A value that would is one that does not fit. What is stored was written by the bounds of its time:
 * those of now are for who takes a schema in.
 *
 * @throws Error saying why the schema cannot be used.
 */
export function compileSchema(schema: AnySchemaObject, { passesPatterns }: Options): SchemaCheck {
  const fault = weightFault(schema, OF_STORED)
  if (fault !== null) throw new Error(fault)
  const steps = new Steps()
  // With `$async` the check would be a promise, which is never false and which nobody waits for.
  const { $async: _async, ...plain } = schema
  // A compiler of its own: a shared one would keep every schema it has ever seen.
  const compiler = new Ajv2020({
    ...{ strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false },
    ...{ verbose: true, allErrors: true, inlineRefs: false },
    // Tidying the code up takes several times as long as making it, and a list of names or values is gone through, not written out:
    // of names, no list is too short for that, because a schema can have them in very many places.
    ...{ loopRequired: 2, loopEnum: 10 },
    code: { optimize: false, regExp: Object.assign(passesPatterns ? matchesAll : refuseRegExp, { code: 'unused' }) },
  })
  countSteps(compiler, steps)
  return checkBy(compiler.compile(plain), steps)
}

/** Checks that were made are kept by the text of their schema: each call, and each form that is filled in, asks for the same few. */
const MAX_KEPT = 200
const kept = new LastUsed<string, Kept>(MAX_KEPT)

/** `unusable`: why nothing can be checked, about the schema. */
type Kept = { check: SchemaCheck; unusable: string | null }

/** The check of a schema, made when it is first asked for; one by which nothing fits, for a schema that cannot be used. */
export function checkOf(schema: AnySchemaObject, options: Options): SchemaCheck {
  return keptOf(schema, options).check
}

/** Why nothing would fit a schema, whatever it is; null when it can be used. */
export function unusableFault(schema: AnySchemaObject, options: Options): string | null {
  return keptOf(schema, options).unusable
}

function keptOf(schema: AnySchemaObject, options: Options): Kept {
  const key = `${options.passesPatterns} ${sha256(JSON.stringify(schema)).toString('base64')}`
  return kept.get(key) ?? kept.put(key, newCheckOf(schema, options))
}

function newCheckOf(schema: AnySchemaObject, options: Options): Kept {
  try {
    return { check: compileSchema(schema, options), unusable: null }
  } catch (error) {
    const unusable = error instanceof Error ? error.message : String(error)
    return { check: () => [faultOf(`cannot be checked: the schema ${unusable}`)], unusable }
  }
}

function checkBy(isFitting: ValidateFunction, steps: Steps): SchemaCheck {
  return (value) => {
    steps.left = MAX_STEPS
    try {
      if (isFitting(value) === true) return []
      return isFitting.errors ?? [faultOf('does not fit')]
    } catch {
      // Out of steps, or nested deeper than the stack.
      return [faultOf('takes too long to check')]
    }
  }
}

function faultOf(message: string): ErrorObject {
  return { keyword: '', instancePath: '', schemaPath: '', params: {}, message }
}

class Steps {
  left = MAX_STEPS

  /** @throws RangeError when there are no more. */
  take(count: number): void {
    this.left -= count
    if (this.left < 0) throw new RangeError('out of steps')
  }
}

/** Has each keyword take as many steps as it can do at most, before it does any. */
function countSteps(compiler: Ajv2020, steps: Steps): void {
  for (const rule of Object.values(compiler.RULES.all)) {
    if (typeof rule === 'object' && 'code' in rule.definition) rule.definition = counted(rule.definition, steps)
  }
}

type Definition = AddedKeywordDefinition & CodeKeywordDefinition

function counted(definition: Definition, steps: Steps): Definition {
  const take = (cost: number, value: unknown, faults: number) => steps.take(cost * sizeOf(value) + faults)
  // A text is compared with each value at once.
  const takeEach = (cost: number, value: unknown, faults: number) =>
    steps.take(cost * (typeof value === 'string' ? 1 : sizeOf(value)) + faults)
  const takeSquared = (_cost: number, value: unknown, faults: number) => steps.take(sizeOf(value) ** 2 + faults)
  return {
    ...definition,
    code(context, type) {
      const { gen, keyword, data, schema } = context
      const isSquared = keyword === 'uniqueItems' && schema !== false
      const isCompared = keyword === 'enum' || keyword === 'const'
      const ref = gen.scopeValue('func', { ref: isSquared ? takeSquared : isCompared ? takeEach : take })
      // What was found so far is copied with each reference.
      gen.code(_`${ref}(${costOf(context)}, ${data}, ${new Name('errors')})`)
      definition.code(context, type)
    },
  }
}

/** How many steps a keyword takes with each member of a value, at most. */
function costOf({ keyword, schema, it }: KeywordCxt): number {
  // Each name is compared with those that are known already.
  if (keyword === 'unevaluatedProperties') return 1 + sizeOf(it.props)
  return sizeOf(schema)
}

/** At least 1. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return 1 + value.length
  return typeof value === 'object' && value !== null ? 1 + Object.keys(value).length : 1
}

function matchesAll(): { test: () => boolean } {
  return { test: () => true }
}

function refuseRegExp(): never {
  throw new Error('regular expressions (pattern, patternProperties) are not accepted')
}
