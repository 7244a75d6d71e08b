import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { inTurns } from './in-turns.ts'

/** What was done, in its order, of items that have so many pieces, each of which takes as long. */
async function done(pieces: Record<string, number>, { takesMs = 0, stopsAfter = Number.POSITIVE_INFINITY } = {}) {
  const clock = new TestClock()
  const left = { ...pieces }
  const begun: string[] = []
  const isStopping = () => begun.length >= stopsAfter
  await inTurns({ clock, isStopping }, Object.keys(pieces), async (item) => {
    begun.push(item)
    await clock.advance(takesMs)
    left[item] = (left[item] ?? 0) - 1
    return left[item] > 0
  })
  return begun.join(' ')
}

describe('work that is done in turns', () => {
  it('is done to its end, a piece of each at a time', async () => {
    expect(await done({ a: 3, b: 1, c: 2 })).toBe('a b c a c a')
  })

  it('begins nothing more after twenty seconds, but a first piece of each', async () => {
    expect(await done({ a: 3, b: 3 }, { takesMs: 9_000 })).toBe('a b a')
    expect(await done({ a: 3, b: 3 }, { takesMs: 30_000 })).toBe('a b')
  })

  it('begins nothing more once it is to stop', async () => {
    expect(await done({ a: 3, b: 3 }, { stopsAfter: 1 })).toBe('a')
    expect(await done({ a: 3, b: 3 }, { stopsAfter: 3 })).toBe('a b a')
  })
})
