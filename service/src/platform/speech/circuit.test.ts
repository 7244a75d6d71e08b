import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { Circuit } from './circuit.ts'

let clock: TestClock
let circuit: Circuit
beforeEach(() => {
  clock = new TestClock()
  circuit = new Circuit(clock, { maxFailures: 3, windowMs: 30_000, openMs: 15_000 })
})

function fails(times: number): void {
  for (let at = 0; at < times; at += 1) circuit.begin()?.failed()
}

describe('Circuit', () => {
  it('opens at the third failure within its window', async () => {
    fails(2)
    expect([circuit.isClosed, circuit.mayTry]).toEqual([true, true])
    fails(1)
    expect([circuit.isClosed, circuit.mayTry, circuit.begin()]).toEqual([false, false, null])
  })

  it('forgets failures that are older than its window', async () => {
    fails(2)
    await clock.advance(30_000)
    fails(2)
    expect(circuit.isClosed).toBe(true)
  })

  it('lets one try after its time, and closes with that one', async () => {
    fails(3)
    await clock.advance(15_000)
    const trial = circuit.begin()
    expect([circuit.isClosed, circuit.mayTry, circuit.begin()]).toEqual([false, false, null])
    trial?.succeeded()
    expect([circuit.isClosed, circuit.mayTry]).toEqual([true, true])
  })

  it('stays open for as long again when that one fails', async () => {
    fails(3)
    await clock.advance(15_000)
    circuit.begin()?.failed()
    await clock.advance(14_999)
    expect(circuit.mayTry).toBe(false)
    await clock.advance(1)
    expect(circuit.mayTry).toBe(true)
  })

  it('lets another one try when the one was dropped unused', async () => {
    fails(3)
    await clock.advance(15_000)
    circuit.begin()?.dropped()
    expect([circuit.isClosed, circuit.mayTry]).toEqual([false, true])
  })

  it('hears of each attempt once, and of one that was begun before it opened not at all', async () => {
    const early = circuit.begin()
    const once = circuit.begin()
    once?.failed()
    once?.failed()
    fails(1)
    expect(circuit.isClosed).toBe(true)
    fails(1)
    early?.succeeded()
    expect(circuit.isClosed).toBe(false)
  })
})
