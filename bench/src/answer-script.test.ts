import { describe, expect, it } from 'vitest'
import { AnswerScript, type AnswerStep, DELTAS_PER_ANSWER } from './answer-script.ts'

describe('AnswerScript', () => {
  it('answers with ten deltas, 60 ms apart, the first of them marked, and then it is done once', () => {
    const script = new AnswerScript({ response: 'r', item: 'i' }, 1_000)
    const played: [number, AnswerStep][] = []
    for (let nowMs = 1_000; nowMs <= 3_000; nowMs += 20) {
      for (let step = script.due(nowMs); step !== undefined; step = script.due(nowMs)) played.push([nowMs, step])
    }
    const deltas = Array.from({ length: DELTAS_PER_ANSWER }, (_, i) => [
      1_100 + 60 * i,
      { kind: 'delta', isFirst: i === 0 },
    ])
    expect(played).toEqual([...deltas, [1_700, { kind: 'done' }]])
  })

  it('takes the time to its first delta that it is given', () => {
    const script = new AnswerScript({ response: 'r', item: 'i' }, 1_000, 300)
    expect([script.due(1_299), script.due(1_300)]).toEqual([undefined, { kind: 'delta', isFirst: true }])
  })
})
