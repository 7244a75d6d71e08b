import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, planWith } from './call.fixture.ts'
import type { Plan } from './plan.ts'

function calling(call: Call, callId: string, name = 'look_up', responseId = 'resp_1'): void {
  call.model({ type: 'tool_call', responseId, itemId: `i_${callId}`, callId, name, argumentsText: '{"q":1}' })
}

function answering(call: Call, callId: string): void {
  call.do({ type: 'tool_finished', outcome: { callId, output: '{"a":2}', status: 'ok', endsCall: false } })
}

/** An answer that calls a tool and says nothing. */
function asking(...callIds: string[]): Call {
  const call = Call.greeted()
  call.says('turn_1', 500)
  call.begins('resp_1')
  for (const callId of callIds) calling(call, callId)
  call.ends('resp_1')
  return call
}

describe('A tool during which the agent goes on talking', () => {
  const GOES_ON = { asyncTools: ['look_up'] }

  function asked(...names: string[]): Call {
    const call = Call.greeted(GOES_ON)
    call.says('turn_1', 500)
    call.begins('resp_1')
    for (const [index, name] of names.entries()) calling(call, `c${index + 1}`, name)
    call.ends('resp_1')
    return call
  }

  it('is answered for at once, and the model asked to go on', () => {
    const call = asked('look_up')
    expect(call.all('run_tool')).toHaveLength(1)
    expect(call.commands('tool_result')).toMatchObject([{ callId: 'c1', output: expect.stringContaining('running') }])
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is told of as news when it is done, and only then', () => {
    const call = asked('look_up')
    call.answer('resp_2', 'item_2', 800)
    call.wait(1_000)
    call.echoAll()
    expect(call.commands('system_message')).toEqual([])
    answering(call, 'c1')
    expect(call.commands('system_message').at(-1)?.text).toContain('{"a":2}')
    expect(call.commands('tool_result')).toHaveLength(1)
    expect(call.commands('respond')).toHaveLength(4)
    expect(call.notes('tool').map(({ status }) => status)).toEqual(['started', 'ok'])
    answering(call, 'c1')
    expect(call.commands('respond')).toHaveLength(4)
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toContain('{"a":2}')
  })

  it('is no reason to fill the wait', () => {
    const call = asked('look_up')
    call.answer('resp_2', 'item_2', 800)
    call.wait(5_000)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is refused when eight run so, and the model is asked to go on without it, once for all that it called', () => {
    const call = asked(...Array.from({ length: 10 }, () => 'look_up'))
    expect(call.all('run_tool')).toHaveLength(8)
    expect(call.all('refuse_tool').map(({ callId }) => callId)).toEqual(['c9', 'c10'])
    call.answer('resp_2', 'item_2', 800)
    call.wait(1_000)
    call.echoAll()
    call.says('turn_2', 500)
    const before = call.commands('respond').length
    call.begins('resp_3')
    calling(call, 'c11', 'look_up', 'resp_3')
    call.ends('resp_3')
    expect(call.commands('tool_result').at(-1)).toMatchObject({
      callId: 'c11',
      output: expect.stringContaining('Too many'),
    })
    expect(call.commands('respond')).toHaveLength(before + 1)
    expect(call.all('run_tool')).toHaveLength(8)
  })

  it('is not asked for on and on of a model that calls it whatever it is told', () => {
    const call = asked(...Array.from({ length: 8 }, () => 'look_up'))
    const before = call.commands('respond').length
    for (let n = 9; call.state.answers.asked !== null && n < 30; n++) {
      call.begins(`resp_${n}`)
      calling(call, `c${n}`, 'look_up', `resp_${n}`)
      call.ends(`resp_${n}`)
    }
    expect(call.commands('respond').slice(before)).toMatchObject([{ noTools: true }])
  })

  it.each([
    ['before', ['says', 'calls']],
    ['behind', ['calls', 'says']],
  ] as const)('is not asked for on and on of a model that speaks with each call either: %s it', (_, parts) => {
    const call = asked(...Array.from({ length: 8 }, () => 'look_up'))
    const before = call.commands('respond').length
    for (let n = 9; call.state.answers.asked !== null && n < 30; n++) {
      call.begins(`resp_${n}`)
      for (const part of parts) {
        if (part === 'says') call.audio(`resp_${n}`, `item_${n}`, 800)
        else calling(call, `c${n}`, 'look_up', `resp_${n}`)
      }
      call.ends(`resp_${n}`)
    }
    expect(call.commands('respond').slice(before)).toMatchObject([{ noTools: true }])
  })

  it('may be called again once the agent has answered without one', () => {
    const call = asked(...Array.from({ length: 9 }, () => 'look_up'))
    expect(call.commands('respond').at(-1)?.noTools).toBe(true)
    call.answer('resp_2', 'item_2', 800)
    call.wait(1_000)
    call.echoAll()
    answering(call, 'c1')
    expect(call.commands('respond').at(-1)?.noTools).toBeUndefined()
  })

  it('beside one that is waited for makes the model wait for that', () => {
    const call = asked('look_up', 'other')
    expect(call.commands('respond')).toHaveLength(2)
    answering(call, 'c1')
    expect(call.commands('respond')).toHaveLength(2)
    answering(call, 'c2')
    expect(call.commands('respond')).toHaveLength(3)
  })
})

