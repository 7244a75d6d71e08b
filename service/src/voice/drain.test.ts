import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { drainCalls } from './drain.ts'

/** Calls that end when the test says so, or, told to, after their last words. */
function calls(size: number, { lastWordsMs = 1_000, answered = 0, takenOver = 0 } = {}) {
  const clock = new TestClock()
  const state = { size, answered, endings: 0, handOvers: 0, isStopped: false, isOver: false }
  const live = {
    get size() {
      return state.size
    },
    endAll() {
      state.endings += 1
      if (state.size > 0) clock.after(lastWordsMs, () => (state.size = 0))
    },
  }
  const capacity = {
    get taken() {
      return state.size + state.answered
    },
    stop() {
      state.isStopped = true
    },
  }
  const handOver = async () => {
    state.handOvers += 1
    state.size -= takenOver
  }
  void drainCalls({ clock, live, capacity, drainMs: 60_000, handOver }).then(() => {
    state.isOver = true
  })
  return { clock, state }
}

describe('draining', () => {
  it('takes no more calls from the first moment on', () => {
    expect(calls(1).state.isStopped).toBe(true)
  })

  it('is over at once without calls', async () => {
    const { clock, state } = calls(0)
    await clock.advance(0)
    expect(state.isOver).toBe(true)
  })

  it('waits for live calls to end by themselves', async () => {
    const { clock, state } = calls(2)
    await clock.advance(30_000)
    expect(state.isOver).toBe(false)
    state.size = 0
    await clock.advance(100)
    expect(state.isOver).toBe(true)
  })

  it('ends those that are left when the time is over, and waits for their last words', async () => {
    const { clock, state } = calls(1)
    await clock.advance(59_999)
    expect(state.endings).toBe(0)
    await clock.advance(1_200)
    expect(state).toMatchObject({ endings: 1, isOver: true })
  })

  it('hands calls over before it ends those that are left', async () => {
    const { clock, state } = calls(3, { takenOver: 2 })
    await clock.advance(59_999)
    expect(state).toMatchObject({ handOvers: 0, size: 3 })
    await clock.advance(200)
    expect(state).toMatchObject({ handOvers: 1, endings: 1, size: 1 })
  })

  it('hands nothing over when no call is left', async () => {
    const { clock, state } = calls(1)
    state.size = 0
    await clock.advance(60_000)
    expect(state).toMatchObject({ handOvers: 0, isOver: true })
  })

  it('does not wait for ever for last words', async () => {
    const { clock, state } = calls(1, { lastWordsMs: 3_600_000 })
    await clock.advance(81_000)
    expect(state.isOver).toBe(true)
  })

  it('gives calls that were answered just now five seconds to begin', async () => {
    const { clock, state } = calls(0, { answered: 1 })
    await clock.advance(4_900)
    expect(state.isOver).toBe(false)
    await clock.advance(200)
    expect(state.isOver).toBe(true)
  })
})
