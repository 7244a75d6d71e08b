import { describe, expect, it } from 'vitest'
import { takenParameters, takenTools } from './function-tools.ts'
import { makeLog } from './log.ts'

const text = { type: 'string' }

describe('What a model is told of the arguments of a tool', () => {
  it.each([
    ['nothing of its members', { type: 'object' }, { type: 'object', properties: {} }],
    ['that it has none', { type: 'object', properties: null }, { type: 'object', properties: {} }],
    [
      'either of two of them',
      { type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: text, b: text } },
    ],
    [
      'members in its parts alone',
      { type: 'object', oneOf: [{ properties: { a: text } }, { properties: { b: text } }], required: ['c'] },
      { type: 'object', properties: { a: text, b: text }, required: ['c'] },
    ],
    [
      'which of several it is, by a member of them',
      {
        type: 'object',
        oneOf: [
          { properties: { kind: { const: 'mail' }, to: text } },
          { properties: { kind: { const: 'phone' }, to: text } },
        ],
      },
      { type: 'object', properties: { kind: { anyOf: [{ const: 'mail' }, { const: 'phone' }] }, to: text } },
    ],
    [
      'members in parts that it refers to, and in parts of these',
      {
        type: 'object',
        anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/of%20b' }, { $ref: '#/$defs/none' }],
        $defs: {
          a: { type: 'object', properties: { a: text } },
          'of b': { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/of b' }] },
          b: { type: 'object', properties: { b: text } },
        },
      },
      {
        type: 'object',
        properties: { a: text, b: text },
        $defs: {
          a: { type: 'object', properties: { a: text } },
          'of b': { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/of b' }] },
          b: { type: 'object', properties: { b: text } },
        },
      },
    ],
    [
      'no values, or others than these',
      { type: 'object', properties: {}, enum: [{}], not: {}, allOf: [] },
      { type: 'object', properties: {} },
    ],
    [
      'lists of anything, and of tuples',
      {
        type: 'object',
        properties: { any: { type: ['array', 'null'] }, pair: { type: 'array', items: [text, { type: 'array' }] } },
      },
      {
        type: 'object',
        properties: {
          any: { type: ['array', 'null'], items: {} },
          pair: { type: 'array', items: { anyOf: [text, { type: 'array', items: {} }] } },
        },
      },
    ],
    [
      'objects within others, wherever they stand',
      {
        type: 'object',
        properties: { deep: { anyOf: [{ type: 'object' }, text] }, list: { type: 'array', items: { type: 'object' } } },
        $defs: { one: { type: 'object' } },
      },
      {
        type: 'object',
        properties: {
          deep: { anyOf: [{ type: 'object', properties: {} }, text] },
          list: { type: 'array', items: { type: 'object', properties: {} } },
        },
        $defs: { one: { type: 'object', properties: {} } },
      },
    ],
    [
      'values that only look like schemas',
      { type: 'object', properties: { type: { default: { type: 'object' }, enum: [{ type: 'array' }] } } },
      { type: 'object', properties: { type: { default: { type: 'object' }, enum: [{ type: 'array' }] } } },
    ],
  ])('is whole where its schema says %s', (_what, schema, expected) => {
    const before = structuredClone(schema)
    expect(takenParameters(schema)).toEqual(expected)
    expect(schema).toEqual(before)
  })
})

describe('The tools that a model is told of', () => {
  it('are 128 at most, the first, and the log names the others', () => {
    const lines: string[] = []
    const log = makeLog({ level: 'info', destination: { write: (line) => lines.push(line) }, secrets: [] })
    const tools = Array.from({ length: 130 }, (_, n) => ({
      name: `t${n}`,
      description: `${'x'.repeat(1_023)}😀`,
      parameters: { type: 'object' },
    }))
    const taken = takenTools(tools, log)
    expect(taken.map(({ name }) => name)).toEqual(tools.slice(0, 128).map(({ name }) => name))
    expect(taken[0]?.description).toBe(`${'x'.repeat(1_023)}\ufffd`)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', tools: ['t128', 't129'] }])
    expect(takenTools(tools.slice(0, 2), null)).toHaveLength(2)
  })
})