describe('A tool', () => {
  it('is run once, however often the model calls it by the same id', () => {
    const call = asking('c1', 'c1')
    answering(call, 'c1')
    calling(call, 'c1')
    expect(call.all('run_tool')).toMatchObject([{ callId: 'c1', name: 'look_up', argumentsText: '{"q":1}' }])
  })

  it('has its answer told, and then the model is asked to go on', () => {
    const call = asking('c1')
    answering(call, 'c1')
    expect(call.commands('tool_result')).toEqual([{ type: 'tool_result', callId: 'c1', output: '{"a":2}' }])
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('among several makes the model wait for the last of them, and it is asked once', () => {
    const call = asking('c1', 'c2')
    answering(call, 'c2')
    expect(call.commands('respond')).toHaveLength(2)
    answering(call, 'c1')
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.commands('tool_result')).toHaveLength(2)
  })

  it('that takes long makes the agent say so', () => {
    const call = asking('c1')
    call.wait(1_900)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(200)
    expect(call.commands('respond').at(-1)?.instructions).toContain('takes a moment')
  })

  it('is waited for in the agent’s own words where it was given some', () => {
    const call = Call.greeted({ fillers: { afterMs: 500, phrases: ['Let me see.'] } })
    calling(call, 'c1')
    call.wait(500)
    expect(call.commands('respond').at(-1)?.instructions).toContain('Let me see.')
  })

  it('is not talked over: who is speaking when it takes long is heard out first', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    calling(call, 'c1')
    call.ends('resp_1')
    call.wait(2_000)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(4_500)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is not called again by the words that fill its wait', () => {
    const call = asking('c1')
    call.wait(2_000)
    call.begins('filler')
    call.model({
      type: 'tool_call',
      responseId: 'filler',
      itemId: 'x',
      callId: 'c9',
      name: 'look_up',
      argumentsText: '{}',
    })
    expect(call.all('run_tool')).toHaveLength(1)
    expect(call.commands('tool_result')).toMatchObject([{ callId: 'c9' }])
    expect(call.all('refuse_tool')).toMatchObject([
      { callId: 'c9', name: 'look_up', argumentsText: '{}', output: call.commands('tool_result')[0]?.output },
    ])
  })

  it('is refused when eight run already', () => {
    const call = asking(...Array.from({ length: 12 }, (_, n) => `c${n}`))
    expect(call.all('run_tool')).toHaveLength(8)
    expect(call.commands('tool_result')).toHaveLength(4)
    expect(call.all('refuse_tool').map(({ callId }) => callId)).toEqual(['c8', 'c9', 'c10', 'c11'])
  })

  it('is remembered for a while only: the list of those that ran does not grow with the call', () => {
    const call = Call.greeted()
    for (let n = 0; n < 2_000; n++) {
      calling(call, `c${n}`)
      answering(call, `c${n}`)
    }
    expect(call.state.seenTools.length).toBeLessThanOrEqual(256)
    expect(call.state.runningTools).toEqual([])
  })

  it('is told of to those who watch the call, when it starts and how it ended', () => {
    const call = asking('c1')
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '', status: 'timeout', endsCall: false } })
    expect(call.notes('tool').map(({ status }) => status)).toEqual(['started', 'timeout'])
  })

  it('is told of to them as well when it is refused, as it is written down', () => {
    const call = asking(...Array.from({ length: 9 }, (_, n) => `c${n}`))
    const told = call.notes('tool').filter(({ callId }) => callId === 'c8')
    expect(told).toEqual([{ type: 'tool', callId: 'c8', name: 'look_up', status: 'error' }])
  })
})

