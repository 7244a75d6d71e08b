import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

/** The same value with the members of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  )
}

describe('canonicalJson', () => {
  it('is the same for every order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    )
  })

  it('means the value that it was made of', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('keeps the order of lists', () => {
    expect(canonicalJson([2, 1, { b: 1, a: [3, 2] }])).toBe('[2,1,{"a":[3,2],"b":1}]')
  })

  it('leaves undefined members out', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}')
  })

  it('keeps a member called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'))).toBe('{"__proto__":{"x":2,"y":1},"b":1}')
  })

  it('writes an instant as JSON does', () => {
    expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
  })

  it('refuses what JSON cannot hold', () => {
    expect(() => canonicalJson({ n: 1n })).toThrow(TypeError)
  })
})
