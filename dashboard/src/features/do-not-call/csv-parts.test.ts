import { describe, expect, it } from 'vitest'
import { csvParts } from './csv-parts.ts'

describe('csvParts', () => {
  it('leaves a short list as it is', () => {
    expect(csvParts('phone\n+12025550123\n')).toEqual([{ csv: 'phone\n+12025550123\n', before: 0 }])
  })

  it('begins each part with the first line, and knows which lines stand before it', () => {
    expect(csvParts('phone\n1\n2\n3', 8)).toEqual([
      { csv: 'phone\n1\n', before: 0 },
      { csv: 'phone\n2\n', before: 1 },
      { csv: 'phone\n3', before: 2 },
    ])
  })

  it('keeps a record together that has line breaks within its quotes', () => {
    const record = '1,"said ""no""\nand hung up"\n'
    expect(csvParts(`phone,reason\n${record}2,\n`, 14)).toEqual([
      { csv: `phone,reason\n${record}`, before: 0 },
      { csv: 'phone,reason\n2,\n', before: 2 },
    ])
  })

  it('has one part of what is empty, for the service to refuse', () => {
    expect(csvParts('')).toEqual([{ csv: '', before: 0 }])
  })
})