describe('What the caller says while a tool runs', () => {
  const PLANS = [
    ['waited for', {}],
    ['talked beside', { asyncTools: ['look_up'] }],
  ] as const

  /** The tool runs, the agent has said so, and the caller has spoken since: an answer to that is asked for. */
  function spokenInto(changes: Partial<Plan>): Call {
    const call = Call.greeted(changes)
    call.says('turn_1', 500)
    call.begins('resp_1')
    calling(call, 'c1')
    call.ends('resp_1')
    call.wait(2_000)
    call.answer('resp_2', 'item_2', 500)
    call.wait(500)
    call.echoAll()
    call.says('turn_2', 500)
    return call
  }

  it.each(PLANS)('is answered once with the result of one that is %s, where the answer had not begun', (_, changes) => {
    const call = spokenInto(changes)
    const asked = call.commands('respond').length
    answering(call, 'c1')
    expect(call.commands('respond')).toHaveLength(asked)
    call.begins('resp_3')
    expect(call.commands('cancel').at(-1)).toMatchObject({ responseId: 'resp_3' })
    call.ends('resp_3', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(asked + 1)
    call.answer('resp_4', 'item_4', 500)
    call.wait(5_000)
    expect(call.commands('respond')).toHaveLength(asked + 1)
  })

  it.each(PLANS)(
    'is answered once with the result of one that is %s, where the answer was not heard yet',
    (_, changes) => {
      const call = spokenInto(changes)
      const asked = call.commands('respond').length
      call.begins('resp_3')
      answering(call, 'c1')
      call.ends('resp_3', { status: 'cancelled' })
      call.answer('resp_4', 'item_4', 500)
      call.wait(5_000)
      expect([call.commands('cancel').length, call.commands('respond').length]).toEqual([1, asked + 1])
    },
  )

  it.each(PLANS)(
    'is answered to the end once that is heard, and then comes the result of one that is %s',
    (_, changes) => {
      const call = spokenInto(changes)
      const asked = call.commands('respond').length
      call.begins('resp_3')
      call.audio('resp_3', 'item_3', 500)
      answering(call, 'c1')
      expect(call.commands('cancel')).toEqual([])
      call.ends('resp_3')
      expect(call.commands('respond')).toHaveLength(asked + 1)
    },
  )

  it('is answered all the same where nothing is to be said of the result', () => {
    const call = spokenInto({})
    call.do({
      type: 'tool_finished',
      outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false, isSilent: true },
    })
    call.answer('resp_3', 'item_3', 500)
    expect([call.commands('cancel'), call.state.answers.lastDoneId]).toEqual([[], 'resp_3'])
  })

  it('is answered with the result, too, where the model was slow and begins the first answer when the second is asked for', () => {
    const call = spokenInto({})
    const asked = call.commands('respond').length
    answering(call, 'c1')
    call.wait(6_000)
    call.begins('resp_3')
    const [{ requestId } = { requestId: '' }] = call.commands('respond').slice(-1)
    call.model({ type: 'refused', requestId, code: 'active', message: '', fault: 'benign' })
    call.audio('resp_3', 'item_3', 500)
    call.ends('resp_3')
    call.wait(3_000)
    expect(call.commands('respond')).toHaveLength(asked + 2)
  })

  it('is answered by another session where the model does not begin either answer', () => {
    const call = spokenInto({})
    const asked = call.commands('respond').length
    answering(call, 'c1')
    call.wait(6_000)
    expect(call.commands('respond')).toHaveLength(asked + 1)
    call.wait(6_000)
    expect(call.all('open_model').length).toBeGreaterThan(1)
  })
})

