import { describe, expect, it } from 'vitest'
import { PreStartSeats } from './pre-start.ts'

function taken(seats: PreStartSeats, addresses: string[]): string[] {
  return addresses.map((address) => {
    try {
      seats.take(address)
      return 'seat'
    } catch (error) {
      return (error as { code: string }).code
    }
  })
}

describe('seats before the start', () => {
  it('are twenty for an address, and others are none the worse for it', () => {
    const outcomes = taken(new PreStartSeats(), [...Array<string>(21).fill('192.0.2.1'), '192.0.2.2'])
    expect(outcomes.slice(19)).toEqual(['seat', 'rate_limited', 'seat'])
  })

  it('are twenty for all of an IPv6 host', () => {
    const addresses = Array.from({ length: 21 }, (_, i) => `2001:db8::${i.toString(16)}`)
    expect(taken(new PreStartSeats(), addresses).at(-1)).toBe('rate_limited')
  })

  it('are five hundred in all, for programs of this machine too', () => {
    const seats = new PreStartSeats()
    expect(taken(seats, [...Array<string>(500).fill('::ffff:127.0.0.1'), '::1']).slice(499)).toEqual([
      'seat',
      'unavailable',
    ])
  })

  it('come back when they are released, once each', () => {
    const seats = new PreStartSeats()
    const given = Array.from({ length: 20 }, () => seats.take('192.0.2.1'))
    given[0]?.release()
    given[0]?.release()
    expect(taken(seats, ['192.0.2.1', '192.0.2.1'])).toEqual(['seat', 'rate_limited'])
    for (const seat of given) seat.release()
    expect(seats.taken).toBe(1)
  })
})
