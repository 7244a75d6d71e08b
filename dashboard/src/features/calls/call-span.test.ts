import { describe, expect, it } from 'vitest'
import { madeWithin } from './call-span.ts'

/** When a day of January begins where the tests run. */
const day = (date: number) => new Date(2026, 0, date).toISOString()

describe('calls by days and by a span', () => {
  it('are those of whole days, the last one too', () => {
    expect(madeWithin({ first_day: '2026-01-05', last_day: '2026-01-06' })).toEqual({
      created_after: day(5),
      created_before: day(7),
    })
  })

  it('are those within both', () => {
    const [since, until] = [day(3), day(10)]
    const within = { created_after: day(5), created_before: day(7) }
    expect(madeWithin({ first_day: '2026-01-05', last_day: '2026-01-06', since, until })).toEqual(within)
    expect(madeWithin({ first_day: '2026-01-01', last_day: '2026-01-20', since: day(5), until: day(7) })).toEqual(
      within,
    )
  })

  it('leave to the service to refuse what is no instant', () => {
    expect(madeWithin({ first_day: '2026-01-05', since: 'once' }).created_after).toBe('once')
  })

  it('are all without either', () => {
    expect(madeWithin({})).toEqual({ created_after: undefined, created_before: undefined })
  })
})
