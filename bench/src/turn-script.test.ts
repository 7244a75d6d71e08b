import { describe, expect, it } from 'vitest'
import { TurnScript, type TurnStep } from './turn-script.ts'

function play(script: TurnScript, untilMs: number): [atMs: number, step: TurnStep][] {
  const played: [number, TurnStep][] = []
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 20) {
    for (let step = script.due(nowMs); step !== undefined; step = script.due(nowMs)) played.push([nowMs, step])
  }
  return played
}

describe('TurnScript', () => {
  it('has the caller speak for 0.4 s, and the words follow half a second later', () => {
    const [...steps] = play(new TurnScript(0, 1_000), 3_000).map(([atMs, { kind }]) => [atMs, kind])
    expect(steps).toEqual([
      [1_000, 'speech_started'],
      [1_400, 'speech_ended'],
      [1_900, 'transcribed'],
    ])
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
    play(script, 300)
    script.end()
    expect(script.isOver).toBe(false)
    expect(play(script, 20_000).at(-1)?.[1].kind).toBe('transcribed')
    expect(script.isOver).toBe(true)
  })
})
