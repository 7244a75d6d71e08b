import { describe, expect, it } from 'vitest'
import { inLanes } from './in-lanes.ts'

describe('work in lanes', () => {
  it('is done for each, in order, and never more of it at a time', async () => {
    let [running, most] = [0, 0]
    const begun: number[] = []
    const results = await inLanes([5, 1, 4, 2, 3], 2, async (item) => {
      begun.push(item)
      running += 1
      most = Math.max(most, running)
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve()
      running -= 1
      return item * 10
    })
    expect([results, begun, most]).toEqual([[50, 10, 40, 20, 30], [5, 1, 4, 2, 3], 2])
  })

  it('ends with the first error, and begins nothing after it', async () => {
    const begun: number[] = []
    const work = async (item: number) => {
      begun.push(item)
      if (item === 2) throw new Error('no')
      return item
    }
    await expect(inLanes([1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('no')
    expect(begun).not.toContain(6)
  })

  it('of nothing is nothing', async () => {
    expect(await inLanes([], 3, async () => 1)).toEqual([])
  })
})
