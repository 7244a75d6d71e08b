import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'
import { ANSWER, answers, FILLER, PREAMBLE, preamble, turn } from './several-items.fixture.ts'

function calls(call: Call, callId: string, name = 'look_up'): void {
  const tool = { responseId: 'resp_1', itemId: `i_${callId}`, callId, name, argumentsText: '{}' }
  call.model({ type: 'tool_call', ...tool })
}

function finishes(call: Call, callId: string, facts: { status?: 'ok' | 'error'; endsCall?: boolean } = {}): void {
  call.do({ type: 'tool_finished', outcome: { callId, output: '{}', status: 'ok', endsCall: false, ...facts } })
}

describe('An answer that says something ahead of its tools', () => {
  it('has them run, and is asked for once with all that they have found', () => {
    const call = Call.greeted({ asyncTools: ['search'] })
    call.says('turn_1', 500)
    call.begins('resp_1')
    preamble(call, true)
    calls(call, 'c1')
    calls(call, 'c2', 'search')
    calls(call, 'c3')
    call.ends('resp_1')
    expect(call.all('run_tool').map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3'])
    finishes(call, 'c3', { status: 'error' })
    expect(call.commands('respond')).toHaveLength(2)
    finishes(call, 'c1')
    expect(call.commands('tool_result').map(({ callId }) => callId)).toEqual(['c2', 'c3', 'c1'])
    expect(call.commands('respond')).toHaveLength(3)
    call.answer('resp_2', 'item_3', 1_000)
    finishes(call, 'c2')
    expect(call.commands('respond')).toHaveLength(4)
  })

  it('may say more behind them: what they have found is asked for once that is over, and said behind it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    preamble(call, true)
    calls(call, 'c1')
    finishes(call, 'c1')
    expect(call.commands('respond')).toHaveLength(2)
    answers(call)
    expect(call.commands('respond')).toHaveLength(3)
    call.answer('resp_2', 'item_3', 1_000, 'And it is paid.')
    call.wait(6_500)
    call.echoAll()
    expect(call.turns.slice(-3).map(({ text }) => text)).toEqual([PREAMBLE, ANSWER, 'And it is paid.'])
    expect(call.commands('cancel')).toEqual([])
  })

  it.each([100, 1_000, 1_900, 2_400])(
    'is not followed at once by words that say the same: they wait, %i ms of it',
    (ms) => {
      const call = Call.greeted({ clips: [FILLER] })
      call.says('turn_1', 500)
      call.begins('resp_1')
      preamble(call, true, ms)
      calls(call, 'c1')
      call.ends('resp_1')
      call.wait(ms + 1_900)
      expect(call.all('play_clip')).toEqual([])
      call.wait(200)
      expect(call.all('play_clip')).toHaveLength(1)
    },
  )

  it('is followed by such words as late where it has said more behind the tool', () => {
    const call = Call.greeted({ clips: [FILLER] })
    call.says('turn_1', 500)
    call.begins('resp_1')
    calls(call, 'c1')
    call.wait(1_000)
    call.item('resp_1', 'item_1', 900, PREAMBLE)
    call.ends('resp_1')
    call.wait(900 + 1_900)
    expect(call.all('play_clip')).toEqual([])
    call.wait(200)
    expect(call.all('play_clip')).toHaveLength(1)
  })

  it.each([
    ['behind both', true],
    ['between them', false],
  ])('and ends the call %s has all of its words heard before that', (_where, isBehindBoth) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    preamble(call, true)
    if (isBehindBoth) call.item('resp_1', 'item_2', 3_000, ANSWER)
    calls(call, 'c1', 'end_call')
    if (!isBehindBoth) call.item('resp_1', 'item_2', 3_000, ANSWER)
    finishes(call, 'c1', { endsCall: true })
    call.ends('resp_1')
    call.wait(4_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(200)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    expect(call.turns.slice(-2)).toMatchObject([
      { text: PREAMBLE, interrupted: false },
      { text: ANSWER, interrupted: false },
    ])
  })

  it('and ends the call between them does not end it while the model still thinks about the last words', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    preamble(call, true)
    calls(call, 'c1', 'end_call')
    finishes(call, 'c1', { endsCall: true })
    call.wait(5_000)
    call.echoAll()
    expect(call.all('hang_up')).toEqual([])
    answers(call)
    call.wait(3_100)
    call.echoAll()
    expect([turn(call, 'item_2')?.interrupted, call.all('hang_up').length]).toEqual([false, 1])
  })

  it('and puts the call through beside another tool does so once all of its words were heard', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    preamble(call, true)
    calls(call, 'c1')
    calls(call, 'c2', 'transfer_call')
    call.do({ type: 'transfer', id: 't1', target: '+15550100', isWarm: false, isAgents: true })
    finishes(call, 'c2')
    finishes(call, 'c1', { status: 'error' })
    call.item('resp_1', 'item_2', 2_000, ANSWER)
    call.ends('resp_1')
    call.wait(3_900)
    expect(call.all('begin_transfer')).toEqual([])
    call.wait(200)
    call.echoAll()
    expect([call.all('begin_transfer').length, call.commands('respond').length]).toEqual([1, 2])
    expect(call.commands('tool_result')).toHaveLength(2)
  })
})
