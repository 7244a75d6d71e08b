import { describe, expect, it } from 'vitest'
import { PgMessageReader, StatementReader } from './pg-messages.ts'

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}0000${body}`)
  bytes.writeInt32BE(bytes.length - type.length, type.length)
  return bytes
}

const START = message('', 'user\0parley\0\0')
const QUERY = message('Q', 'commit\0')
const PARSE = message('P', '\0select 1\0\0\0')
const BIND = message('B', '\0\0\0\0\0\0\0\0')

function statementsIn(...messages: Buffer[]): (string | null)[] {
  const statements = new StatementReader()
  const read = new PgMessageReader('client').read(Buffer.concat(messages))
  return read.map((one) => statements.statementIn(one))
}

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

  it('reads the statement of a query, and of one with parameters once', () => {
    expect(statementsIn(START, QUERY, PARSE, BIND, message('S', ''))).toEqual([null, 'commit', 'select 1', null, null])
  })

  it('reads one that is prepared each time that it is bound', () => {
    const prepare = message('P', 's1\0select 2\0\0\0')
    const bind = message('B', 'portal\0s1\0\0\0\0\0\0\0')
    expect(statementsIn(START, prepare, bind, QUERY, bind)).toEqual([null, null, 'select 2', 'commit', 'select 2'])
  })
})
