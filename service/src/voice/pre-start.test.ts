import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { PreStartSeats } from './pre-start.ts'

const MINUTE_MS = 60_000

/** @param failed is told of addresses that failed; those that are full are refused. */
function seatsFor({ clock = new TestClock(), failed = [] as string[], full = [] as string[] } = {}): PreStartSeats {
  return new PreStartSeats({
    clock,
    failed: (address) => void failed.push(address),
    refuseFull: (address) => {
      if (full.includes(address)) throw new AppError('rate_limited', 'Too many requests.')
    },
  })
}

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
    const outcomes = taken(seatsFor(), [...Array<string>(21).fill('192.0.2.1'), '192.0.2.2'])
    expect(outcomes.slice(19)).toEqual(['seat', 'rate_limited', 'seat'])
  })

  it('are twenty for all of an IPv6 host', () => {
    const addresses = Array.from({ length: 21 }, (_, i) => `2001:db8::${i.toString(16)}`)
    expect(taken(seatsFor(), addresses).at(-1)).toBe('rate_limited')
  })

  it('are five hundred in all: the address that has the most loses its oldest to whoever comes next', () => {
    const seats = seatsFor()
    const dropped: string[] = []
    const take = (address: string, name: string) => {
      const seat = seats.take(address)
      seat.onDropped(() => {
        dropped.push(name)
        seat.release()
      })
    }
    for (let host = 0; host < 50; host += 1) for (let n = 0; n < 10; n += 1) take(`192.0.2.${host}`, `${host}/${n}`)
    seats.take('192.0.2.7').release()
    expect([dropped, seats.taken]).toEqual([['0/0'], 499])
    take('192.0.2.7', '7/new')
    expect(dropped).toEqual(['0/0'])
    take('198.51.100.1', 'new')
    expect([dropped, seats.taken]).toEqual([['0/0', '7/0'], 500])
  })

  it('are taken from strangers before an address that calls come from, which may hold the most', () => {
    const seats = seatsFor()
    seats.take('198.51.100.1').letIn()
    const dropped: string[] = []
    const take = (address: string) => seats.take(address).onDropped(() => dropped.push(address))
    for (let n = 0; n < 20; n += 1) take('198.51.100.1')
    for (let host = 0; host < 240; host += 1) for (let n = 0; n < 2; n += 1) take(`10.0.0.${host}`)
    take('203.0.113.1')
    expect(dropped).toEqual(['10.0.0.0'])
  })

  it('count for their address when the socket ends without having been let in, once', () => {
    const failed: string[] = []
    const seats = seatsFor({ failed })
    const silent = seats.take('192.0.2.1')
    silent.release()
    silent.release()
    const wrong = seats.take('192.0.2.2')
    wrong.refused()
    wrong.release()
    const good = seats.take('192.0.2.3')
    good.letIn()
    good.release()
    const ours = seats.take('192.0.2.4')
    ours.leave()
    ours.release()
    expect([failed, seats.taken]).toEqual([['192.0.2.1', '192.0.2.2'], 0])
  })

  it('are refused to an address that has failed too often', () => {
    expect(taken(seatsFor({ full: ['192.0.2.1'] }), ['192.0.2.1', '192.0.2.2'])).toEqual(['rate_limited', 'seat'])
  })

  it('are not refused behind an address that calls come from, whatever fails there, for half an hour', async () => {
    const clock = new TestClock()
    const [failed, full] = [[] as string[], [] as string[]]
    const seats = seatsFor({ clock, failed, full })
    seats.take('192.0.2.1').letIn()
    full.push('192.0.2.1', '127.0.0.1')
    seats.take('192.0.2.1').release()
    expect([failed, taken(seats, ['192.0.2.1', '127.0.0.1'])]).toEqual([[], ['seat', 'seat']])
    await clock.advance(30 * MINUTE_MS)
    expect(taken(seats, ['192.0.2.1'])).toEqual(['rate_limited'])
  })

  it('come back when they are released, once each', () => {
    const seats = seatsFor()
    const given = Array.from({ length: 20 }, () => seats.take('192.0.2.1'))
    given[0]?.release()
    given[0]?.release()
    expect(taken(seats, ['192.0.2.1', '192.0.2.1'])).toEqual(['seat', 'rate_limited'])
    for (const seat of given) seat.release()
    expect(seats.taken).toBe(1)
  })
})
