import { describe, expect, it } from 'vitest'
import type { SeenCall } from './call-watch.ts'
import { comebackOf } from './comeback.ts'

const KILLED_MS = 1_000
const OLD = { startedMs: 100, firstMediaMs: 120, endedMs: 1_001 }

function seen(call: Partial<SeenCall>): SeenCall {
  return { sid: 'CA1', status: 'in-progress', endedBy: null, endedMs: null, streams: [OLD], talked: [], ...call }
}

describe('the comeback of a call', () => {
  it('is the stream that began after the kill and is still there, with its first audio', () => {
    const refused = { startedMs: 1_100, firstMediaMs: null, endedMs: 1_110 }
    const streams = [OLD, refused, { startedMs: 1_200, firstMediaMs: 1_450, endedMs: null }]
    expect(comebackOf(seen({ streams }), KILLED_MS)).toEqual({
      streamMs: 200,
      audioMs: 450,
      answerMs: 450,
      isInProgress: true,
    })
  })

  it('counts the answer from the end of what the caller said after the kill', () => {
    const streams = [OLD, { startedMs: 1_200, firstMediaMs: 3_450, endedMs: null }]
    const talked = [
      { beganMs: 900, endedMs: 3_000 },
      { beganMs: 5_000, endedMs: 6_000 },
    ]
    expect(comebackOf(seen({ streams, talked }), KILLED_MS)).toMatchObject({ audioMs: 2_450, answerMs: 450 })
  })

  it('counts it from the kill when the caller had ended before', () => {
    const streams = [OLD, { startedMs: 1_200, firstMediaMs: 1_450, endedMs: null }]
    expect(comebackOf(seen({ streams, talked: [{ beganMs: 300, endedMs: 900 }] }), KILLED_MS).answerMs).toBe(450)
  })

  it('is none for a call without a new stream, or whose end came', () => {
    const none = { streamMs: null, audioMs: null, answerMs: null }
    expect(comebackOf(seen({}), KILLED_MS)).toEqual({ ...none, isInProgress: true })
    expect(comebackOf(seen({ status: 'completed' }), KILLED_MS)).toEqual({ ...none, isInProgress: false })
  })
})
