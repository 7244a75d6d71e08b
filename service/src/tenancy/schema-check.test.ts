import { describe, expect, it } from 'vitest'
import { jsonSchemaFault } from './agent-config-json-schema.ts'
import { checkOf, compileSchema, unusableFault } from './schema-check.ts'
import { weightFault } from './schema-weight.ts'

type Schema = Record<string, unknown>

const object = (more: Schema): Schema => ({ type: 'object', ...more })
const check = (schema: Schema, passesPatterns = false) => checkOf(schema, { passesPatterns })
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at))
const named = <Value>(count: number, make: () => Value) => Object.fromEntries(times(count, (at) => [`p${at}`, make()]))
const lateFault = [{ message: 'takes too long to check' }]

/** Each level names the one below twice: 2^levels steps in a few lines. */
function tower(levels: number, twice: (below: Schema) => Schema): Schema {
  const floors = times(levels, (at) => [`a${at}`, twice({ $ref: `#/$defs/a${at + 1}` })])
  return object({ $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(floors), [`a${levels}`]: { minProperties: 1 } } })
}

/** A tree of people, and of whom they know. */
const PEOPLE = object({
  $defs: {
    person: object({
      properties: { name: { type: 'string' }, knows: { type: 'array', items: { $ref: '#/$defs/person' } } },
      required: ['name'],
      additionalProperties: false,
    }),
  },
  properties: { first: { $ref: '#/$defs/person' }, others: { items: { $ref: '#/$defs/person' } } },
})

/** Sums of sums: every kind is tried at every level, as in many schemas of expressions. */
const SUMS = object({
  properties: { sum: { $ref: '#/$defs/sum' } },
  $defs: {
    sum: {
      oneOf: [
        { type: 'number' },
        object({ properties: { plus: { items: { $ref: '#/$defs/sum' } } }, required: ['plus'] }),
        object({ properties: { minus: { items: { $ref: '#/$defs/sum' } } }, required: ['minus'] }),
      ],
    },
  },
})

function nested(levels: number, around: (inner: unknown) => unknown, inmost: unknown = {}): unknown {
  return levels === 0 ? inmost : around(nested(levels - 1, around, inmost))
}

