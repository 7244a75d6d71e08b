import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOver, joinSightings, type Sighting } from './call-status.ts'
import { CALL_STATUSES } from './call-values.ts'

const CASES = { numRuns: 2_000 }

/** Few instants, so that many sightings are of the same one. */
const sighting = fc
  .record({ status: fc.constantFrom(...CALL_STATUSES), atMs: fc.integer({ min: 0, max: 4 }) })
  .map(({ status, atMs }): Sighting => ({ status, at: new Date(atMs) }))

function at(status: Sighting['status'], ms: number): Sighting {
  return { status, at: new Date(ms) }
}

describe('the join of sightings', () => {
  it('is commutative', () => {
    const holds = (a: Sighting, b: Sighting) => {
      expect(joinSightings(a, b)).toEqual(joinSightings(b, a))
    }
    fc.assert(fc.property(sighting, sighting, holds), CASES)
  })

  it('is associative', () => {
    const holds = (a: Sighting, b: Sighting, c: Sighting) => {
      expect(joinSightings(joinSightings(a, b), c)).toEqual(joinSightings(a, joinSightings(b, c)))
    }
    fc.assert(fc.property(sighting, sighting, sighting, holds), CASES)
  })

  it('is idempotent', () => {
    const holds = (a: Sighting) => {
      expect(joinSightings(a, a)).toEqual(a)
    }
    fc.assert(fc.property(sighting, holds), CASES)
  })

  it('never takes a call back', () => {
    const order = ['queued', 'initiated', 'ringing', 'in-progress', 'completed'] as const
    for (const [index, status] of order.entries()) {
      for (const earlier of order.slice(0, index)) {
        for (const [ms, earlierMs] of [
          [1, 2],
          [1, 1],
          [2, 1],
        ] as const) {
          expect(joinSightings(at(status, ms), at(earlier, earlierMs)).status).toBe(status)
        }
      }
    }
  })

  it('keeps the first end of a call', () => {
    expect(joinSightings(at('busy', 5), at('completed', 9))).toEqual(at('busy', 5))
    expect(joinSightings(at('completed', 5), at('failed', 4))).toEqual(at('failed', 4))
  })
})

describe('a call', () => {
  it('is over from each of its five ends on', () => {
    expect(CALL_STATUSES.filter(isOver)).toEqual(['completed', 'busy', 'failed', 'no-answer', 'canceled'])
  })
})
