import { isListOf, objectIn } from './material.ts'
import { plainWords, saysPhrase } from './words.ts'

type Schema = Record<string, unknown>
type Material = { json_schema: Schema; transcript: { role: string; text: string }[] }

/** What is looked through: the schema as a whole, for its references, and what the caller and all have said. */
type Looked = { root: Schema; caller: string[]; all: string[] }

/** Deeper than any form goes: a schema may refer to itself. */
const MAX_DEPTH = 8

/**
 * Fills in a form from a conversation as a chat model would be asked to: by what stands in the words, as the JSON that was asked
 * for. What it finds nothing for is left out where the schema lets it be, else it is the least that fits. Null when none of the
 * texts is one to be filled in: JSON with a `json_schema` and a `transcript`.
 */
export function fillIn(texts: string[]): string | null {
  const material = texts.map(materialIn).find((found) => found !== null)
  if (!material) return null
  const { json_schema: root, transcript } = material
  const said = (role: string | null) =>
    transcript.filter((turn) => role === null || turn.role === role).map(({ text }) => text)
  return JSON.stringify(valueFor(root, '', { root, caller: said('caller'), all: said(null) }, 0) ?? {})
}

/** Undefined when nothing was found. */
function valueFor(given: Schema, name: string, looked: Looked, depth: number): unknown {
  const schema = resolved(given, looked)
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return named(schema['enum'], looked)
  switch (typeOf(schema)) {
    case 'object':
      return depth > MAX_DEPTH ? undefined : objectFor(schema, looked, depth)
    case 'array':
      return listFor(schema, { name, looked, depth })
    case 'string':
      return textFor(schema, name, looked)
    case 'integer':
    case 'number':
      return numberFor(schema, looked)
    case 'boolean':
      return looked.caller.some((text) => saysPhrase(text, plainWords(name)))
    default:
      return undefined
  }
}

function objectFor(schema: Schema, looked: Looked, depth: number): Schema {
  const required = listOf(schema['required'])
  const entries = Object.entries(membersOf(schema['properties'])).flatMap(([name, member]) => {
    const found = valueFor(membersOf(member), name, looked, depth + 1)
    if (found !== undefined) return [[name, found]]
    return required.includes(name) ? [[name, leastOf(membersOf(member), looked, depth + 1)]] : []
  })
  return Object.fromEntries(entries) as Schema
}

function listFor(schema: Schema, { name, looked, depth }: { name: string; looked: Looked; depth: number }): unknown[] {
  const items = resolved(membersOf(schema['items']), looked)
  const least = numberOr(schema['minItems'], 0)
  const choices = listOf(items['enum'])
  const found = choices.length > 0 ? choices.filter((choice) => isSaid(choice, looked)) : []
  while (found.length < least) found.push(valueFor(items, name, looked, depth + 1) ?? leastOf(items, looked, depth + 1))
  return found.slice(0, numberOr(schema['maxItems'], found.length))
}

/** What a text of such a name looks like in what was said. */
const SHAPES: [name: RegExp, shape: RegExp][] = [
  [/mail/i, /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/],
  [/phone|number|tel/i, /\+?\d[\d -]{5,}\d/],
  [/day|date|when|time/i, /\b(?:today|tomorrow|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i],
  [/name/i, /(?<=\b(?:my name is|this is|i am|i'm) )\p{Lu}[\p{L}-]*(?: \p{Lu}[\p{L}-]*)?/iu],
]

function textFor(schema: Schema, name: string, { caller }: Looked): string | undefined {
  const [, shape] = SHAPES.find(([known]) => known.test(name)) ?? []
  const found = shape ? caller.map((text) => shape.exec(text)?.[0]).find((text) => text !== undefined) : caller.at(-1)
  return found === undefined ? undefined : fitted(found, schema)
}

function fitted(text: string, schema: Schema): string {
  return text.slice(0, numberOr(schema['maxLength'], text.length)).padEnd(numberOr(schema['minLength'], 0), '.')
}

function numberFor(schema: Schema, { caller }: Looked): number | undefined {
  const numbers = caller.flatMap((text) => text.match(/\d+(?:\.\d+)?/g) ?? []).map(Number)
  const [least, most] = [numberOr(schema['minimum'], -Infinity), numberOr(schema['maximum'], Infinity)]
  const isWhole = typeOf(schema) === 'integer'
  return numbers.find((value) => value >= least && value <= most && (!isWhole || Number.isInteger(value)))
}

/** Of some choices the first that was said; undefined when none was. */
function named(choices: unknown[], looked: Looked): unknown {
  return choices.find((choice) => isSaid(choice, looked))
}

function isSaid(choice: unknown, { all }: Looked): boolean {
  return typeof choice === 'string' && all.some((text) => saysPhrase(text, choice))
}

/** What fits and says nothing: null where that may be. */
function leastOf(given: Schema, looked: Looked, depth: number): unknown {
  if (isNullable(given)) return null
  const schema = resolved(given, looked)
  const [first] = listOf(schema['enum'])
  if (first !== undefined) return first
  switch (typeOf(schema)) {
    case 'object':
      return depth > MAX_DEPTH ? {} : objectFor(schema, looked, depth)
    case 'array':
      return []
    case 'integer':
    case 'number':
      return numberOr(schema['minimum'], Math.min(0, numberOr(schema['maximum'], 0)))
    case 'boolean':
      return false
    default:
      return fitted('', schema)
  }
}

/** The schema behind a reference, or the one of several that is not of nothing. */
function resolved(schema: Schema, looked: Looked): Schema {
  const { $ref: reference } = schema as { $ref?: unknown }
  if (typeof reference === 'string') return referred(reference, looked.root)
  const choices = listOf(schema['anyOf'] ?? schema['oneOf']).map(membersOf)
  return choices.find(({ type }) => type !== 'null') ?? schema
}

/** `#/$defs/address` of the whole. */
function referred(reference: string, root: Schema): Schema {
  const steps = reference.split('/').slice(1)
  return steps.reduce((found, step) => membersOf(found[step]), root)
}

function typeOf({ type }: Schema): unknown {
  return Array.isArray(type) ? type.find((each) => each !== 'null') : type
}

function isNullable(schema: Schema): boolean {
  const types = [schema['type'], ...listOf(schema['anyOf'] ?? schema['oneOf']).map((each) => membersOf(each)['type'])]
  return types.flat().includes('null') || listOf(schema['enum']).includes(null)
}

function membersOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function materialIn(text: string): Material | null {
  const { json_schema: schema, transcript } = objectIn(text)
  const isMaterial = typeof schema === 'object' && schema !== null && isListOf(transcript, 'role', 'text')
  return isMaterial ? ({ json_schema: schema, transcript } as Material) : null
}
