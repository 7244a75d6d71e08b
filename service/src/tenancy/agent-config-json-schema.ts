import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { LastUsed } from '../kernel/last-used.ts'
import { sha256 } from '../kernel/seal.ts'
import { tellFaults } from '../platform/http/faults.ts'
import { compileSchema } from './schema-check.ts'
import { weightFault } from './schema-weight.ts'

const MAX_SCHEMA_BYTES = 32_768
const MAX_SCHEMA_DEPTH = 32

/** Knows the rules that a JSON Schema must keep itself (draft 2020-12). */
const rules = new Ajv2020({
  ...{ strict: false, validateFormats: false, logger: false, verbose: true },
  code: { optimize: false },
})

/**
 * Why `schema` cannot be filled in by a model, or null when it can.
 *
 * It must be a sound JSON Schema (draft 2020-12) of an object, at most 32 KiB and 32 levels deep, whose references stay
 * inside it. Regular expressions are refused: one that backtracks would stop every call of the process.
 */
export function jsonSchemaFault(schema: Record<string, unknown>): string | null {
  const oversize = jsonSizeFault(schema, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH)
  if (oversize) return oversize
  const key = sha256(JSON.stringify(schema)).toString('base64')
  const known = looked.get(key)
  return known ? known.fault : looked.put(key, { fault: faultIn(schema) }).fault
}

/** A document that is written again has the same schemas in it, but for one or two. */
const MAX_LOOKED = 1_000
const looked = new LastUsed<string, { fault: string | null }>(MAX_LOOKED)

function faultIn(schema: Record<string, unknown>): string | null {
  const { type } = schema
  if (type !== 'object') return 'must describe an object: "type": "object"'
  if ('$async' in schema) return 'must not have $async: it is checked at once'
  if ('$schema' in schema || '$id' in schema) return 'must not have $schema or $id: it is read as draft 2020-12'
  // Before anything is done with each of them.
  const weight = weightFault(schema)
  if (weight !== null) return `cannot be used: ${weight}`
  if (!rules.validateSchema(schema)) return `is not a JSON Schema: ${ruleFault(rules.errors ?? [])}`
  return compileFault(schema)
}

/** The first rule that is broken, at its place. Of a union (`type` is a text or a list of them) the parts are told, and the first one was meant. */
function ruleFault(errors: ErrorObject[]): string {
  const parts = errors.filter(({ keyword }) => keyword !== 'anyOf')
  const [fault] = tellFaults((parts.length > 0 ? parts : errors).slice(0, 1), 'schema')
  return `${fault?.path.slice('/schema/'.length)} ${fault?.message}`
}

/** Why `value` is too big to be kept as JSON, or null. Lengths are of its JSON text in UTF-8. */
export function jsonSizeFault(value: unknown, maxBytes: number, maxDepth: number): string | null {
  if (isDeeperThan(value, maxDepth)) return `must be at most ${maxDepth} levels deep`
  return Buffer.byteLength(JSON.stringify(value)) > maxBytes ? `must be at most ${maxBytes} bytes of JSON` : null
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1))
}

function compileFault(schema: Record<string, unknown>): string | null {
  try {
    compileSchema(schema, { passesPatterns: false })
    return null
  } catch (error) {
    return `cannot be used: ${inOurWords(error instanceof Error ? error.message : String(error))}`
  }
}

/** What the compiler alone finds out, as somebody would say it who has not written one. */
function inOurWords(message: string): string {
  const ref = /^can't resolve reference (\S+) from id/.exec(message)?.[1]
  if (ref) return `there is nothing at the $ref ${ref}`
  return message === 'enum must have non-empty array' ? 'an enum must have at least one value' : message
}
