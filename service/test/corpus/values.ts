import type { Schema } from '../../src/platform/http/openapi/schema.ts'
import type { SeededRandom } from './random.ts'

/** Texts that break what looks at bytes, letters or meanings. The lone surrogates and null bytes are meant. */
export const ODD_TEXTS = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'a\udfffb',
    '\u202edlrow',
    'e\u0301\u0301\u0301',
    '👩‍👩‍👧‍👦',
    'ﷺ',
    'İ',
    'ß',
    '\ufeff',
  ],
  ...['null', 'undefined', 'NaN', 'true', '[]', '{}', '__proto__', 'constructor', 'toString', '../../etc/passwd'],
  ...[
    "' or 1=1 --",
    '"; drop table tenants; --',
    '<script>alert(1)</script>',
    '{{caller}}',
    '#{7*7}',
    '%s%n',
    '\r\nx: y',
  ],
  ...[
    '+12025550123',
    '+0',
    '+',
    '9'.repeat(40),
    '2030-02-30T00:00:00Z',
    '0000-01-01',
    'a@b',
    'http://',
    'javascript:x',
  ],
]

const LONG_CHARS = [201, 1_001, 20_000, 100_000]

/** Numbers at which counting ends, or begins to lie. */
export const ODD_NUMBERS = [...[0, -0, -1, 0.1, 1e21, 1e308, 5e-324, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1.5]]

const DEPTH = 6

/** Makes values by the schemas of a description. */
export class Values {
  readonly #random: SeededRandom
  readonly #schemas: Record<string, Schema>

  constructor(random: SeededRandom, schemas: Record<string, Schema>) {
    this.#random = random
    this.#schemas = schemas
  }

  /** One that the schema takes, as far as it says what it takes. */
  sound(schema: Schema, depth = 0): unknown {
    const of = this.resolved(schema)
    if (of.const !== undefined) return of.const
    if (of.enum) return this.#random.pick(of.enum)
    if (of.examples && this.#random.chance(0.5)) return this.#random.pick(of.examples)
    const branches = of.anyOf ?? of.oneOf
    if (branches) return this.sound(this.#random.pick(branches), depth + 1)
    if (of.type === 'object') return this.#object(of, depth)
    if (of.type === 'array') return this.#list(of, depth)
    if (of.type === 'boolean') return this.#random.chance(0.5)
    if (of.type === 'integer' || of.type === 'number') return this.#number(of)
    return of.type === 'null' ? null : this.#text(of)
  }

  /** One that no schema of ours takes there, or that nobody thought of. */
  odd(): unknown {
    const random = this.#random
    const plain: unknown[] = [random.pick(ODD_TEXTS), random.pick(ODD_NUMBERS), null, true, [], {}, [[]], { a: 1 }]
    return random.chance(0.1) ? 'x'.repeat(random.pick(LONG_CHARS)) : random.pick(plain)
  }

  /** A sound value with something in it changed: another type, a bound passed, an unknown or missing member. */
  spoilt(schema: Schema): unknown {
    return this.#spoil(this.sound(schema))
  }

  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  }

  #spoil(value: unknown): unknown {
    const random = this.#random
    if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
      return value.with(random.below(value.length), this.#spoil(random.pick(value)))
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.odd()
    const names = Object.keys(value)
    const name = names.length > 0 ? random.pick(names) : 'a'
    const member = (value as Record<string, unknown>)[name]
    if (random.chance(0.15))
      return { ...value, [random.pick(['colour', 'tenant_id', '', 'ü', 'toString'])]: this.odd() }
    if (random.chance(0.1)) return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))
    return { ...value, [name]: random.chance(0.5) ? this.#spoil(member) : this.odd() }
  }

  #object({ properties = {}, required = [], patternProperties, additionalProperties }: Schema, depth: number): object {
    const kept = Object.entries(properties).filter(
      ([name]) => required.includes(name) || (depth < DEPTH && this.#random.chance(0.4)),
    )
    const members = kept.map(([name, member]) => [name, this.sound(member, depth + 1)] as const)
    const [any] = Object.values(patternProperties ?? {})
    const other = any ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
    const more = other && depth < DEPTH ? [['x-more', this.sound(other, depth + 1)] as const] : []
    return Object.fromEntries([...members, ...more])
  }

  #list({ items = {}, minItems = 0 }: Schema, depth: number): unknown[] {
    const length = depth < DEPTH ? Math.max(minItems, this.#random.below(3)) : minItems
    return Array.from({ length }, () => this.sound(items, depth + 1))
  }

  /** Bounds more often than what lies between them. */
  #number({ minimum = 0, maximum = 1_000, type }: Schema): number {
    const between = minimum + this.#random.fraction() * (maximum - minimum)
    const value = this.#random.pick([minimum, maximum, between])
    return type === 'integer' ? Math.round(value) : value
  }

  #text({ format, minLength = 0, pattern }: Schema): string {
    if (format === 'date-time') return '2030-01-01T09:00:00.000Z'
    if (format === 'email') return `person-${this.#random.below(1_000_000)}@acme.example`
    if (format === 'uuid') return '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60'
    // Nobody is at it, and nobody is asked.
    if (format === 'uri') return 'https://hooks.parley.invalid/a'
    if (pattern?.startsWith(String.raw`^\+`)) return `+1202555${1_000 + this.#random.below(9_000)}`
    const text = pattern === undefined ? this.#random.pick(ODD_TEXTS) : `a${this.#random.below(10_000)}`
    return text.padEnd(minLength, 'x')
  }
}
