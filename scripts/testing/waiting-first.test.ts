import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WAITING, waitingFirst } from './waiting-first.ts'

describe('the order of the files', () => {
  it('has those first that wait, of each project, and leaves the others as they are', () => {
    const [wait = ''] = WAITING
    const of = (project: string, ...names: string[]) => names.map((moduleId) => ({ project, moduleId }))
    const files = [...of('one', 'b', 'a', wait), ...of('two', 'c', wait, 'd')]
    expect(waitingFirst(files)).toEqual([...of('one', wait, 'b', 'a'), ...of('two', wait, 'c', 'd')])
  })

  it('names only files that there are', () => {
    expect(WAITING.filter((path) => !existsSync(path))).toEqual([])
  })
})
