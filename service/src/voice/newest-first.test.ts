import { describe, expect, it } from 'vitest'
import { newestFirst } from './newest-first.ts'

describe('live calls in a list', () => {
  it('come newest first, and in one order that does not change where several began at once', () => {
    const call = (started_at: string, voice_session_id: string) => ({ started_at, voice_session_id })
    const at = (ms: string) => `2030-01-01T00:00:00.${ms}Z`
    const inOrder = [
      call(at('002'), 'a'),
      call(at('001'), 'c'),
      call(at('001'), 'b'),
      call(at('001'), 'a'),
      call(at('000'), 'z'),
    ]
    expect(inOrder.toReversed().toSorted(newestFirst)).toEqual(inOrder)
    expect([2, 0, 4, 1, 3].map((n) => inOrder[n] ?? call('', '')).toSorted(newestFirst)).toEqual(inOrder)
  })
})
