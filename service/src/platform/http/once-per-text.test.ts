import { describe, expect, it } from 'vitest'
import { oncePerText } from './once-per-text.ts'

describe('what is made of a schema', () => {
  it('is made once for each text', () => {
    const texts: string[] = []
    const made = oncePerText((_schema, text) => {
      texts.push(text)
      return { of: text }
    })
    const [one, same] = [{ type: 'string' }, { type: 'string' }]
    expect(made(one)).toBe(made(same))
    expect(made(one)).toBe(made(one))
    expect(made({ type: 'integer' })).toEqual({ of: '{"type":"integer"}' })
    expect(texts).toEqual(['{"type":"string"}', '{"type":"integer"}'])
  })

  it('is asked for again when it could not be made', () => {
    let tries = 0
    const made = oncePerText(() => {
      tries += 1
      throw new Error('no such schema')
    })
    const schema = { type: 'nothing' }
    expect(() => made(schema)).toThrow('no such schema')
    expect(() => made(schema)).toThrow('no such schema')
    expect(tries).toBe(2)
  })
})
