import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CsvReader, CsvRunaway, csvLine, csvText, unguarded } from './csv.ts'

function read(...pieces: string[]) {
  const reader = new CsvReader()
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

describe('a CSV file', () => {
  it.each([
    ['Windows-1252', Buffer.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72])],
    ['UTF-16', Buffer.from('\uFEFFphone\n', 'utf16le')],
    ['UTF-8 that ends within a letter', Buffer.from('Mü').subarray(0, 2)],
  ])('is refused in %s, in which it would be read as another text', (_letters, bytes) => {
    expect(() => csvText(bytes)).toThrow(/must be in UTF-8: save the list as CSV UTF-8/)
  })

  it('is read in UTF-8, with or without a mark of that', () => {
    expect(csvText(Buffer.from('Müller'))).toBe('Müller')
    expect(csvText(Buffer.from('\uFEFFMüller'))).toBe('Müller')
  })
})

describe('CSV', () => {
  it('is read with the lines on which its records begin', () => {
    expect(read('a,b\r\n"1\n2",""\n\n,x')).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['1\n2', ''] },
      { line: 5, fields: ['', 'x'] },
    ])
  })

  it('reads back what was written, wherever it is cut', () => {
    const rows = [
      ['plain', ''],
      ['with, comma', 'with "quotes"'],
      ['two\r\nlines', '"'],
      ['ü', '🙂'],
    ]
    const text = rows.map(csvLine).join('')
    for (let at = 0; at <= text.length; at += 1) {
      if (/[\uDC00-\uDFFF]/.test(text[at] ?? '')) continue
      expect(read(text.slice(0, at), text.slice(at)).map(({ fields }) => fields)).toEqual(rows)
    }
  })

  it.each([
    ['=1+1', "'=1+1\r\n"],
    ['+14155550100', '+14155550100\r\n'],
    ["'+14155550100", "'+14155550100\r\n"],
    ['+1+cmd|x', "'+1+cmd|x\r\n"],
    ['+1\n', '"\'+1\n"\r\n'],
    ['-1', "'-1\r\n"],
    ['@SUM(A1)', "'@SUM(A1)\r\n"],
    ['\t=1', "'\t=1\r\n"],
    ['\r=1', '"\'\r=1"\r\n'],
    ["'=1", "''=1\r\n"],
    ["'tis", "'tis\r\n"],
    ['1=1', '1=1\r\n'],
  ])('writes no field that a spreadsheet runs: %j', (field, line) => {
    expect(csvLine([field])).toBe(line)
    expect(read(line).flatMap(({ fields }) => fields.map(unguarded))).toEqual([field])
  })

  it('takes away the guard that it has put before a field, and nothing else', () => {
    const texts = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '"', ',', 'a', '1') })
    fc.assert(
      fc.property(texts, (text) => {
        const [record] = read(csvLine([text, 'x']))
        expect(record?.fields.map(unguarded)).toEqual([text, 'x'])
      }),
    )
  })

  it.each([
    ['phone;reason\n+1;"a;b"\n+2;c,d', ['phone', 'reason'], ['+1', 'a;b'], ['+2', 'c,d']],
    ['"a,b";c\nd;e', ['a,b', 'c'], ['d', 'e']],
    ['phone,reason\n+1,a;b', ['phone', 'reason'], ['+1', 'a;b']],
    ['phone\n+1;2', ['phone'], ['+1;2']],
    ['\n;x', ['', 'x']],
  ])('is parted as its first record is, by commas or by semicolons: %j', (text, ...rows) => {
    expect(read(...text).map(({ fields }) => fields)).toEqual(rows)
  })

  it('takes a quote within a field as it is', () => {
    expect(read('5" pipe,x\n')).toEqual([{ line: 1, fields: ['5" pipe', 'x'] }])
  })

  it('is not read on once quotes do not end', () => {
    expect(() => read('a\n"b')).toThrow(expect.objectContaining({ line: 2 }))
    expect(() => read(`"${'x'.repeat(10_000)}`)).toThrow(CsvRunaway)
  })
})