describe('Tools in a row', () => {
  /** An answer that calls a tool and says nothing. */
  function calls(call: Call, n: number): void {
    call.begins(`resp_${n}`)
    call.model({
      ...{ type: 'tool_call', responseId: `resp_${n}`, itemId: `i_${n}`, callId: `c${n}` },
      ...{ name: 'look_up', argumentsText: '{}' },
    })
    call.ends(`resp_${n}`)
  }

  function chain(call: Call, from: number, until: number): void {
    for (let n = from; n <= until; n++) {
      calls(call, n)
      answering(call, `c${n}`)
    }
  }

  function chained(until: number, plan: Parameters<typeof Call.greeted>[0] = {}): Call {
    const call = Call.greeted(plan)
    call.says('turn_1', 500)
    chain(call, 1, until)
    return call
  }

  it('are run, ten of them, and the next is refused: the model is told to answer, and asked for that without tools', () => {
    const call = chained(11)
    expect(call.all('run_tool')).toHaveLength(10)
    const [refused, ...more] = call.all('refuse_tool')
    expect([refused?.callId, refused?.output, more]).toEqual(['c11', expect.stringContaining('answer the caller'), []])
    expect(call.commands('tool_result').at(-1)).toMatchObject({ callId: 'c11', output: refused?.output })
    const asked = call.commands('respond')
    expect(asked.map(({ noTools = false }) => noTools)).toEqual([...Array.from({ length: 12 }, () => false), true])
  })

  it('are not refused any more once the agent was heard, or the caller', () => {
    const heard = chained(11)
    heard.answer('resp_12', 'item_12', 800)
    heard.wait(1_000)
    heard.echoAll()
    chain(heard, 13, 13)
    const spoken = chained(11)
    spoken.says('turn_2', 500)
    chain(spoken, 12, 12)
    const pressed = chained(11)
    pressed.do({ type: 'dtmf', digit: '#' })
    chain(pressed, 12, 12)
    for (const call of [heard, spoken, pressed]) {
      expect([call.all('run_tool').length, call.commands('respond').at(-1)?.noTools]).toEqual([11, undefined])
    }
  })

  it('are in a row also where words have filled the wait', () => {
    const call = chained(5)
    calls(call, 6)
    call.wait(2_000)
    call.answer('filler', 'item_filler', 800)
    answering(call, 'c6')
    chain(call, 7, 11)
    expect(call.all('refuse_tool').map(({ callId }) => callId)).toEqual(['c11'])
  })

  it.each([
    ['waited for', {}],
    ['run beside the conversation', { asyncTools: ['look_up'] }],
  ])(
    'are in a row also where each comes with words that are still to be heard, when they are %s: nobody is talked at for minutes',
    (_, plan) => {
      const call = Call.greeted(plan)
      call.says('turn_1', 500)
      for (let n = 1; n <= 13; n++) {
        call.begins(`resp_${n}`)
        call.audio(`resp_${n}`, `item_${n}`, 3_000)
        call.model({
          ...{ type: 'tool_call', responseId: `resp_${n}`, itemId: `i_${n}`, callId: `c${n}` },
          ...{ name: 'look_up', argumentsText: '{}' },
        })
        call.ends(`resp_${n}`)
        answering(call, `c${n}`)
        call.wait(500)
      }
      expect([call.all('run_tool').length, call.all('refuse_tool')[0]?.callId]).toEqual([10, 'c11'])
      expect(call.commands('respond').at(-1)?.noTools).toBe(true)
    },
  )

  it('are not asked for on and on of a model that calls them all the same', () => {
    const call = chained(11)
    const asked = call.commands('respond').length
    chain(call, 12, 12)
    expect([call.all('run_tool').length, call.commands('respond').length]).toEqual([10, asked])
    call.wait(10_000)
    expect(call.commands('respond')).toHaveLength(asked + 1)
  })

  it('leave the silence to the clock of the caller, however often a filler sounds meanwhile', () => {
    const call = chained(11, { clips: [{ kind: 'filler', text: 'One moment.', ms: 800 }] })
    const asked = call.commands('respond').length
    chain(call, 12, 12)
    const sounded = new Set<string>()
    for (let ms = 0; ms < 12_000; ms += 100) {
      call.wait(100)
      const last = call.all('play_clip').at(-1)
      if (!last || sounded.has(last.id)) continue
      sounded.add(last.id)
      call.audio(last.id, last.id, 800)
    }
    expect(sounded.size).toBeGreaterThan(1)
    expect(call.commands('respond')).toHaveLength(asked + 1)
  })

  it('owe nobody anything after keys that the agent has pressed: a menu hears no filler', () => {
    const call = Call.greeted({ clips: [{ kind: 'filler', text: 'One moment.', ms: 800 }] })
    call.says('turn_1', 500)
    calls(call, 1)
    call.do({
      type: 'tool_finished',
      outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false, isSilent: true },
    })
    call.wait(9_000)
    expect([call.all('play_clip'), call.commands('respond').length]).toEqual([[], 2])
    call.wait(1_500)
    expect(call.commands('respond')).toHaveLength(3)
  })
})

