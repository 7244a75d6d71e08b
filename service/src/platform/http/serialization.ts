import build from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'
import { serializerFormats } from './formats.ts'

type Serializer = (answer: unknown) => string

/** By the schema's text: it says all, and routes that make theirs anew make the same. */
const built = new Map<string, Serializer>()
/** What was seen before, of which the text need not be written to be known. */
const seen = new WeakMap<object, Serializer>()

/** Compiles the schema of an answer, once for each in a process: only what it lists goes out. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  const serializer = seen.get(schema) ?? serializerOf(JSON.stringify(schema))
  seen.set(schema, serializer)
  return serializer
}

function serializerOf(text: string): Serializer {
  const serializer = built.get(text) ?? build(plainly(JSON.parse(text)), { ajv: { formats: serializerFormats } })
  built.set(text, serializer)
  return serializer
}

/** What says more than its own type: its branches are told apart by validation. */
const COMPOSED = ['anyOf', 'oneOf', 'allOf', '$ref', 'if'] as const

/**
 * The schema with each union of something plain and null in the serializer's own word for it: it then looks whether the value
 * is null, where it would validate it against each branch. In a list of calls that is most of what an answer costs.
 */
function plainly(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map(inside)
  const members = Object.entries(schema as object).map(([name, value]) => [name, inside(value)] as const)
  const { anyOf, ...others } = Object.fromEntries(members) as { anyOf?: unknown }
  const plain = Array.isArray(anyOf) && anyOf.length === 2 && isNull(anyOf[1]) ? (anyOf[0] as object) : null
  if (plain === null || COMPOSED.some((word) => word in plain)) return Object.fromEntries(members)
  return { ...plain, ...others, nullable: true }
}

function inside(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? plainly(value) : value
}

function isNull(branch: unknown): boolean {
  return typeof branch === 'object' && branch !== null && 'type' in branch && branch.type === 'null'
}
