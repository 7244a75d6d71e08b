import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { RateWindows } from './rate-counter.ts'
import { sharedRateCounter } from './shared-rate-counter.ts'

/** Four nodes and one count between them, which the test takes away and gives back. */
function cluster() {
  const clock = new TestClock()
  const shared = { windows: new RateWindows(), forMs: Number.POSITIVE_INFINITY, fails: false }
  /** The nodes from `from` on have a count of their own, as if there were two of it. */
  const split = { from: 4, windows: new RateWindows() }
  const splitAt = (from: number, windows: RateWindows) => Object.assign(split, { from, windows })
  const nodes = [0, 1, 2, 3].map((node) =>
    sharedRateCounter({
      clock,
      async takeShared(name, limit) {
        if (shared.fails) throw new AppError('unavailable', 'Redis does not answer.')
        const windows = node < split.from ? shared.windows : split.windows
        return windows.take(name, limit, clock.monotonicMs())
      },
      sharedForMs: () => shared.forMs,
      nodes: () => 4,
    }),
  )
  /** How many of so many tries, each on the next node, are let in. */
  async function admitted(tries: number, limit = 100): Promise<number> {
    let count = 0
    for (let n = 0; n < tries; n += 1) {
      if ((await nodes[n % 4]?.take('a', limit))?.isAdmitted) count += 1
    }
    return count
  }
  return { clock, shared, nodes, admitted, splitAt }
}

describe('a counter that is shared', () => {
  it('lets in exactly the limit over all nodes', async () => {
    const { admitted } = cluster()
    expect(await admitted(150)).toBe(100)
  })

  it('lets one node have all of it', async () => {
    const { nodes } = cluster()
    const taken = await Promise.all(Array.from({ length: 120 }, async () => nodes[0]?.take('a', 100)))
    expect(taken.filter((each) => each?.isAdmitted)).toHaveLength(100)
  })

  it.each([
    ['is away', { forMs: 0 }],
    ['fails', { fails: true }],
  ])('gives each node its share while the shared count %s: bounded, and never none', async (_how, state) => {
    const { shared, admitted } = cluster()
    Object.assign(shared, state)
    expect(await admitted(400)).toBe(100)
    const { shared: other, admitted: few } = cluster()
    Object.assign(other, state)
    expect(await few(8, 1)).toBe(4)
  })

  it('lets in no more than the limit around a break, nor after a count that forgot everything', async () => {
    const { clock, shared, admitted } = cluster()
    const before = await admitted(40)
    shared.forMs = 0
    const meanwhile = await admitted(400)
    shared.windows = new RateWindows()
    await clock.advance(1_000)
    shared.forMs = 1_000
    const after = await admitted(400)
    expect([before, meanwhile, after]).toEqual([40, 60, 0])
    await clock.advance(61_000)
    shared.forMs += 61_000
    expect(await admitted(400)).toBe(100)
  })

  it('F63: that is split lets each half have no more than the limit, and all of them no more when it is one again', async () => {
    const { clock, shared, admitted, splitAt } = cluster()
    const whole = shared.windows
    const before = await admitted(40)
    // One half goes on with what it knows, the other with what it knew a minute ago: nothing.
    splitAt(2, new RateWindows())
    const meanwhile = await admitted(800)
    expect(before + meanwhile).toBeLessThanOrEqual(200)
    await clock.advance(61_000)
    splitAt(4, whole)
    expect(await admitted(400)).toBe(100)
  })

  it('bounds each node by what it knows itself while the shared count lets everything in', async () => {
    const { shared, admitted } = cluster()
    const lying = new RateWindows()
    lying.take = () => ({ isAdmitted: true, remaining: 1_000, resetSeconds: 1 })
    shared.windows = lying
    expect(await admitted(800)).toBe(400)
  })

  it('does not count here what the others had used up', async () => {
    const { clock, shared, nodes } = cluster()
    for (let n = 0; n < 100; n += 1) await nodes[1]?.take('a', 100)
    for (let n = 0; n < 100; n += 1) expect((await nodes[0]?.take('a', 100))?.isAdmitted).toBe(false)
    shared.windows = new RateWindows()
    await clock.advance(1_000)
    expect((await nodes[0]?.take('a', 100))?.isAdmitted).toBe(true)
  })
})
