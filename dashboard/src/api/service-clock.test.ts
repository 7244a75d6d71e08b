import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteServiceTime, serviceNow } from './service-clock.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const BEFORE = Date.parse('2026-03-01T11:40:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterEach(() => void vi.useRealTimers())

describe("the service's time", () => {
  it('is what its last answer said, and goes on with the clock of the machine', () => {
    noteServiceTime(String(BEFORE), NOW)
    vi.setSystemTime(NOW + 5_000)
    expect(serviceNow() - BEFORE).toBe(5_000)
    // An older node does not say.
    noteServiceTime(null, NOW)
    expect(serviceNow() - BEFORE).toBe(5_000)
  })

  it('is that of the machine where they are no further apart than an answer can tell', () => {
    noteServiceTime(String(NOW - 900), NOW)
    expect(serviceNow()).toBe(NOW)
  })

  it('is moved by no answer that took longer than it would be moved', () => {
    noteServiceTime(String(BEFORE), NOW)
    noteServiceTime(String(BEFORE - 9_000), NOW - 20_000)
    expect(serviceNow()).toBe(BEFORE)
    noteServiceTime(String(BEFORE - 60_000), NOW - 20_000)
    expect(serviceNow()).toBe(BEFORE - 50_000)
  })
})
