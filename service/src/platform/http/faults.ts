import type { ErrorObject } from 'ajv'
import type { FaultDetail } from '../../kernel/errors.ts'
import { isJsonObject } from '../../kernel/json-object.ts'
import { E164_PATTERN, phoneFault } from '../../kernel/phone.ts'
import { pointerPart, unknownField, unknownParameter } from './bodies.ts'
import { wantedForm } from './formats.ts'
import {
  COUNTRY_PATTERN,
  KEY_PATTERN,
  LANGUAGE_PATTERN,
  NOT_BLANK,
  NUMBER_PREFIX_PATTERN,
  ONE_KEY_PATTERN,
  OWN_PAGE_PATTERN,
  PRESSED_KEYS_PATTERN,
  PROMPT_KEY_PATTERN,
  TIME_PATTERN,
  TOOL_NAME_PATTERN,
} from './schemas.ts'
import { settleUnions } from './union-faults.ts'

/** As the parts of a request are called in a fault's path. */
const PART_NAMES: Record<string, string> = { querystring: 'query', params: 'path' }

/**
 * Puts what a validator found into words that complete "<field> …". They say what is wanted and never repeat the value,
 * which may be a secret.
 */
export function tellFaults(errors: ErrorObject[], part: string): FaultDetail[] {
  const root = `/${PART_NAMES[part] ?? part}`
  const tell = part === 'querystring' ? messageInQuery : messageOf
  const faults = settleUnions(errors).map((error) => ({ path: root + pointerOf(error), message: tell(error) }))
  const seen = new Map(faults.map((fault) => [`${fault.path} ${fault.message}`, fault]))
  return [...seen.values()]
}

/** A missing or unknown member is told at its own place, not at that of the object around it. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = params
  const member: unknown = missingProperty ?? additionalProperty ?? propertyName
  return typeof member === 'string' ? `${instancePath}/${pointerPart(member)}` : instancePath
}

const wanted = ({ parentSchema, data }: ErrorObject) =>
  `must be ${describe(parentSchema as Described, isJsonObject(data))}`

const PATTERN_MESSAGES: Record<string, string> = {
  [E164_PATTERN]: phoneFault(null),
  [NOT_BLANK]: 'must not be blank',
  [KEY_PATTERN]: 'must be 1 to 63 lower-case letters, digits, _ or -, of which the first is a letter or a digit',
  [TOOL_NAME_PATTERN]: 'must be 1 to 64 letters, digits, _ or -',
  [TIME_PATTERN]: 'must be a time of the day from 00:00 to 24:00, in four digits: 09:00',
  [COUNTRY_PATTERN]: 'must be the code of a country in two capital letters, like US',
  [LANGUAGE_PATTERN]: 'must be the code of a language, like en or pt-BR',
  [NUMBER_PREFIX_PATTERN]: 'must be a phone number in E.164, like +14155550100, or how such numbers begin, like +44',
  [PRESSED_KEYS_PATTERN]: 'must be 1 to 32 keys: digits, *, # or A to D',
  [ONE_KEY_PATTERN]: 'must be one key: a digit, * or #',
  [PROMPT_KEY_PATTERN]: 'must be 1 to 200 letters, digits, ., _ or -, of which the first is a letter or a digit',
  [OWN_PAGE_PATTERN]: 'must be a page of the dashboard, like /app/calls',
}

/** What a text must be that does not match: in words wherever a request may hold it. */
export function patternMessage(pattern: string): string {
  return PATTERN_MESSAGES[pattern] ?? `must match ${pattern}`
}

const MESSAGES: Record<string, (error: ErrorObject, limit: unknown) => string> = {
  required: () => 'is required',
  additionalProperties: (error) => unknownField(knownIn(error)),
  propertyNames: () => 'is not a name that is taken here',
  // The framework has a body that was not sent checked as null.
  type: (error) => {
    const isMissing = error.instancePath === '' && error.data === null
    return isMissing ? `is missing: it ${wanted(error)}, in JSON` : wanted(error)
  },
  const: wanted,
  enum: wanted,
  anyOf: wanted,
  oneOf: wanted,
  format: (error, format) => (format === 'phone' ? phoneFault(error.data) : wanted(error)),
  pattern: (_error, pattern) => patternMessage(String(pattern)),
  minLength: (_error, limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: (_error, limit) => `must have at most ${limit} characters`,
  minimum: (_error, limit) => `must be at least ${limit}`,
  maximum: (_error, limit) => `must be at most ${limit}`,
  exclusiveMinimum: (_error, limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (_error, limit) => `must be less than ${limit}`,
  multipleOf: (_error, limit) => `must be a multiple of ${limit}`,
  minItems: (_error, limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: (_error, limit) => `must have at most ${limit} items`,
  uniqueItems: () => 'must not hold the same item twice',
  minProperties: (_error, limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} members`),
  maxProperties: (_error, limit) => `must have at most ${limit} members`,
}

/** What a zone such as +02:00 has become whose sign was not escaped. */
const LOST_SIGN = / \d\d:\d\d$/

function messageInQuery(error: ErrorObject): string {
  if (Array.isArray(error.data) && (error.parentSchema as Described).type !== 'array') return 'must be given once'
  if (error.keyword === 'format' && error.schema === 'date-time' && LOST_SIGN.test(String(error.data)))
    return `${messageOf(error)}; the + of a zone is written as %2B in an address`
  if (error.keyword !== 'additionalProperties') return messageOf(error)
  return unknownParameter(knownIn(error))
}

/** What the schema has members for in which another one was found. */
function knownIn({ parentSchema }: ErrorObject): string[] {
  const { properties = {} } = parentSchema as { properties?: object }
  return Object.keys(properties)
}

/** With `verbose` on, `schema` is what the keyword asks for and `parentSchema` the schema around it. */
function messageOf(error: ErrorObject): string {
  const tell = MESSAGES[error.keyword]
  return tell ? tell(error, error.schema) : (error.message ?? 'is not valid')
}

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

type Described = {
  const?: unknown
  enum?: unknown[]
  anyOf?: Described[]
  oneOf?: Described[]
  type?: string | string[]
  required?: unknown
  format?: string
}

/** A text stands as it is; null has none. */
function constantText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What a schema takes: `a string`, `one of open, claimed`, `an object or null`. An object is told which objects it takes. */
function describe(schema: Described = {}, isObject = false): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return `one of ${schema.enum.map(constantText).join(', ')}`
  if (schema.format !== undefined) return wantedForm(schema.format)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return alternatives(branches, isObject)
  return [schema.type ?? '']
    .flat()
    .map((type) => TYPES[type] ?? 'something else')
    .join(' or ')
}

function alternatives(branches: Described[], isObject: boolean): string {
  const texts = branches.filter((branch) => typeof branch.const === 'string')
  const others = branches
    .filter((branch) => typeof branch.const !== 'string')
    .map((branch) => (isObject ? describeObject(branch) : describe(branch)))
  const words =
    texts.length > 1 ? [`one of ${texts.map((text) => text.const).join(', ')}`] : texts.map((text) => describe(text))
  const all = [...new Set([...words, ...others])]
  return all.join(all.some((word) => word.includes(',')) ? ', or ' : ' or ')
}

function describeObject(schema: Described): string {
  const { type, required } = schema
  const isOfObjects = type === 'object' || type === undefined
  if (!isOfObjects || !Array.isArray(required) || required.length === 0) return describe(schema)
  return `an object with ${required.join(' and ')}`
}
