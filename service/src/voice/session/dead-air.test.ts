import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds } from './call.fixture.ts'

const clips = [
  { kind: 'apology' as const, text: 'I am sorry.', ms: 900 },
  { kind: 'filler' as const, text: 'One moment.', ms: 800 },
]

describe('A model of which nothing comes', () => {
  it('is bridged by a filler 2.5 s after the turn, give or take a tenth, which cancels nothing', () => {
    const call = Call.greeted({ clips })
    call.says('turn_1', 500)
    const turnAtMs = call.nowMs
    while (call.all('play_clip').length === 0 && call.nowMs - turnAtMs < 5_000) call.wait(10)
    expect(Math.abs(call.nowMs - turnAtMs - 2_500)).toBeLessThanOrEqual(100)
    expect([call.commands('cancel'), call.all('clear')]).toEqual([[], []])
    expect(call.all('play_clip')).toMatchObject([{ index: 1 }])
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

  it('is bridged as soon where an answer that the caller has spoken into tells of its end meanwhile: nobody has heard that', () => {
    const call = Call.greeted({ clips })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'Some words.')
    call.says('turn_2', 500)
    const turnAtMs = call.nowMs
    call.wait(1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.ends('resp_1', { status: 'cancelled' })
    while (call.all('play_clip').length === 0 && call.nowMs - turnAtMs < 5_000) call.wait(10)
    expect(Math.abs(call.nowMs - turnAtMs - 2_500)).toBeLessThanOrEqual(100)
  })

  it('is bridged by a sound where there are no words for that, and again 2.5 s after its end', () => {
    const call = Call.greeted()
    const playedAtMs: number[] = []
    call.says('turn_1', 500)
    const turnAtMs = call.nowMs
    while (playedAtMs.length < 2 && call.nowMs - turnAtMs < 10_000) {
      call.wait(10)
      if (call.all('play_chords').length > playedAtMs.length) playedAtMs.push(call.nowMs)
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
    expect(call.all('play_chords')).toHaveLength(1)
    call.begins('resp_1')
    expect(kinds(call.effects)).toContain('clear')
    expect(call.commands('truncate')).toEqual([])
    expect(call.notes('interrupted')).toEqual([])
  })

  it('is bridged behind a tool that it had announced, and behind the words of that', () => {
    const call = announcing()
    call.wait(1_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.audio('resp_1', 'item_1', 500)
    call.wait(2_900)
    expect(call.notes('dead_air')).toEqual([])
    call.wait(200)
    expect([call.notes('dead_air').length, call.all('play_clip').length]).toEqual([1, 1])
    call.ends('resp_1')
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(4_000)
    expect(call.notes('dead_air')).toHaveLength(1)
  })

  it('is bridged before the rest of an answer whose session was lost in the middle of it', () => {
    const call = Call.greeted({ clips })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I shall look')
    call.audio('resp_1', 'item_1', 500)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    call.wait(2_900)
    expect(call.notes('dead_air')).toEqual([])
    call.wait(200)
    expect(call.all('play_clip')).toHaveLength(1)
  })

  it('is not bridged while the caller presses keys, behind which the answer is held back', () => {
    const call = announcing()
    call.audio('resp_1', 'item_1', 500)
    call.wait(1_000)
    call.ends('resp_1')
    for (const digit of '12345') {
      call.do({ type: 'dtmf', digit })
      call.wait(800)
      if (digit === '1')
        call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    }
    expect(call.notes('dead_air')).toEqual([])
    call.wait(6_000)
    expect(call.notes('dead_air').length).toBeGreaterThan(0)
  })

  it('is bridged where no session is there yet, behind what the caller hears without one, and not once it is', () => {
    const GREETING = { kind: 'greeting' as const, text: 'Hello.', ms: 1_000 }
    const silent = new Call()
    const greeted = new Call({ clips: [GREETING, ...clips] })
    greeted.wait(GREETING.ms)
    for (const call of [silent, greeted]) {
      call.wait(2_400)
      expect(call.notes('dead_air')).toEqual([])
      call.wait(200)
      expect(call.notes('dead_air')).toHaveLength(1)
      call.model({ type: 'ready' })
      call.wait(4_000)
      expect(call.notes('dead_air')).toHaveLength(1)
    }
    // Words for that are out of place before the first ones.
    expect([silent.all('play_chords').length, silent.all('play_clip').length]).toEqual([1, 0])
    expect(greeted.all('play_clip').map(({ index }) => index)).toEqual([0, 2])
  })

  it('is not bridged where nobody waits for it, as for the greeting', () => {
    const call = new Call({ clips })
    call.model({ type: 'ready' })
    call.wait(4_000)
    expect(call.notes('dead_air')).toEqual([])
  })
})

describe('A sound that bridges the middle of an answer', () => {
  it.each<[string, (call: Call) => void]>([
    ['the caller speaks into it', (call) => call.speaks('turn_2', 300)],
    ['the caller presses a key', (call) => call.do({ type: 'dtmf', digit: '5' })],
    ['the agent presses one', (call) => call.do({ type: 'press', keys: '5' })],
  ])('ends nothing but itself where that is not to be interrupted: %s, and all of it is heard', (_what, act) => {
    const call = Call.greeted({ interruption: { ...INTERRUPTION, enabled: false } })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'agent' })
    const words = { type: 'agent_transcript', responseId: 'resp_1', itemId: 'item_1' } as const
    call.model({ ...words, text: 'We are open', final: false })
    call.audio('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    call.wait(2_520)
    expect(call.all('play_chords')).toHaveLength(1)
    act(call)
    expect([call.all('discard'), call.all('clear'), call.commands('cancel')]).toEqual([[], [], []])
    call.model({ ...words, text: 'We are open until six.', final: true })
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.ends('resp_1')
    call.wait(3_000)
    call.echoAll()
    const heard = { text: 'We are open until six.', unheard: '', sentMs: 2_000, heardMs: 2_000, interrupted: false }
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject(heard)
  })
})

/** "One moment", and a tool, which are still being said and run. */
function announcing(): Call {
  const call = Call.greeted({ clips })
  call.says('turn_1', 500)
  call.begins('resp_1')
  call.words('resp_1', 'item_1', 'One moment.')
  call.audio('resp_1', 'item_1', 500)
  call.model({
    ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i_1', callId: 'c1', name: 'look_up', argumentsText: '{}' },
  })
  return call
}
