import { describe, expect, it } from 'vitest'
import { PgMessageReader, statementIn } from './pg-messages.ts'

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}0000${body}`)
  bytes.writeInt32BE(bytes.length - type.length, type.length)
  return bytes
}

const START = message('', 'user\0parley\0\0')
const QUERY = message('Q', 'commit\0')
const PARSE = message('P', 's1\0select 1\0\0\0')

describe('the reader of messages', () => {
  it('finds the same messages however the bytes are cut', () => {
    const whole = Buffer.concat([START, QUERY, PARSE])
    for (let size = 1; size <= whole.length; size++) {
      const reader = new PgMessageReader('client')
      const found = []
      for (let at = 0; at < whole.length; at += size) found.push(...reader.read(whole.subarray(at, at + size)))
      expect(found.map(({ type }) => type)).toEqual([null, 'Q', 'P'])
      expect(Buffer.concat(found.map(({ bytes }) => bytes))).toEqual(whole)
    }
  })

  it('knows that a server says the type from the first message on', () => {
    expect(new PgMessageReader('server').read(message('C', 'COMMIT\0'))).toMatchObject([{ type: 'C' }])
  })

  it('reads the statement of a query and of one that is prepared', () => {
    const [, query, parse] = new PgMessageReader('client').read(Buffer.concat([START, QUERY, PARSE]))
    expect(query && statementIn(query)).toBe('commit')
    expect(parse && statementIn(parse)).toBe('select 1')
    expect(statementIn({ type: 'S', bytes: message('S', '') })).toBeNull()
  })
})
