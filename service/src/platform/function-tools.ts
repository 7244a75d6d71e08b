import { isJsonObject } from '../kernel/json-object.ts'
import { atPointer, fragmentOf } from '../kernel/json-pointer.ts'
import type { Log } from './log.ts'
import type { ToolDeclaration } from './realtime/port.ts'

/** More in one request and OpenAI refuses the whole of it. */
const MAX_TOOLS = 128
const MAX_DESCRIPTION_CHARS = 1_024
/** What OpenAI does not take at the top of a schema. */
const NOT_AT_TOP = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'not'])

/** Members of a schema that are schemas themselves, lists of them, or have them by names. */
const SCHEMAS = new Set([
  ...['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'additionalItems'],
])
/** What is said of the same value. */
const COMBINED = ['anyOf', 'oneOf', 'allOf']
const LISTS = new Set([...COMBINED, 'prefixItems'])
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

type Schema = Record<string, unknown>

/**
 * Tools as OpenAI takes them, which refuses a whole request for one that it does not: at most 128, the first, with descriptions
 * of at most 1,024 characters. What is left out is told to the log. Their arguments are checked by the schemas that they came with.
 */
export function takenTools(tools: readonly ToolDeclaration[], log: Log | null): ToolDeclaration[] {
  const leftOut = tools.slice(MAX_TOOLS).map(({ name }) => name)
  if (leftOut.length > 0) log?.warn({ tools: leftOut }, 'an agent has more tools than its model takes')
  return tools.slice(0, MAX_TOOLS).map(({ name, description, parameters }) => ({
    name,
    description: description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
    parameters: takenParameters(parameters),
  }))
}

/**
 * A schema as OpenAI takes it: each object has properties and each array items, and nothing is combined at its top. What the parts of
 * such a combination describe is not required; a member that several of them describe may be as any of them says.
 */
export function takenParameters(schema: Schema): Schema {
  const whole = taken(schema) as Schema
  const kept = Object.entries(whole).filter(([name]) => !NOT_AT_TOP.has(name))
  const properties = { ...membersOfParts(whole), ...(whole['properties'] as Schema) }
  return { ...Object.fromEntries(kept), properties }
}

/** The members of an object that the schemas describe which say something of the whole of it, beside its own. */
function membersOfParts(whole: Schema): Schema {
  const described = partsOf(whole).flatMap(({ properties }) =>
    isJsonObject(properties) ? Object.entries(properties) : [],
  )
  const byName = Map.groupBy(described, ([name]) => name)
  return Object.fromEntries([...byName].map(([name, each]) => [name, anyOf(each.map(([, member]) => member))]))
}

/** Each once, also where they refer to one another in a circle. */
function partsOf(whole: Schema): Schema[] {
  const found = new Set<Schema>([whole])
  for (const schema of found) {
    const combined = COMBINED.flatMap((list) => schema[list])
    for (const part of [...combined, referredTo(whole, schema['$ref'])]) if (isJsonObject(part)) found.add(part)
  }
  found.delete(whole)
  return [...found]
}

function referredTo(whole: Schema, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return null
  return atPointer(whole, fragmentOf(reference))
}

function anyOf(schemas: unknown[]): unknown {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return different.length === 1 ? different[0] : { anyOf: different }
}

function taken(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const members: Schema = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, member(name, value)]))
  if (isOf(members, 'object') && !isJsonObject(members['properties'])) members['properties'] = {}
  if (isOf(members, 'array') && !hasItems(members)) members['items'] = {}
  return members
}

function member(name: string, value: unknown): unknown {
  // Tuples were written so before there was `prefixItems`.
  if (name === 'items' && Array.isArray(value)) return value.length === 0 ? {} : { anyOf: value.map(taken) }
  if (SCHEMAS.has(name)) return taken(value)
  if (LISTS.has(name) && Array.isArray(value)) return value.map(taken)
  if (!BY_NAME.has(name) || !isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, taken(each)]))
}

function isOf({ type }: Schema, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted))
}

function hasItems({ items }: Schema): boolean {
  return isJsonObject(items) || typeof items === 'boolean'
}
