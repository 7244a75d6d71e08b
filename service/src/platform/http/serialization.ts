import build from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'
import { serializerFormats } from './formats.ts'
import { oncePerText } from './once-per-text.ts'

type Serializer = (answer: unknown) => string

/** What writes values of a schema, made once for each in a process: only what it lists is written, in its order. */
export const serializerOf = oncePerText<Serializer>((_schema, text) =>
  build(plainly(JSON.parse(text)), { ajv: { formats: serializerFormats } }),
)

/** Compiles the schema of an answer. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => serializerOf(schema)

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
