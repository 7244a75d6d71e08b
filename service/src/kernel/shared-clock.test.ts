import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { SharedClock } from './shared-clock.ts'

const START_MS = Date.UTC(2030, 0, 1)
const MINUTE_MS = 60_000

describe('a clock that goes by another one', () => {
  let machine: TestClock
  let shared: SharedClock

  beforeEach(() => {
    machine = new TestClock(START_MS)
    shared = new SharedClock(machine)
  })

  it("is its machine's until it has heard the other", () => {
    expect(shared.now()).toBe(START_MS)
  })

  it.each([10 * MINUTE_MS, -10 * MINUTE_MS])('is put right when it is off by %d ms', async (offMs) => {
    expect(shared.heard(START_MS + offMs, 0)).toBe(offMs)
    await machine.advance(1_000)
    expect(shared.now()).toBe(START_MS + offMs + 1_000)
    expect(shared.heard(START_MS + offMs + 1_000, 1_000)).toBe(0)
  })

  it("does not jump with its machine's", async () => {
    machine.jump(10 * MINUTE_MS)
    await machine.advance(1_000)
    expect(shared.now()).toBe(START_MS + 1_000)
  })

  it('never goes back for less than a second, nor for what the answer may have taken', async () => {
    expect(shared.heard(START_MS - 1_000, 0)).toBe(0)
    await machine.advance(4_000)
    expect(shared.heard(START_MS - 900, 0)).toBe(0)
    expect(shared.now()).toBe(START_MS + 4_000)
  })
})
