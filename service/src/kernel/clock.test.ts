import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { systemClock, waitAtMost, withTimeout } from './clock.ts'

const late = () => new Error('late')

describe('withTimeout', () => {
  it('gives what the work gave, and leaves no timer', async () => {
    const clock = new TestClock()
    await expect(withTimeout(clock, Promise.resolve(7), 100, late)).resolves.toBe(7)
    expect(clock.pendingTimers).toBe(0)
  })

  it('fails as the work failed, and leaves no timer', async () => {
    const clock = new TestClock()
    await expect(withTimeout(clock, Promise.reject(new Error('refused')), 100, late)).rejects.toThrow('refused')
    expect(clock.pendingTimers).toBe(0)
  })

  it('fails when the time is up, not before', async () => {
    const clock = new TestClock()
    let outcome = 'waiting'
    const result = withTimeout(clock, new Promise(() => {}), 100, late).catch((error: Error) => {
      outcome = error.message
    })
    await clock.advance(99)
    expect(outcome).toBe('waiting')
    await clock.advance(1)
    await result
    expect(outcome).toBe('late')
  })

  it('ignores what the work does after that', async () => {
    const clock = new TestClock()
    const { promise, reject } = Promise.withResolvers<never>()
    const result = withTimeout(clock, promise, 100, late)
    const failed = expect(result).rejects.toThrow('late')
    await clock.advance(100)
    await failed
    reject(new Error('refused at last'))
    await clock.advance(1)
  })
})

describe('withTimeout, of a process that stood still', () => {
  it('gives what had come meanwhile and could not be read', async () => {
    const clock = new TestClock()
    const { promise, resolve } = Promise.withResolvers<number>()
    const result = withTimeout(clock, promise, 100, late)
    clock.skip(40_000)
    // Node fires what is due before it reads what has arrived.
    await clock.advance(0)
    resolve(7)
    await expect(result).resolves.toBe(7)
    expect(clock.pendingTimers).toBe(0)
  })

  it('waits as long once more, and no third time', async () => {
    const clock = new TestClock()
    let outcome = 'waiting'
    void withTimeout(clock, new Promise(() => {}), 100, late).catch((error: Error) => {
      outcome = error.message
    })
    clock.skip(40_000)
    await clock.advance(99)
    expect(outcome).toBe('waiting')
    clock.skip(40_000)
    await clock.advance(0)
    expect(outcome).toBe('late')
  })

  it('is not meant where a timer is as late as on a busy machine', async () => {
    const clock = new TestClock()
    const result = withTimeout(clock, new Promise(() => {}), 100, late)
    const failed = expect(result).rejects.toThrow('late')
    clock.skip(900)
    await clock.advance(0)
    await failed
  })
})

describe('waitAtMost', () => {
  it('gives what the work gave; nothing of work that fails, or takes longer', async () => {
    const clock = new TestClock()
    await expect(waitAtMost(clock, Promise.resolve(7), 100)).resolves.toBe(7)
    await expect(waitAtMost(clock, Promise.reject(new Error('refused')), 100)).resolves.toBeNull()
    const late = waitAtMost(clock, new Promise(() => {}), 100)
    await clock.advance(100)
    await expect(late).resolves.toBeNull()
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('systemClock', () => {
  it('runs a task once, after its delay', async () => {
    const startMs = systemClock.monotonicMs()
    let ranAtMs = 0
    systemClock.after(20, () => {
      ranAtMs = systemClock.monotonicMs()
    })
    await until(() => ranAtMs > 0, { what: 'the task' })
    expect(ranAtMs - startMs).toBeGreaterThanOrEqual(19)
  })

  it('runs a task again and again until it is cancelled', async () => {
    let runs = 0
    const cancel = systemClock.every(1, () => {
      runs += 1
      if (runs === 3) cancel()
    })
    let later = false
    await until(() => runs === 3, { what: 'three runs' })
    systemClock.after(20, () => {
      later = true
    })
    await until(() => later, { what: 'twenty more milliseconds' })
    expect(runs).toBe(3)
  })

  it('does not run what was cancelled', async () => {
    let ran = false
    const cancel = systemClock.after(5, () => {
      ran = true
    })
    cancel()
    cancel()
    let later = false
    systemClock.after(20, () => {
      later = true
    })
    await until(() => later, { what: 'a later task' })
    expect(ran).toBe(false)
  })

  it('tells the wall-clock time in milliseconds', () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000)
  })
})
