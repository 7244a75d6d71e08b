import { describe, expect, it } from 'vitest'
import type { LoopSample } from '../platform/event-loop.ts'
import { type Load, NO_LOAD, withSample } from './admission.ts'

const CALM = { utilisation: 0.5, delayP99Ms: 2 }
const BUSY = { utilisation: 0.9, delayP99Ms: 2 }
const LATE = { utilisation: 0.5, delayP99Ms: 25 }
const BETWEEN = { utilisation: 0.8, delayP99Ms: 15 }

/** A process that is past its beginning, in which nothing has happened. */
const WARM = given(times(20, CALM))

function given(samples: LoopSample[], { load = NO_LOAD, hasCalls = true } = {}): Load {
  return samples.reduce((before, sample) => withSample(before, sample, hasCalls), load)
}

function after(samples: LoopSample[], load: Load = WARM): boolean {
  return given(samples, { load }).isOverloaded
}

function times(count: number, sample: LoopSample): LoopSample[] {
  return Array<LoopSample>(count).fill(sample)
}

describe('admission', () => {
  it.each([
    ['works more than 85 % of the time', BUSY],
    ['is more than 20 ms late', LATE],
  ])('takes no calls once the event loop %s over five seconds', (_what, sample) => {
    expect(after(times(2, sample))).toBe(false)
    expect(after(times(5, sample))).toBe(true)
  })

  it('turns nobody away for a single pause', () => {
    expect(after([...times(4, CALM), { utilisation: 1, delayP99Ms: 900 }, ...times(3, CALM)])).toBe(false)
  })

  it.each([
    ['how much it works', BUSY, { utilisation: 0.75, delayP99Ms: 2 }],
    ['how late it is', LATE, { utilisation: 0.5, delayP99Ms: 12 }],
  ])('takes calls again only when %s is well below the bound', (_what, bad, notYet) => {
    const load = given(times(5, bad), { load: WARM })
    expect(after(times(10, notYet), load)).toBe(true)
    expect(after(times(5, CALM), load)).toBe(false)
  })

  it('does not begin to refuse in the gap between the bounds', () => {
    expect(after(times(10, BETWEEN))).toBe(false)
  })

  it('is not told by a busy machine whether a process without calls can take one', () => {
    expect(given(times(60, LATE), { load: WARM, hasCalls: false }).isOverloaded).toBe(false)
    expect(given(times(5, BUSY), { load: WARM, hasCalls: false }).isOverloaded).toBe(true)
    expect(given(times(5, LATE), { load: given(times(60, LATE), { hasCalls: false }) }).isOverloaded).toBe(true)
  })

  it('lets a process begin that is late while it warms up, and is on its guard with calls from then on', () => {
    expect(given(times(15, { ...LATE, utilisation: 1 }), { hasCalls: false }).isOverloaded).toBe(false)
    expect(given(times(15, LATE)).isOverloaded).toBe(false)
    expect(given(times(20, LATE)).isOverloaded).toBe(true)
    expect(given(times(5, BUSY)).isOverloaded).toBe(true)
  })

  it('remembers no more than it looks at', () => {
    expect(given(times(100, CALM)).samples).toHaveLength(5)
  })
})
