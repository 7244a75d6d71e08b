import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds } from './call.fixture.ts'

const clips = [{ kind: 'filler' as const, text: 'One moment.', ms: 800 }]

describe('A model of which nothing comes', () => {
  it('is bridged by a filler 2.5 s after the turn, give or take a tenth, which cancels nothing', () => {
    const call = Call.greeted({ clips })
    call.says('turn_1', 500)
    const turnAtMs = call.nowMs
    while (call.all('play_clip').length === 0 && call.nowMs - turnAtMs < 5_000) call.wait(10)
    expect(Math.abs(call.nowMs - turnAtMs - 2_500)).toBeLessThanOrEqual(100)
    expect([call.commands('cancel'), call.all('clear')]).toEqual([[], []])
  })

  it('is bridged again 2.5 s after the end of the filler', () => {
    const call = Call.greeted({ clips })
    call.says('turn_1', 500)
    call.wait(2_600)
    const endMs = call.nowMs - 100 + 800
    while (call.all('play_clip').length === 1 && call.nowMs - endMs < 5_000) call.wait(10)
    expect(Math.abs(call.nowMs - endMs - 2_500)).toBeLessThanOrEqual(100)
  })

  it('is not bridged while it says what came before, a piece at a time, and then is', () => {
    const call = Call.greeted({ clips, interruption: { ...INTERRUPTION, enabled: false, greetingGuardMs: 0 } })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.says('turn_2', 500)
    for (let pieces = 0; pieces < 10; pieces++) {
      call.wait(600)
      call.echoAll()
      call.audio('resp_1', 'item_1', 500)
    }
    expect([call.notes('dead_air'), call.all('play_clip')]).toEqual([[], []])
    call.ends('resp_1')
    call.wait(2_900)
    expect(call.notes('dead_air')).toEqual([])
    call.wait(200)
    expect([call.notes('dead_air').length, call.all('play_clip').length]).toEqual([1, 1])
  })

  it('is bridged by a sound where there are no words for that, and again 2.5 s after its end', () => {
    const call = Call.greeted()
    const playedAtMs: number[] = []
    call.says('turn_1', 500)
    const turnAtMs = call.nowMs
    while (playedAtMs.length < 2 && call.nowMs - turnAtMs < 10_000) {
      call.wait(10)
      const last = call.all('play_chords').at(-1)
      if (call.all('play_chords').length === playedAtMs.length || !last) continue
      playedAtMs.push(call.nowMs)
      call.audio(last.id, last.id, 500)
    }
    const [firstMs = 0, secondMs = 0] = playedAtMs
    expect(Math.abs(firstMs - turnAtMs - 2_500)).toBeLessThanOrEqual(100)
    expect(Math.abs(secondMs - firstMs - 500 - 2_500)).toBeLessThanOrEqual(100)
    expect(call.notes('dead_air')).toHaveLength(2)
    expect([call.commands('cancel'), call.all('clear'), call.turns.at(-1)?.role]).toEqual([[], [], 'caller'])
  })

  it('is not kept waiting by that sound when it answers', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(2_600)
    call.audio('own-wait-1', 'own-wait-1', 500)
    call.begins('resp_1')
    expect(kinds(call.effects)).toContain('clear')
    expect(call.commands('truncate')).toEqual([])
    expect(call.notes('interrupted')).toEqual([])
  })
})
