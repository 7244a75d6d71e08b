import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { LiveCapacity, type WantedRoom } from './live-capacity.ts'

const RESERVE_MS = 120_000

function room({ maxCalls = 3 } = {}) {
  const clock = new TestClock()
  const load = { isOverloaded: false }
  const places = new LiveCapacity({
    clock,
    maxCalls,
    reserveMs: RESERVE_MS,
    isOverloaded: () => load.isOverloaded,
  })
  const capacity = {
    reserve: (wanted: WantedRoom) => places.reserve(wanted).noRoom,
    begin: (wanted: WantedRoom) => places.begin(wanted),
  }
  return { clock, load, capacity, places }
}

function call(callSid: string, tenant = 'acme', maxConcurrentCalls: number | null = null) {
  return { tenantId: tenant as TenantId, callSid, maxConcurrentCalls }
}

describe('LiveCapacity', () => {
  it('has room for as many calls as the process may have, answered ones among them', () => {
    const { capacity } = room()
    expect(['1', '2', '3', '4'].map((sid) => capacity.reserve(call(sid)))).toEqual([null, null, null, 'process_full'])
    expect(capacity.begin(call('1'))).toBeNull()
    expect(capacity.begin(call('5'))).toBe('process_full')
  })

  it("keeps to a tenant's own limit, and to that tenant's alone", () => {
    const { capacity } = room()
    expect(capacity.reserve(call('1', 'acme', 1))).toBeNull()
    expect(capacity.reserve(call('2', 'acme', 1))).toBe('tenant_full')
    expect(capacity.reserve(call('3', 'other', 1))).toBeNull()
  })

  it('takes a call that comes back however busy the process and its tenant are, but for one that is full', () => {
    const { capacity, load } = room({ maxCalls: 2 })
    capacity.reserve(call('1', 'acme', 1))
    load.isOverloaded = true
    expect(capacity.reserve({ ...call('2', 'acme', 1), comesBack: true })).toBeNull()
    expect(capacity.begin({ ...call('2', 'acme', 1), comesBack: true })).toBeNull()
    expect(capacity.reserve({ ...call('3', 'acme', 1), comesBack: true })).toBe('process_full')
  })

  it('gives a call that asks again the place that it has', () => {
    const { capacity, load, places } = room({ maxCalls: 1 })
    capacity.reserve(call('1', 'acme', 1))
    load.isOverloaded = true
    expect(capacity.reserve(call('1', 'acme', 1))).toBeNull()
    expect(places.taken).toBe(1)
  })

  it('takes back the place of a call whose stream never began', async () => {
    const { capacity, clock } = room({ maxCalls: 1 })
    capacity.reserve(call('1'))
    await clock.advance(RESERVE_MS - 1)
    expect(capacity.reserve(call('2'))).toBe('process_full')
    await clock.advance(1)
    expect(capacity.reserve(call('2'))).toBeNull()
  })

  it('takes back a place that was given for a shorter time when that is over', async () => {
    const { capacity, clock, places } = room({ maxCalls: 1 })
    places.reserve(call('1'), 15_000)
    await clock.advance(14_999)
    expect(capacity.reserve(call('2'))).toBe('process_full')
    await clock.advance(1)
    expect(capacity.reserve(call('2'))).toBeNull()
  })

  it('passes the place of a call on to its next session, however busy the process is', async () => {
    const { capacity, clock, load, places } = room({ maxCalls: 1 })
    capacity.begin(call('1'))
    load.isOverloaded = true
    expect(places.passOn(call('1'), () => places.release(call('1')))).toBeNull()
    await clock.advance(RESERVE_MS * 10)
    expect(places.taken).toBe(1)
    places.release(call('1'))
    expect(places.passOn(call('1'), () => {})).toBe('overloaded')
    expect(places.taken).toBe(0)
  })

  it('keeps the place of a call that has begun until it is over, also when its webhook comes again', async () => {
    const { capacity, clock, places } = room({ maxCalls: 1 })
    capacity.begin(call('1'))
    capacity.reserve(call('1'))
    await clock.advance(10 * RESERVE_MS)
    expect(capacity.reserve(call('2'))).toBe('process_full')
    places.release(call('1'))
    expect(capacity.reserve(call('2'))).toBeNull()
  })

  it('takes no call while the process is overloaded, asking each again when its stream begins', () => {
    const { capacity, load } = room()
    capacity.reserve(call('1'))
    load.isOverloaded = true
    expect([capacity.begin(call('1')), capacity.reserve(call('2'))]).toEqual(['overloaded', 'overloaded'])
    // Its place was given up.
    expect(capacity.reserve(call('1'))).toBe('overloaded')
    load.isOverloaded = false
    expect(capacity.begin(call('1'))).toBeNull()
  })

  it('lets a call that was answered begin while the process stops, and no other', () => {
    const { capacity, places } = room()
    capacity.reserve(call('1'))
    places.stop()
    expect([capacity.begin(call('1')), capacity.begin(call('2')), capacity.reserve(call('3'))]).toEqual([
      null,
      'stopping',
      'stopping',
    ])
  })

  it("does not give a call the place of another tenant's that is called the same, nor take that away", () => {
    const { places } = room({ maxCalls: 1 })
    places.begin(call('1', 'victim'))
    expect(places.begin(call('1', 'other', 0))).toBe('process_full')
    places.release(call('1', 'other'))
    expect([places.taken, places.has(call('1', 'victim')), places.has(call('1', 'other'))]).toEqual([1, true, false])
  })

  it('leaves a call its place while one of its webhooks was answered, whichever of them fail', () => {
    const { places } = room()
    const [first, second, third] = [places.reserve(call('1')), places.reserve(call('1')), places.reserve(call('1'))]
    first.giveBack()
    second.giveBack()
    expect(places.taken).toBe(1)
    third.giveBack()
    expect(places.taken).toBe(0)
  })

  it('does not take back the place of another try of the call', () => {
    const { places } = room()
    const first = places.reserve(call('1'))
    places.release(call('1'))
    places.reserve(call('1'))
    first.giveBack()
    expect(places.taken).toBe(1)
  })

  it('can be asked without taking anything', () => {
    const { places } = room({ maxCalls: 1 })
    expect([places.ask(call('1')), places.ask(call('1', 'acme', 0)), places.taken]).toEqual([null, 'tenant_full', 0])
    places.begin(call('1'))
    expect([places.ask(call('1')), places.ask(call('2'))]).toEqual([null, 'process_full'])
  })

  it('places no more calls than it could take if all were answered, and keeps nobody out for them', async () => {
    const { clock, places } = room({ maxCalls: 3 })
    const toDial = () => places.askToDial()
    places.reserve(call('1'))
    places.ring('first', 1_000)
    expect(toDial()).toBeNull()
    places.ring('second', 2_000)
    expect(toDial()).toBe('process_full')
    places.rang('first')
    expect(toDial()).toBeNull()
    places.ring('third', 5_000)
    expect([places.reserve(call('2')).noRoom, places.ask(call('3')), toDial()]).toEqual([null, null, 'process_full'])
    places.release(call('2'))
    await clock.advance(2_000)
    expect(toDial()).toBeNull()
    places.stop()
    expect(toDial()).toBe('stopping')
  })
})
