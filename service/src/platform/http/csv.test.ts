import { describe, expect, it } from 'vitest'
import { CsvReader, CsvRunaway, csvLine } from './csv.ts'

function read(...pieces: string[]) {
  const reader = new CsvReader()
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

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

  it('takes a quote within a field as it is', () => {
    expect(read('5" pipe,x\n')).toEqual([{ line: 1, fields: ['5" pipe', 'x'] }])
  })

  it('is not read on once quotes do not end', () => {
    expect(() => read('a\n"b')).toThrow(expect.objectContaining({ line: 2 }))
    expect(() => read(`"${'x'.repeat(10_000)}`)).toThrow(CsvRunaway)
  })
})
