import { describe, expect, it } from 'vitest'
import type { TurnTimeline } from './session/events.ts'
import { stagesOf } from './turn-stages.ts'

const TURN: TurnTimeline = {
  ...{ speechEndMs: 1_000, committedMs: 1_500, askedMs: 1_510, firstByteMs: 2_000, firstSentMs: 2_001, heardMs: 2_041 },
  tools: [],
}
const tool = (startMs: number, endMs: number | null) => ({ callId: `${startMs}`, name: 'find', startMs, endMs })
const told = (timeline: Partial<TurnTimeline>) => Object.fromEntries(stagesOf({ ...TURN, ...timeline }))

describe('the stages of a turn', () => {
  it('are all of its time, each once', () => {
    expect(told({})).toEqual({ commit: 500, ask: 10, model: 490, send: 1, play: 40 })
  })

  it('count the time in which tools ran once, however many ran', () => {
    const tools = [tool(1_600, 1_700), tool(1_650, 1_800), tool(1_900, null)]
    expect(told({ tools })).toEqual({ commit: 500, ask: 10, tools: 300, model: 190, send: 1, play: 40 })
  })

  it('know nothing of a request that nobody made', () => {
    expect(told({ askedMs: null })).toEqual({ commit: 500, send: 1, play: 40 })
  })
})
