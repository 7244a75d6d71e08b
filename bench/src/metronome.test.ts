import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Metronome } from './metronome.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('Metronome', () => {
  it('beats once a millisecond, each phase every 20 ms', () => {
    const phases: number[] = []
    const metronome = new Metronome((phase) => phases.push(phase))
    metronome.start()
    vi.advanceTimersByTime(39)
    metronome.stop()
    expect(phases).toEqual([...Array(20).keys(), ...Array(20).keys()])
  })

  it('makes up for beats that a stall held back, says how late they were, and is on time again', () => {
    const lateMs: number[] = []
    const metronome = new Metronome((_phase, late) => lateMs.push(Math.round(late)))
    metronome.start()
    vi.setSystemTime(0)
    const stallMs = 5
    const realNow = performance.now.bind(performance)
    const stalled = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + stallMs)
    vi.advanceTimersByTime(1)
    expect(lateMs).toEqual([0, 5, 4, 3, 2, 1, 0])
    vi.advanceTimersByTime(1)
    expect(lateMs.at(-1)).toBe(0)
    metronome.stop()
    stalled.mockRestore()
  })
})
