import { describe, expect, it } from 'vitest'
import { DELTAS_PER_TURN, TurnScript, type TurnStep } from './turn-script.ts'

function play(script: TurnScript, untilMs: number): [atMs: number, step: TurnStep][] {
  const played: [number, TurnStep][] = []
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 20) {
    for (let step = script.due(nowMs); step !== undefined; step = script.due(nowMs)) played.push([nowMs, step])
  }
  return played
}

describe('TurnScript', () => {
  it('answers with ten deltas, 60 ms apart, the first of them marked', () => {
    const deltas = play(new TurnScript(0, 0), 2_000).filter(([, step]) => step.kind === 'delta')
    expect(deltas.map(([atMs]) => atMs)).toEqual(Array.from({ length: DELTAS_PER_TURN }, (_, i) => 500 + 60 * i))
    expect(deltas.map(([, step]) => step.kind === 'delta' && step.isFirst)).toEqual([true, ...Array(9).fill(false)])
  })

  it('has every third answer cut while it plays', () => {
    const starts = play(new TurnScript(0, 0), 30_000).flatMap(([atMs, step]) =>
      step.kind === 'speech_started' ? [[atMs, step.isBargeIn]] : [],
    )
    expect(starts).toEqual([
      [0, false],
      [6_000, false],
      [12_000, false],
      [14_500, true],
      [20_500, false],
      [26_500, false],
      [29_000, true],
    ])
  })

  it('finishes the turn that runs when it is told to end, and starts no other', () => {
    const script = new TurnScript(0, 0)
    play(script, 700)
    script.end()
    expect(script.isOver).toBe(false)
    expect(play(script, 20_000).at(-1)?.[1].kind).toBe('answer_done')
    expect(script.isOver).toBe(true)
  })
})