describe('The end of the call that an answer calls behind another tool', () => {
  const done = (call: Call, callId: string, status: 'ok' | 'error' = 'ok') =>
    call.do({ type: 'tool_finished', outcome: { callId, output: '{"a":2}', status, endsCall: callId === 'end' } })
  const told = (call: Call) => call.commands('tool_result').find(({ callId }) => callId === 'end')?.output

  /** It has said goodbye, and is done with the end, while the other tool still runs. */
  function ending(...callIds: string[]): Call {
    return endingWith({}, callIds)
  }

  function endingWith(changes: Partial<Plan>, callIds: string[]): Call {
    const call = Call.greeted(changes)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'Goodbye.')
    call.audio('resp_1', 'item_1', 500)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    for (const callId of callIds) calling(call, callId)
    call.ends('resp_1')
    done(call, 'end')
    return call
  }

  it('waits for that, and comes once it is done', () => {
    const call = ending('first', 'end')
    expect([call.state.ending, told(call)]).toEqual([null, undefined])
    done(call, 'first')
    expect([call.state.ending?.reason, told(call)]).toEqual(['agent_hangup', '{"a":2}'])
    call.wait(500)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('does not wait for what was called behind it, nor for what another answer called', () => {
    expect(ending('end', 'second').state.ending?.reason).toBe('agent_hangup')
    const call = asking('first')
    call.begins('resp_2')
    calling(call, 'end', 'end_call', 'resp_2')
    done(call, 'end')
    call.ends('resp_2')
    expect(call.commands('tool_result')).toMatchObject([{ callId: 'end', output: '{"a":2}' }])
  })

  it('does not come where that failed, before it was called or since: the model says so, and may end the call then', () => {
    const since = ending('first', 'end')
    done(since, 'first', 'error')
    const before = Call.greeted()
    before.says('turn_1', 500)
    before.begins('resp_1')
    calling(before, 'first')
    done(before, 'first', 'error')
    calling(before, 'end')
    done(before, 'end')
    before.ends('resp_1')
    for (const call of [since, before]) {
      expect([call.state.ending, told(call)]).toEqual([null, expect.stringContaining('failed')])
      expect(call.commands('respond')).toHaveLength(3)
      call.begins('resp_2')
      calling(call, 'end_2', 'end_call', 'resp_2')
      call.do({ type: 'tool_finished', outcome: { callId: 'end_2', output: '1', status: 'ok', endsCall: true } })
      expect(call.commands('tool_result').at(-1)).toMatchObject({ callId: 'end_2', output: '1' })
    }
  })

  it('is waited for no longer than that where it is called twice', () => {
    const call = ending('first', 'end', 'end_again')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_again', output: '2', status: 'ok', endsCall: true } })
    expect(call.commands('tool_result')).toEqual([])
    done(call, 'first', 'error')
    expect(call.commands('tool_result').map(({ callId }) => callId)).toEqual(['first', 'end', 'end_again'])
    expect([call.state.runningTools, call.commands('respond').length]).toEqual([[], 3])
  })

  it('does not come where that gave the call to another agent, who goes on with it', () => {
    const call = ending('first', 'end')
    call.do({ type: 'hand_off', plan: planWith(), agentName: 'Billie', summary: '' })
    done(call, 'first')
    call.model({ type: 'ready' })
    expect([call.state.ending, call.commands('respond').length]).toEqual([null, 3])
    expect(call.commands('system_message').at(-1)?.text).toContain('gave the call to another agent')
  })

  it('does not come where that puts the call through', () => {
    const call = ending('first', 'end')
    call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: true, isAgents: true })
    call.wait(600)
    call.echoAll()
    call.do({ type: 'transfer_ringing' })
    done(call, 'first')
    expect([call.state.ending, told(call)]).toEqual([null, expect.stringContaining('Somebody else')])
  })

  it('does not come where the caller has spoken meanwhile', () => {
    const call = ending('first', 'end')
    call.wait(600)
    call.echoAll()
    call.says('turn_2', 600, 'One more thing.')
    done(call, 'first')
    expect([call.state.ending, told(call)]).toEqual([null, expect.stringContaining('The caller spoke')])
  })

  const LOST = { type: 'closed', code: '1006', message: 'gone', fault: 'retry' } as const

  /** Its goodbye was heard. */
  function parted(): Call {
    const call = ending('first', 'end')
    call.wait(600)
    call.echoAll()
    return call
  }

  it.each<[string, (call: Call) => void]>([
    [
      'a turn, which is lost with the line to the model',
      (call) => {
        call.speaks('turn_2', 1_500)
        call.model({ type: 'speech_stopped', itemId: 'turn_2', audioEndMs: 0 })
        call.model(LOST)
      },
    ],
    [
      'half a sentence, which is lost so',
      (call) => {
        call.speaks('turn_2', 1_500)
        call.model(LOST)
        call.sounds(500)
      },
    ],
    ['a short word, which is not written down yet', (call) => call.says('turn_2', 100, null)],
    ['something long, which is not written down yet either', (call) => call.says('turn_2', 600, null)],
    [
      'something that is never written down',
      (call) => {
        call.says('turn_2', 600, null)
        call.wait(1_500)
      },
    ],
  ])('does not come where the caller has said %s', (_, says) => {
    const call = parted()
    says(call)
    done(call, 'first')
    call.model({ type: 'ready' })
    call.wait(1_000)
    expect([call.state.ending, call.state.runningTools]).toEqual([null, []])
  })

  it('does not come while the caller speaks over the goodbye, though that may only say "go on"', () => {
    const call = endingWith({ interruption: { ...INTERRUPTION, backchannels: ['yes'] } }, ['first', 'end'])
    call.speaks('turn_2', 500)
    done(call, 'first')
    expect([call.state.ending, told(call)]).toEqual([null, expect.stringContaining('The caller spoke')])
  })

  it('does not come where a person had the call meanwhile, or it could not be put through', () => {
    const taken = parted()
    taken.do({ type: 'take_over' })
    taken.do({ type: 'person_said', text: 'We go on in a moment.', sinceMs: taken.nowMs })
    taken.do({ type: 'release' })
    taken.do({ type: 'person_written' })
    const refused = parted()
    refused.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: true, isAgents: false })
    refused.do({ type: 'transfer_failed', why: 'busy' })
    for (const call of [taken, refused]) {
      const back = call.commands('respond').length
      done(call, 'first')
      expect([call.state.ending, told(call)]).toEqual([null, expect.stringContaining('somebody else had the call')])
      call.answer('resp_back', 'item_back', 800)
      call.wait(1_000)
      expect([call.all('hang_up'), call.commands('respond').length]).toEqual([[], back + 1])
    }
  })

  it('comes after a cough, whether into the silence or over the goodbye: nobody is asked to answer that', () => {
    const silent = parted()
    silent.says('cough', 400, '')
    const over = ending('first', 'end')
    over.wait(100)
    over.says('cough', 400, '')
    for (const call of [silent, over]) {
      const asked = call.commands('respond').length
      done(call, 'first')
      expect([call.state.ending?.reason, told(call)]).toEqual(['agent_hangup', '{"a":2}'])
      call.wait(1_000)
      call.echoAll()
      expect([call.all('hang_up').length, call.commands('respond').length]).toEqual([1, asked])
    }
  })
})
