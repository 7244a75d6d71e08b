import { describe, expect, it } from 'vitest'
import { longestFiles, longestFunctions } from './longest.ts'
import { parse } from './source.ts'

const FILE = parse({
  path: 'service/src/kernel/a.ts',
  text: `// A comment.
export function first(): number {
  const inner = () => {
    return 1
  }
  return inner()
}

export class Box {
  #value = 1
  read(): number {
    return [1, 2].map((each) => {
      return each
    }).length
  }
}

export const table = { key: () => 1 }

setTimeout(() => {
  table.key()
}, 1)
`,
})
const SHORT = parse({ path: 'service/src/kernel/b.ts', text: 'export const b = 1\n' })
const TEST = parse({ path: 'service/src/kernel/a.test.ts', text: `it('a', () => {${'\n'.repeat(40)}})` })

describe('the longest functions', () => {
  it('are told with their names, sizes and places, the longest first', () => {
    expect(longestFunctions([FILE], 9)).toEqual([
      { name: 'first', file: FILE.path, line: 2, lines: 6 },
      { name: 'Box.read', file: FILE.path, line: 11, lines: 5 },
      { name: 'inner', file: FILE.path, line: 3, lines: 3 },
      { name: '(nameless)', file: FILE.path, line: 20, lines: 3 },
      { name: 'key', file: FILE.path, line: 18, lines: 1 },
    ])
  })

  it('are as many as were asked for, and none of a test', () => {
    expect(longestFunctions([TEST, FILE], 1)).toMatchObject([{ name: 'first' }])
  })
})

describe('the longest files', () => {
  it('are told with their sizes, the longest first', () => {
    expect(longestFiles([SHORT, FILE], 2)).toMatchObject([
      { file: FILE.path, lines: 22 },
      { file: SHORT.path, lines: 1 },
    ])
  })
})
