import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { APART_FILES, WAITING, waitingFirst } from './waiting-first.ts'

const of = (project: string, ...names: string[]) => names.map((moduleId) => ({ project, moduleId }))
const others = (count: number) => Array.from({ length: count }, (_, n) => `other ${n}`)

describe('the order of the files', () => {
  it('has those early that wait, of each project, and leaves the others as they are', () => {
    const [wait = ''] = WAITING
    const files = [...of('one', 'b', 'a', wait), ...of('two', 'c', wait, 'd')]
    expect(waitingFirst(files)).toEqual([...of('one', wait, 'b', 'a'), ...of('two', wait, 'c', 'd')])
  })

  it('keeps those apart that wait, the longest first', () => {
    const [longest = '', next = '', last = ''] = WAITING
    const names = others(APART_FILES + 1)
    const ordered = waitingFirst(of('one', ...names, last, next, longest)).map(({ moduleId }) => moduleId)
    const [one = '', ...before] = names.toReversed()
    expect(ordered).toEqual([longest, ...before.toReversed(), next, one, last])
  })

  it('names only files that there are', () => {
    expect(WAITING.filter((path) => !existsSync(path))).toEqual([])
  })
})
