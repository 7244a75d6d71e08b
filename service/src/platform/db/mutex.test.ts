import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { Mutex } from './mutex.ts'

const LIMITS = { maxWaiting: 2, waitTimeoutMs: 1_000 }
const BUSY = { code: 'unavailable', message: 'The database is busy. Try again.' }
const CLOSED = { code: 'unavailable', message: 'The database is closed. Try again.' }

describe('Mutex', () => {
  it('admits one at a time, in the order of arrival', async () => {
    const mutex = new Mutex(LIMITS)
    const turns: string[] = []
    const take = async (name: string) => {
      await mutex.acquire()
      turns.push(`${name} in`)
      await Promise.resolve()
      turns.push(`${name} out`)
      mutex.release()
    }
    await Promise.all(['a', 'b', 'c'].map(take))
    expect(turns).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
  })

  it('refuses whoever would make the line too long, and keeps the others', async () => {
    const mutex = new Mutex(LIMITS)
    await mutex.acquire()
    const waiting = [mutex.acquire(), mutex.acquire()]
    await expect(mutex.acquire()).rejects.toMatchObject(BUSY)
    mutex.release()
    await waiting[0]
    mutex.release()
    await waiting[1]
  })

  it('refuses whoever has waited too long, and admits the next one', async () => {
    const clock = new TestClock()
    const mutex = new Mutex(LIMITS, clock)
    await mutex.acquire()
    const late = expect(mutex.acquire()).rejects.toMatchObject(BUSY)
    await clock.advance(500)
    const patient = mutex.acquire()
    await clock.advance(500)
    await late
    mutex.release()
    await patient
    expect(clock.pendingTimers).toBe(0)
  })

  it('frees whoever asks for a second turn during the first', async () => {
    const clock = new TestClock()
    const mutex = new Mutex(LIMITS, clock)
    await mutex.acquire()
    const second = expect(mutex.acquire()).rejects.toMatchObject(BUSY)
    await clock.advance(LIMITS.waitTimeoutMs)
    await second
  })

  it('closes after everybody in the line has had a turn, even a full one, and admits nobody after', async () => {
    const mutex = new Mutex(LIMITS)
    await mutex.acquire()
    const turns: number[] = []
    const waiting = [1, 2].map(async (n) => {
      await mutex.acquire()
      turns.push(n)
      mutex.release()
    })
    const closed = mutex.close()
    await expect(mutex.acquire()).rejects.toMatchObject(CLOSED)
    mutex.release()
    await closed
    expect(turns).toEqual([1, 2])
    await Promise.all(waiting)
    await expect(mutex.acquire()).rejects.toMatchObject(CLOSED)
  })
})
