import build from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'
import { serializerFormats } from './formats.ts'

type Serializer = (answer: unknown) => string

/** By the schema's text: it says all, and routes that make theirs anew make the same. */
const built = new Map<string, Serializer>()

/** Compiles the schema of an answer, once for each in a process: only what it lists goes out. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  const text = JSON.stringify(schema)
  const known = built.get(text)
  if (known) return known
  const serializer = build(schema, { ajv: { formats: serializerFormats } })
  built.set(text, serializer)
  return serializer
}
