import { vi } from 'vitest'

/**
 * How often time zones are asked what their clocks show while something is done: in all, and at most between two breaks in which calls
 * go on. It is what takes long of hours and days, and is the same on every machine.
 */
export async function zonesAsked(work: () => Promise<unknown>): Promise<{ inAll: number; atOnce: number }> {
  const spy = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
  let [before, atOnce] = [0, 0]
  const look = () => {
    atOnce = Math.max(atOnce, spy.mock.calls.length - before)
    before = spy.mock.calls.length
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  try {
    await work()
    return { inAll: spy.mock.calls.length, atOnce: Math.max(atOnce, spy.mock.calls.length - before) }
  } finally {
    clearImmediate(next)
    spy.mockRestore()
  }
}
