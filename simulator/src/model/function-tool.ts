import { ModelError } from './model-error.ts'
import { type Shape, text } from './shape.ts'

/** More than these, and all of them are refused. */
export const MAX_TOOLS = 128
const MAX_NAME_CHARS = 64
const MAX_DESCRIPTION_CHARS = 1_024
const NAME = /^[a-zA-Z0-9_-]+$/
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']
const LISTS = ['anyOf', 'oneOf', 'allOf']

/** The name of a function. */
export const functionName: Shape<string> = (value, path) => {
  const name = text(MAX_NAME_CHARS)(value, path)
  if (NAME.test(name)) return name
  const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`
  throw new ModelError('invalid_value', message, path)
}

/** What a function is for. */
export const functionDescription = text(MAX_DESCRIPTION_CHARS)

/** A function with its name and, where given, the schema of its arguments. */
type Named = { name: string; parameters?: Record<string, unknown> }

/** A function whose arguments are an object with its properties, nothing combined at its top, and each array with its items. */
export function soundFunction<T extends Named>(shape: Shape<T>): Shape<T> {
  return (value, path) => {
    const tool = shape(value, path)
    if (tool.parameters) checkParameters(tool.name, tool.parameters, `${path}.parameters`)
    return tool
  }
}

function checkParameters(name: string, schema: Record<string, unknown>, path: string): void {
  const fault = faultAtTop(schema) ?? faultIn(schema, [])
  if (fault === null) return
  throw new ModelError('invalid_function_parameters', `Invalid schema for function '${name}': ${fault}`, path)
}

function faultAtTop(schema: Record<string, unknown>): string | null {
  const { type = 'None' } = schema
  if (type !== 'object') return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(type)}'.`
  if (!NOT_AT_TOP.some((name) => name in schema)) return null
  const names = NOT_AT_TOP.map((name) => `'${name}'`).join('/')
  return `schema must have type 'object' and not have ${names} at the top level.`
}

function faultIn(schema: unknown, context: readonly string[]): string | null {
  if (!isSchema(schema)) return null
  const at = `In context=(${context.map((name) => `'${name}'`).join(', ')}), `
  const { type, properties, items } = schema
  if (type === 'object' && !isSchema(properties)) return `${at}object schema missing properties.`
  if (type === 'array' && items === undefined) return `${at}array schema missing items.`
  const parts = [
    ...Object.entries(isSchema(properties) ? properties : {}).map(
      ([name, part]) => [part, 'properties', name] as const,
    ),
    ...[[items, 'items'] as const],
    ...LISTS.flatMap((list) => partsOf(schema[list]).map((part, index) => [part, list, String(index)] as const)),
  ]
  for (const [part, ...below] of parts) {
    const fault = faultIn(part, [...context, ...below])
    if (fault !== null) return fault
  }
  return null
}

function partsOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list : []
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
