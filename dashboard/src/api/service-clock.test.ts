import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteServiceTime, serviceNow } from './service-clock.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterEach(() => void vi.useRealTimers())

describe("the service's time", () => {
  it('is what its last answer said, and goes on with the clock of the machine', () => {
    noteServiceTime('Sun, 01 Mar 2026 11:40:00 GMT')
    vi.setSystemTime(NOW + 5_000)
    expect(serviceNow() - Date.parse('2026-03-01T11:40:00Z')).toBe(5_000)
    noteServiceTime(null)
    expect(serviceNow() - Date.parse('2026-03-01T11:40:00Z')).toBe(5_000)
  })

  it('is that of the machine where they are no further apart than an answer can tell', () => {
    noteServiceTime('Sun, 01 Mar 2026 11:59:58 GMT')
    expect(serviceNow()).toBe(NOW)
  })
})
