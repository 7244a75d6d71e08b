import { ModelError } from './model-error.ts'

/**
 * Checks a value that came off the wire and gives it its type.
 *
 * `path` is what the refusal names as `param`. Refusals carry the codes and the wording of the real server.
 * @throws ModelError `unknown_parameter`, `missing_required_parameter`, `invalid_type`, `invalid_value`,
 *   `{integer,decimal}_{below_min,above_max}_value`, `{string,array}_above_max_length`.
 */
export type Shape<T> = (value: unknown, path: string) => T

/** The type that a shape gives. */
export type Shaped<S> = S extends Shape<infer T> ? T : never

type Fields = Record<string, Shape<unknown>>
type Whole<Required extends Fields, Optional extends Fields> = { [K in keyof Required]: Shaped<Required[K]> } & {
  [K in keyof Optional]?: Shaped<Optional[K]>
}

/** An object with these fields and no others: a misspelt or retired field refuses the whole of it. */
export function object<R extends Fields, O extends Fields>(required: R, optional: O): Shape<Whole<R, O>> {
  return (value, path) => {
    if (!isRecord(value)) throw wrongType(path, 'an object', value)
    for (const key of Object.keys(value)) {
      const shape = own(required, key) ?? own(optional, key)
      if (!shape) throw new ModelError('unknown_parameter', `Unknown parameter: '${at(path, key)}'.`, at(path, key))
      shape(value[key], at(path, key))
    }
    for (const key of Object.keys(required)) if (!(key in value)) throw missing(at(path, key))
    return value as Whole<R, O>
  }
}

/** An object of any keys whose values have one shape; at most `maxKeys` of them. */
export function record<T>(shape: Shape<T>, maxKeys = Number.POSITIVE_INFINITY): Shape<Record<string, T>> {
  return (value, path) => {
    if (!isRecord(value)) throw wrongType(path, 'an object', value)
    const keys = Object.keys(value)
    if (keys.length > maxKeys) throw new ModelError('object_above_max_properties', tooMany(path, maxKeys), path)
    for (const key of keys) shape(value[key], at(path, key))
    return value as Record<string, T>
  }
}

/** A list of one shape, of at most `maxLength`. */
export function list<T>(shape: Shape<T>, maxLength = Number.POSITIVE_INFINITY): Shape<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrongType(path, 'an array', value)
    if (value.length > maxLength)
      throw new ModelError('array_above_max_length', tooManyEntries(path, maxLength, value.length), path)
    return value.map((entry: unknown, index) => shape(entry, `${path}[${index}]`))
  }
}

/** One of several objects, told apart by a field. */
export function variants<V extends Fields>(key: string, shapes: V): Shape<Shaped<V[keyof V]>> {
  return (value, path) => {
    if (!isRecord(value)) throw wrongType(path, 'an object', value)
    if (!(key in value)) throw missing(at(path, key))
    const tag = oneOf(Object.keys(shapes))(value[key], at(path, key))
    return own(shapes, tag)?.(value, path) as Shaped<V[keyof V]>
  }
}

/** A string of at most `maxLength` characters. */
export function text(maxLength = Number.POSITIVE_INFINITY): Shape<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw wrongType(path, 'a string', value)
    if (value.length > maxLength)
      throw new ModelError('string_above_max_length', tooLong(path, maxLength, value.length), path)
    return value
  }
}

/** One of these strings. */
export function oneOf<const T extends string>(allowed: readonly T[]): Shape<T> {
  return (value, path) => {
    if (typeof value !== 'string') throw wrongType(path, 'a string', value)
    if (!allowed.includes(value as T)) throw new ModelError('invalid_value', notAmong(value, allowed), path)
    return value as T
  }
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number): Shape<number> {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(path, 'an integer', value)
    return bounded('integer', value, { min, max, path })
  }
}

/** A number within bounds, both included. */
export function decimal(min: number, max: number): Shape<number> {
  return (value, path) => {
    if (typeof value !== 'number') throw wrongType(path, 'a decimal', value)
    return bounded('decimal', value, { min, max, path })
  }
}

/** True or false. */
export const boolean: Shape<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw wrongType(path, 'a boolean', value)
  return value
}

/** Any value at all. */
export const anything: Shape<unknown> = (value) => value

/** Null, or the shape. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? null : shape(value, path))
}

/** A string goes to one shape, everything else to the other (`"auto"` or an object, `"inf"` or a number). */
export function textOr<A extends string, B>(ofText: Shape<A>, other: Shape<B>): Shape<A | B> {
  return (value, path) => (typeof value === 'string' ? ofText(value, path) : other(value, path))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own<T>(fields: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function missing(path: string): ModelError {
  return new ModelError('missing_required_parameter', `Missing required parameter: '${path}'.`, path)
}

function wrongType(path: string, expected: string, value: unknown): ModelError {
  const message = `Invalid type for '${path}': expected ${expected}, but got ${kindOf(value)} instead.`
  return new ModelError('invalid_type', message, path)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function notAmong(value: string, allowed: readonly string[]): string {
  const names = allowed.map((name) => `'${name}'`)
  const last = names.at(-1) ?? ''
  if (names.length === 1) return `Invalid value: '${value}'. Value must be ${last}.`
  const joined = names.length === 2 ? names.join(' and ') : `${names.slice(0, -1).join(', ')}, and ${last}`
  return `Invalid value: '${value}'. Supported values are: ${joined}.`
}

function tooLong(path: string, max: number, length: number): string {
  return `Invalid '${path}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`
}

function tooMany(path: string, max: number): string {
  return `Invalid '${path}': too many properties. Expected an object with at most ${max} properties.`
}

function tooManyEntries(path: string, max: number, length: number): string {
  return `Invalid '${path}': array too long. Expected an array with maximum length ${max}, but got an array with length ${length} instead.`
}

function bounded(
  kind: 'integer' | 'decimal',
  value: number,
  limits: { min: number; max: number; path: string },
): number {
  const { min, max, path } = limits
  if (value < min) {
    const message = `Invalid '${path}': ${kind} below minimum value. Expected a value >= ${min}, but got ${value} instead.`
    throw new ModelError(`${kind}_below_min_value`, message, path)
  }
  if (value > max) {
    const message = `Invalid '${path}': ${kind} above maximum value. Expected a value <= ${max}, but got ${value} instead.`
    throw new ModelError(`${kind}_above_max_value`, message, path)
  }
  return value
}