describe('a schema that is entered', () => {
  it.each<[string, Schema, RegExp]>([
    ['would be checked behind the check', object({ $async: true }), /\$async/],
    ['would be so in a part', object({ properties: { a: { $async: true, type: 'string' } } }), /async/],
    ['doubles at each level', tower(40, (below) => ({ allOf: [below, below] })), /more than 5000 schemas/],
    ['doubles by whatever keywords', tower(40, (below) => ({ if: below, else: below })), /more than 5000/],
    ['doubles in parts', tower(40, (below) => ({ properties: { a: below, b: below } })), /more than 5000/],
    [
      'is made large by what it names often',
      object({
        allOf: times(600, () => ({ $ref: '#/$defs/a' })),
        $defs: { a: { allOf: times(300, () => ({ minLength: 1 })) } },
      }),
      /more than 5000/,
    ],
    ['has very many schemas', object({ anyOf: times(1_500, () => ({ minLength: 1 })) }), /more than 1000/],
    [
      'has very many alternatives',
      object({ oneOf: times(120, (at) => ({ const: at })) }),
      /more than 100 alternatives/,
    ],
    [
      'has very many rules',
      object({ properties: named(400, () => ({ type: 'string', minLength: 1, maxLength: 9 })) }),
      /more than 1000 rules/,
    ],
    [
      'has very many properties in one place',
      object({ properties: named(401, () => ({ type: 'string' })) }),
      /more than 400 properties/,
    ],
    [
      'has very many names that depend on others',
      object({ dependentRequired: named(50, () => times(100, (at) => `q${at}`)) }),
      /more than 1000 rules/,
    ],
    [
      'has them by the old keyword',
      object({ dependencies: named(50, () => times(100, (at) => `q${at}`)) }),
      /more than 1000 rules/,
    ],
    ['has very many alternatives without members', object({ oneOf: times(101, () => false) }), /more than 100 alter/],
    [
      'has very many properties without members',
      object({ properties: named(401, () => false), unevaluatedProperties: false }),
      /more than 400 properties/,
    ],
    ['allows all in very many ways', object({ anyOf: times(1_001, () => true) }), /more than 1000 schemas/],
    ['forbids all in very many ways', object({ allOf: times(1_001, () => false) }), /more than 1000 schemas/],
    [
      'forbids very many items',
      object({ properties: { a: { prefixItems: times(1_001, () => false) } } }),
      /more than 1000 schemas/,
    ],
    ['forbids by very many names', object({ dependentSchemas: named(1_001, () => false) }), /more than 1000 schemas/],
    ['does so by the old keyword', object({ dependencies: named(1_001, () => false) }), /more than 1000 schemas/],
    [
      'has very many rules that have no members',
      object({ properties: named(300, () => ({ type: 'string', minLength: 1, anyOf: [false, true] })) }),
      /more than 1000 rules/,
    ],
    [
      'is made large by what has no members',
      object({
        allOf: times(20, () => ({ $ref: '#/$defs/a' })),
        $defs: { a: { anyOf: times(300, () => false) } },
      }),
      /more than 5000/,
    ],
    [
      'goes round in a circle',
      object({ $ref: '#/$defs/a', $defs: { a: { not: { anyOf: [{ $ref: '#/$defs/a' }] } } } }),
      /refers to itself/,
    ],
    ['goes round in a circle by an anchor', object({ allOf: [{ $ref: '#me' }], $anchor: 'me' }), /refers to itself/],
    [
      'goes round behind a part',
      object({
        properties: { a: { $ref: '#/$defs/b' } },
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      }),
      /refers to itself/,
    ],
    ['refers to what there is not', object({ $ref: '#/$defs/none' }), /nothing at the \$ref #/],
    ['refers to another document', object({ $ref: 'https://example.com/a.json' }), /nothing at the \$ref https:/],
    [
      'refers to the rules of schemas',
      object({ $ref: 'https://json-schema.org/draft/2020-12/schema' }),
      /nothing at the \$ref https:/,
    ],
    ['takes a pattern from the value', object({ properties: { a: { pattern: { $data: '1/b' } } } }), /pattern/],
  ])('is refused when it %s', (_why, schema, fault) => {
    expect(jsonSchemaFault(schema)).toMatch(fault)
  })

  it.each<[string, Schema]>([
    ['refer to itself in parts', PEOPLE],
    ['be itself in its parts', object({ properties: { child: { $ref: '#' } } })],
    [
      'name a part often',
      object({
        properties: Object.fromEntries(times(50, (at) => [`p${at}`, { $ref: '#/$defs/a' }])),
        $defs: { a: object({ properties: Object.fromEntries(times(50, (at) => [`p${at}`, { type: 'string' }])) }) },
      }),
    ],
    ['try several kinds', SUMS],
    [
      'have what nobody reads',
      object({ discriminator: { propertyName: 'a' }, properties: { a: { format: 'regex' } } }),
    ],
    [
      'have two hundred properties',
      object({
        properties: named(200, () => ({ type: 'string', description: 'What it is.', minLength: 1, maxLength: 100 })),
        required: times(200, (at) => `p${at}`),
        additionalProperties: false,
      }),
    ],
    [
      'be one of fifty objects',
      object({
        oneOf: times(50, (at) =>
          object({ properties: { kind: { const: at }, a: { type: 'string' } }, required: ['kind'] }),
        ),
      }),
    ],
    [
      'forbid all that it does not name',
      object({
        properties: named(100, () => object({ properties: { a: true, b: false }, additionalProperties: false })),
        additionalProperties: false,
      }),
    ],
    ['list a thousand values', object({ properties: { a: { enum: times(1_000, (at) => `v${at}`) } } })],
    ['have properties that are called as keywords', object({ properties: { $async: { type: 'boolean' }, $ref: {} } })],
    ['refuse all else', object({ allOf: [PEOPLE], $defs: PEOPLE['$defs'], unevaluatedProperties: false })],
  ])('may %s', (_what, schema) => {
    expect(jsonSchemaFault(schema)).toBeNull()
  })

  it('is refused before anything is made of it when it is more than its text shows', () => {
    expect(weightFault(tower(40, (below) => ({ contains: below, items: below })))).toMatch(/more than/)
  })
})

describe('the check of a schema that was stored before it was looked at', () => {
  it('finds what does not fit, also where the schema would have it found later', () => {
    const stored = check(object({ $async: true, required: ['x'] }))
    expect(stored({})).toMatchObject([{ keyword: 'required' }])
    expect(stored({ x: 1 })).toEqual([])
  })

  it.each<[string, Schema]>([
    ['is more than its text shows', tower(40, (below) => ({ allOf: [below, below] }))],
    ['refers to what there is not', object({ $ref: '#/$defs/none' })],
    ['has a regular expression', object({ properties: { a: { pattern: '^(a+)+$' } } })],
  ])('lets nothing fit when the schema %s', (_why, schema) => {
    expect(check(schema)({})).toMatchObject([{ message: expect.stringMatching(/^cannot be checked: the schema/) }])
    expect(unusableFault(schema, { passesPatterns: false })).not.toBeNull()
  })

  it.each<[string, Schema, unknown]>([
    ['alternatives', object({ oneOf: times(250, (at) => ({ properties: { at: { const: at } } })) }), { at: 7 }],
    ['properties', object({ properties: named(900, () => ({ type: 'string' })) }), { p1: 'a' }],
    ['rules', object({ properties: named(450, () => ({ type: 'string', minLength: 1, maxLength: 9 })) }), { p1: 'a' }],
    ['schemas without members', object({ anyOf: times(1_500, (at) => at === 0) }), {}],
  ])('is made by the bounds of its time: %s', (_of, schema, value) => {
    expect(jsonSchemaFault(schema)).toMatch(/more than/)
    expect(check(schema)(value)).toEqual([])
    expect(unusableFault(schema, { passesPatterns: false })).toBeNull()
  })

  it('is made once for a schema, whoever has it', () => {
    const schema = object({ properties: { once: { type: 'string' } } })
    expect(check(structuredClone(schema))).toBe(check(schema))
    expect(check(schema, true)).not.toBe(check(schema))
    expect(check(object({ properties: { once: { type: 'number' } } }))).not.toBe(check(schema))
  })

  it('goes as deep as the value does', () => {
    const isFitting = check(PEOPLE)
    const first = nested(200, (inner) => ({ name: 'Ann', knows: [inner, { name: 'Bob' }] }), { name: 'Eve' })
    expect(isFitting({ first, others: times(200, () => ({ name: 'Ann' })) })).toEqual([])
    const misspelt = nested(200, (inner) => ({ name: 'Ann', knows: [inner] }), { nam: 'Eve' })
    expect(isFitting({ first: misspelt })).toHaveLength(2)
  })

  it('takes what a person would write for kinds that hold each other, and ends what no person would', () => {
    const sum = (levels: number) => ({ sum: nested(levels, (inner) => ({ plus: [inner, 1], minus: [inner] }), 1) })
    expect(check(SUMS)({ sum: nested(5, (inner) => ({ plus: [inner, 2] }), 1) })).toEqual([])
    expect(check(SUMS)(sum(40))).toMatchObject(lateFault)
  })

  it('ends where the value is deeper than it can go', () => {
    const deep = JSON.parse(`${'{"child":'.repeat(20_000)}{}${'}'.repeat(20_000)}`)
    expect(check(object({ properties: { child: { $ref: '#' } } }))(deep)).toMatchObject(lateFault)
  })

  it.each<[string, Schema, unknown]>([
    ['comparing all with all', { uniqueItems: true }, times(10_000, (at) => ({ at }))],
    [
      'very many rules for very many items',
      { allOf: times(400, () => ({ items: { type: 'string' } })) },
      times(16_000, () => 1),
    ],
    [
      'very many names for very many items',
      { items: { required: times(1_000, (at) => `p${at}`) } },
      times(10_000, () => ({})),
    ],
    ['very many values for very many items', { items: { enum: times(1_000, (at) => [at]) } }, times(10_000, () => [1])],
    ['very many lengths of a long text', { allOf: times(900, () => ({ minLength: 2 })) }, 'x'.repeat(30_000)],
    [
      'names compared with names',
      {
        allOf: times(20, () => ({
          properties: Object.fromEntries(times(30, (at) => [`p${at}`, {}])),
          unevaluatedProperties: {},
        })),
      },
      Object.fromEntries(times(5_000, (at) => [`q${at}`, at])),
    ],
  ])('ends after so many steps: %s', (_what, schema, value) => {
    expect(check(object({ properties: { value: schema } }))({ value })).toMatchObject(lateFault)
  })

  it('ends where a reference that leads nowhere leads back', () => {
    expect(check(object({ $dynamicRef: '#nowhere' }))({})).toMatchObject(lateFault)
  })

  it('has all its steps each time', () => {
    const isFitting = check(object({ properties: { value: { uniqueItems: true } } }))
    const value = times(800, (at) => ({ at }))
    expect([isFitting({ value }), isFitting({ value })]).toEqual([[], []])
  })

  it('passes over regular expressions where whoever wrote them looks at them', () => {
    expect(check(object({ properties: { a: { pattern: '^(a+)+$' } } }), true)({ a: `${'a'.repeat(60)}!` })).toEqual([])
  })
})

describe('a compiled schema', () => {
  it('throws where it cannot be used', () => {
    expect(() => compileSchema(object({ $ref: '#/nowhere' }), { passesPatterns: false })).toThrow(/resolve/)
  })
})
