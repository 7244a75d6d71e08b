import { describe, expect, it } from 'vitest'
import type { LoopSample } from '../platform/event-loop.ts'
import { type Load, NO_LOAD, withSample } from './admission.ts'

const CALM = { utilisation: 0.5, delayP99Ms: 2 }
const BUSY = { utilisation: 0.9, delayP99Ms: 2 }
const LATE = { utilisation: 0.5, delayP99Ms: 25 }
const BETWEEN = { utilisation: 0.8, delayP99Ms: 15 }

function after(samples: LoopSample[], load: Load = NO_LOAD): boolean {
  return samples.reduce(withSample, load).isOverloaded
}

function times(count: number, sample: LoopSample): LoopSample[] {
  return Array<LoopSample>(count).fill(sample)
}

describe('admission', () => {
  it.each([
    ['works more than 85 % of the time', BUSY],
    ['is more than 20 ms late', LATE],
  ])('takes no calls once the event loop %s over five seconds', (_what, sample) => {
    expect(after(times(4, sample))).toBe(false)
    expect(after(times(5, sample))).toBe(true)
  })

  it('turns nobody away for a single pause', () => {
    expect(after([...times(4, CALM), { utilisation: 1, delayP99Ms: 900 }, ...times(3, CALM)])).toBe(false)
  })

  it.each([
    ['how much it works', BUSY, { utilisation: 0.75, delayP99Ms: 2 }],
    ['how late it is', LATE, { utilisation: 0.5, delayP99Ms: 12 }],
  ])('takes calls again only when %s is well below the bound', (_what, bad, notYet) => {
    const load = times(5, bad).reduce(withSample, NO_LOAD)
    expect(after(times(10, notYet), load)).toBe(true)
    expect(after(times(5, CALM), load)).toBe(false)
  })

  it('does not begin to refuse in the gap between the bounds', () => {
    expect(after(times(10, BETWEEN))).toBe(false)
  })

  it('remembers no more than it looks at', () => {
    expect(times(100, CALM).reduce(withSample, NO_LOAD).samples).toHaveLength(5)
  })
})
