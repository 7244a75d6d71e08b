import { type TSchema, Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { nullable, Timestamp } from './schemas.ts'
import { compileSerializer } from './serialization.ts'

function written(schema: TSchema, value: unknown): unknown {
  const serialize = compileSerializer({ schema, method: 'GET', url: '/' })
  return JSON.parse(serialize(value))
}

describe('what may be null', () => {
  it.each<[string, TSchema, unknown]>([
    ['a text', Type.String(), 'with "quotes" and a \n'],
    ['an empty text', Type.String(), ''],
    ['a whole number', Type.Integer(), 0],
    ['a number', Type.Number(), 0.5],
    ['a truth', Type.Boolean(), false],
    ['an instant', Timestamp, '2026-01-31T09:05:00.000Z'],
    ['one of some words', Type.Enum(['a', 'b']), 'b'],
    ['a list', Type.Array(Type.String()), ['a', 'b']],
    ['an empty list', Type.Array(Type.String()), []],
    ['an object', Type.Object({ id: nullable(Type.String()) }), { id: null }],
    ['a record', Type.Record(Type.String(), Type.Unknown()), { a: [1, { b: null }] }],
    [
      'one of two objects',
      Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
      { b: 2 },
    ],
    ['anything', Type.Unknown(), { a: [1, null] }],
  ])('is %s, or null', (_name, schema, value) => {
    const row = Type.Object({ value: nullable(schema), after: Type.String() })
    expect(written(row, { value, after: 'x' })).toEqual({ value, after: 'x' })
    expect(written(row, { value: null, after: 'x' })).toEqual({ value: null, after: 'x' })
  })

  it('lets nothing out that it does not name', () => {
    const row = Type.Object({ inner: nullable(Type.Object({ id: Type.String() })) })
    expect(written(row, { inner: { id: 'a', secret: 'x' }, secret: 'y' })).toEqual({ inner: { id: 'a' } })
  })

  it('may be missing only where it is optional', () => {
    const optional = Type.Object({ id: Type.Optional(nullable(Type.String())) })
    expect(written(optional, {})).toEqual({})
    expect(() => written(Type.Object({ id: nullable(Type.String()) }), {})).toThrow('required')
  })
})

describe('the schema of an answer', () => {
  it('is read once, however many servers are made of it', () => {
    let reads = 0
    const schema = {
      toJSON() {
        reads += 1
        return { type: 'object', properties: { read: { type: 'integer', default: reads } } }
      },
    }
    const compile = () => compileSerializer({ schema, method: 'GET', url: '/' })
    expect([compile()({}), compile()({})]).toEqual(['{"read":1}', '{"read":1}'])
    expect(reads).toBe(1)
  })
})
