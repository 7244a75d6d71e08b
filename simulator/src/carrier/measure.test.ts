import { describe, expect, it } from 'vitest'
import { encodeMulaw, FRAME_BYTES, silence } from '../audio/mulaw.ts'
import { tone } from '../audio/tone.ts'
import { measureCall } from './measure.ts'
import { CallRecording } from './recording.ts'

/** A recording of two tracks given as [who speaks, for how long] stretches; silence is `-`. */
function record(stretches: ['caller' | 'agent' | 'both' | '-', number][]): CallRecording {
  const recording = new CallRecording()
  for (const [who, durationMs] of stretches) {
    const sound = tone([400], durationMs, 8000)
    const quiet = silence(durationMs)
    const caller = who === 'caller' || who === 'both' ? sound : quiet
    const agent = who === 'agent' || who === 'both' ? sound : quiet
    for (let at = 0; at < sound.length; at += FRAME_BYTES) {
      recording.add(caller.subarray(at, at + FRAME_BYTES), { frame: agent.subarray(at, at + FRAME_BYTES), seams: [] })
    }
  }
  return recording
}

describe('measureCall', () => {
  it('finds the first word, the gap of each answer, the longest silence and the shares', () => {
    const call = record([
      ['-', 400],
      ['agent', 1000],
      ['-', 700],
      ['caller', 1000],
      ['-', 800],
      ['agent', 1000],
      ['both', 200],
      ['caller', 400],
      ['-', 1200],
      ['agent', 300],
      ['-', 3000],
    ])
    const measures = measureCall(call, [{ kind: 'clear', playedMs: 0, droppedMs: 0, atMs: 1 }])
    expect(measures).toMatchObject({ durationMs: 10_000, firstWordMs: 400, longestSilenceMs: 1200, clears: 1 })
    expect(measures.replyGapsMs).toEqual([800, 1200])
    expect(measures.callerVoicedShare).toBeCloseTo(0.16, 2)
    expect(measures.agentVoicedShare).toBeCloseTo(0.25, 2)
  })

  it('has no first word and no gaps in a call in which nobody spoke', () => {
    expect(measureCall(record([['-', 1000]]), [])).toMatchObject({
      firstWordMs: null,
      replyGapsMs: [],
      longestSilenceMs: 0,
    })
  })

  it('counts a seam at which the wave jumps, and none where it goes on', () => {
    const recording = new CallRecording()
    const wave = encodeMulaw(Int16Array.from({ length: 800 }, (_, i) => 8000 * Math.cos((2 * Math.PI * 50 * i) / 8000)))
    // Half a period is missing before the third piece.
    const pieces = [wave.subarray(0, 160), wave.subarray(160, 320), wave.subarray(400, 560)]
    for (const frame of pieces) recording.add(silence(20), { frame, seams: [0] })
    expect(measureCall(recording, [])).toMatchObject({ seams: 3, clicks: 1 })
  })

  it('counts the pieces of the agent that were heard twice in a row', () => {
    const recording = new CallRecording()
    // A tone that rises: no piece of it is like another.
    const rising = encodeMulaw(Int16Array.from({ length: 1600 }, (_, i) => 8000 * Math.sin((i * i) / 4000)))
    const frames = Array.from({ length: 10 }, (_, i) => rising.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES))
    for (const frame of frames) recording.add(silence(20), { frame, seams: [] })
    expect(measureCall(recording, []).repeats).toBe(0)
    for (const frame of frames) recording.add(silence(20), { frame, seams: [] })
    expect(measureCall(recording, []).repeats).toBe(1)
  })
})
