import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, planWith } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'
import type { Plan } from './plan.ts'

const WANTED: SessionEvent = { type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: true }
/** Of an agent that does not go on after a noise. */
const STAYS_STOPPED = { interruption: { ...INTERRUPTION, resumeFalseMs: 0 } }
/** Of a model that writes down no words of the caller's. */
const UNWRITTEN = { ...planWith().capabilities, callerTranscripts: false }

/** The model calls a tool in an answer. */
function calls(call: Call, name = 'transfer_call', responseId = 'resp_1'): void {
  const tool = { type: 'tool_call', responseId, itemId: `i_${name}`, callId: name, name } as const
  call.model({ ...tool, argumentsText: '{}' })
}

/** What the caller said is written down, a while after it was. */
function written(call: Call, text: string, itemId = 'turn_2'): void {
  call.model({ type: 'caller_transcript', itemId, text })
}

/** How often the carrier was asked to put the call through, and how often that was called off. */
function became(call: Call): { begun: number; calledOff: number } {
  return { begun: call.all('begin_transfer').length, calledOff: call.all('cancel_transfer').length }
}

/** The agent has called for a transfer, and says its last words, of 4 s. */
function inLastWords(changes: Partial<Plan> = {}, tools = ['transfer_call']): Call {
  const call = Call.greeted(changes)
  call.says('turn_1', 500)
  call.begins('resp_1')
  call.words('resp_1', 'item_1', 'I put you through to the kitchen.')
  call.audio('resp_1', 'item_1', 4_000)
  call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
  for (const tool of tools) calls(call, tool)
  call.ends('resp_1')
  return call
}

const WAITS = { begun: 0, calledOff: 0 }
const CALLED_OFF = { begun: 0, calledOff: 1 }

describe('a caller who speaks already when the agent calls its tool', () => {
  /** The agent is about to put the call through, and has said nothing yet, or some of it. */
  function speaking(saidMs: number, changes: Partial<Plan> = {}): Call {
    const call = Call.greeted(changes)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I put you through.')
    if (saidMs > 0) call.audio('resp_1', 'item_1', saidMs)
    call.wait(100)
    call.speaks('turn_2', 400)
    calls(call)
    call.do(WANTED)
    return call
  }

  it.each<[string, number, Partial<Plan>]>([
    ['who has heard none of its words', 0, {}],
    ['whose agent does not go on after a noise', 3_000, STAYS_STOPPED],
  ])('(%s) is heard out, and is not put through over words', (_who, saidMs, changes) => {
    const call = speaking(saidMs, changes)
    call.sounds(1_000)
    call.stops('turn_2')
    expect(became(call)).toEqual(WAITS)
    written(call, 'No wait.')
    call.wait(10_000)
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it('is put through behind a noise, and whatever they say where nothing stops the agent', () => {
    const noise = speaking(0)
    noise.stops('turn_2')
    written(noise, '')
    noise.ends('resp_1', { status: 'cancelled' })
    expect(became(noise).begun).toBe(1)
    const unstoppable = speaking(500, { interruption: { ...INTERRUPTION, enabled: false } })
    unstoppable.ends('resp_1')
    unstoppable.wait(500)
    unstoppable.echoAll()
    expect(became(unstoppable).begun).toBe(1)
  })
})

/** Of an agent that goes on talking over a word which only says "go on". */
const LISTENED_TO = { interruption: { ...INTERRUPTION, backchannels: ['yes'] } }

describe('words of the caller that nobody knows yet when all else is ready', () => {
  /** The caller has spoken over the agent, which wants to put the call through, and has been heard out since. */
  function saidOver(isOver: boolean): Call {
    const call = Call.greeted(LISTENED_TO)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 700)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.wait(200)
    call.speaks('turn_2', 500)
    if (isOver) call.stops('turn_2')
    calls(call)
    call.ends('resp_1')
    call.do(WANTED)
    call.echoAll()
    return call
  }

  it.each([
    ['that were over before', true],
    ['that go on', false],
  ])('%s are waited for', (_which, isOver) => {
    for (const [text, comes] of [['No wait.', CALLED_OFF] as const, ['Yes.', { begun: 1, calledOff: 0 }] as const]) {
      const call = saidOver(isOver)
      call.wait(300)
      if (!isOver) call.stops('turn_2')
      expect(became(call)).toEqual(WAITS)
      written(call, text)
      expect(became(call)).toEqual(comes)
    }
  })

  it('are waited for behind a word that only said "go on", which had stopped the agent before them', () => {
    const call = inLastWords(LISTENED_TO)
    call.do(WANTED)
    call.wait(500)
    call.says('turn_2', 400, null)
    call.speaks('turn_3', 600)
    written(call, 'Yes.')
    expect(became(call)).toEqual(WAITS)
    call.stops('turn_3')
    written(call, 'No wait.', 'turn_3')
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it('are waited for where such a word came before the agent wanted to put them through', () => {
    const call = inLastWords(LISTENED_TO)
    call.says('turn_2', 500, null)
    call.do(WANTED)
    call.speaks('turn_3', 400)
    written(call, 'Yes.')
    expect(became(call)).toEqual(WAITS)
    call.stops('turn_3')
    written(call, 'No wait.', 'turn_3')
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it.each([
    ['No wait.', CALLED_OFF],
    ['', { begun: 1, calledOff: 0 }],
  ])('are waited for as long where the agent has gone on because they stayed away: %s', (text, comes) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 700)
    calls(call)
    call.ends('resp_1')
    call.do(WANTED)
    call.says('turn_2', 400, null)
    call.wait(2_500)
    call.echoAll()
    expect([call.all('play_aside').length, became(call)]).toEqual([1, WAITS])
    written(call, text)
    expect(became(call)).toEqual(comes)
  })

  it('are waited for when the caller presses a key as well', () => {
    const call = inLastWords()
    call.do(WANTED)
    call.speaks('turn_2', 600)
    call.do({ type: 'dtmf', digit: '1' })
    expect(became(call)).toEqual(WAITS)
    call.stops('turn_2')
    written(call, 'No wait.')
    expect(became(call)).toEqual(CALLED_OFF)
  })
})

/** The caller speaks into the last words, or has just done so. */
function spokeOver(changes: Partial<Plan>, isOver: boolean, ms = 1_500): Call {
  const call = inLastWords(changes)
  call.do(WANTED)
  call.wait(1_000)
  call.speaks('turn_2', ms)
  if (isOver) call.stops('turn_2')
  return call
}

const MOMENTS: [string, Partial<Plan>, boolean][] = [
  ['while they speak', {}, false],
  ['behind their words', {}, true],
  ['while they speak to an agent that does not go on after a noise', STAYS_STOPPED, false],
  ['behind words that such an agent does not know yet', STAYS_STOPPED, true],
]

describe('a caller who speaks into the last words, and whose model is lost', () => {
  const LOST = { type: 'closed', code: '1006', message: '', fault: 'retry' } as const
  const FATAL = { ...LOST, fault: 'fatal' } as const

  /** The next session has said what it was to say, once, and knows what to say it of. */
  function askedOnce(call: Call): void {
    expect(became(call)).toEqual(CALLED_OFF)
    const outcome = { callId: 'transfer_call', output: '{}', status: 'error', endsCall: false } as const
    call.do({ type: 'tool_finished', outcome })
    call.effects.length = 0
    call.model({ type: 'ready' })
    call.answer('resp_2', 'item_2', 2_000)
    call.wait(2_000)
    call.echoAll()
    expect(call.commands('respond')).toHaveLength(1)
  }

  it.each(MOMENTS)('(%s) is kept, and asked once to say it again', (_when, changes, isOver) => {
    const call = spokeOver(changes, isOver)
    call.model(LOST)
    expect(call.all('open_model').at(-1)?.history).toContain("The caller's last words were lost")
    askedOnce(call)
  })

  it('is kept as well where it was not known whether they only said "go on": the agent is silent then', () => {
    const call = inLastWords(LISTENED_TO)
    call.says('turn_2', 500, null)
    call.do(WANTED)
    call.model(LOST)
    expect(call.all('clear')).toHaveLength(1)
    askedOnce(call)
  })

  it('is kept, too, where the agent has gone on because their words stayed away', () => {
    const call = spokeOver({}, true)
    call.wait(2_500)
    expect([call.all('play_aside').length, became(call)]).toEqual([1, WAITS])
    call.model(LOST)
    askedOnce(call)
  })

  it('is kept, too, where the model does not say that they are over, and another takes its place', () => {
    const call = inLastWords(STAYS_STOPPED)
    call.do(WANTED)
    call.wait(500)
    call.speaks('turn_2', 500)
    call.model({ type: 'speech_stopped', itemId: 'turn_2', audioEndMs: 0 })
    call.wait(2_000)
    expect([call.all('open_model').length, became(call)]).toEqual([2, CALLED_OFF])
  })

  it('is kept beside a tool that still runs, and asked a moment later', () => {
    const call = inLastWords({}, ['look_up', 'transfer_call'])
    call.do(WANTED)
    call.speaks('turn_2', 1_000)
    call.model(LOST)
    call.model({ type: 'ready' })
    call.effects.length = 0
    call.wait(1_100)
    expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
      expect.stringContaining('say it again'),
    ])
  })

  const refusal = { type: 'refused', requestId: null, code: 'insufficient_quota', message: '', fault: 'fatal' } as const

  it.each([
    ['closes the connection', FATAL],
    ['refuses what it is asked', refusal],
  ])('is kept for the other model, and put through all the same where there is none: that %s', (_how, fatal) => {
    for (const isOver of [false, true]) {
      const kept = spokeOver({ fallback: { price: null } }, isOver)
      kept.model(fatal)
      askedOnce(kept)
      const given = spokeOver({}, isOver)
      given.model(fatal)
      expect([became(given), given.state.ending]).toEqual([{ begun: 1, calledOff: 0 }, null])
    }
  })

  it('is put through where it was not their words that it waited for', () => {
    const call = inLastWords()
    call.do(WANTED)
    call.speaks('noise', 100)
    call.model(LOST)
    call.wait(4_000)
    call.echoAll()
    expect(became(call)).toEqual({ begun: 1, calledOff: 0 })
  })
})

describe('a caller who speaks into the last words, and whose stream is lost', () => {
  it.each(MOMENTS)(
    '(%s) is not put through over words, and behind a noise as soon as that is known',
    (_when, changes, isOver) => {
      for (const text of ['No wait.', '']) {
        const call = spokeOver(changes, isOver)
        call.do({ type: 'stream_lost' })
        expect(became(call)).toEqual(WAITS)
        if (!isOver) call.stops('turn_2')
        written(call, text)
        expect([text, became(call)]).toEqual([text, text === '' ? { begun: 1, calledOff: 0 } : CALLED_OFF])
      }
    },
  )

  it('is answered when it is back', () => {
    const call = spokeOver({}, true)
    call.do({ type: 'stream_lost' })
    written(call, 'No wait.')
    const outcome = { callId: 'transfer_call', output: '{}', status: 'error', endsCall: false } as const
    call.do({ type: 'tool_finished', outcome })
    call.effects.length = 0
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('is not put through by words that may only have said "go on", either', () => {
    const call = inLastWords(LISTENED_TO)
    call.says('turn_2', 500, null)
    call.do(WANTED)
    call.do({ type: 'stream_lost' })
    expect(became(call)).toEqual(WAITS)
    written(call, 'No wait.')
    expect([became(call), call.state.answers.queue.map(({ why }) => why)]).toEqual([CALLED_OFF, []])
  })

  it('is not kept by a cough that came behind them, nor by what nobody writes down', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    calls(call)
    call.do(WANTED)
    call.says('noise', 500, null)
    call.speaks('cough', 0)
    call.do({ type: 'stream_lost' })
    written(call, '', 'noise')
    expect(became(call)).toEqual(WAITS)
    call.stops('cough')
    expect(became(call)).toEqual({ begun: 1, calledOff: 0 })
    const unknown = spokeOver({}, true)
    unknown.do({ type: 'stream_lost' })
    unknown.wait(6_000)
    expect(became(unknown)).toEqual({ begun: 1, calledOff: 0 })
  })
})

describe('a call that is not put through while another tool of the same answer runs', () => {
  function done(call: Call, callId: string, status: 'ok' | 'error' = 'ok'): void {
    const endsCall = callId === 'end_call'
    call.do({ type: 'tool_finished', outcome: { callId, output: '{}', status, endsCall } })
  }

  it.each<[string, Partial<Plan>]>([
    ['', {}],
    [' by a caller whose words nobody writes down', { capabilities: UNWRITTEN }],
  ])('is gone on with at once%s: the model knows that it is not put through', (_whose, changes) => {
    const call = inLastWords(changes, ['look_up', 'transfer_call'])
    call.do(WANTED)
    call.wait(500)
    call.effects.length = 0
    call.says('turn_2', 600, 'No wait.')
    expect(became(call)).toEqual(CALLED_OFF)
    const told = call.commands('system_message').map(({ text }) => text)
    expect(told).toEqual(['The call was not put through, because the caller spoke before it was.'])
    done(call, 'transfer_call', 'error')
    expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([null])
    call.answer('resp_2', 'item_2', 500)
    done(call, 'look_up')
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is answered once, and not ended, where that other tool was only to end it', () => {
    const call = inLastWords({}, ['transfer_call', 'end_call'])
    call.do(WANTED)
    done(call, 'end_call')
    call.effects.length = 0
    call.says('turn_2', 600, 'No wait.')
    done(call, 'transfer_call', 'error')
    call.answer('resp_2', 'item_2', 500)
    expect([call.commands('respond').length, call.state.ending]).toEqual([1, null])
  })
})

describe('a sound over the last words that may only say "go on", and whose words are late', () => {
  /** Its words have stayed away until it is taken for more. */
  function overdue(): Call {
    const call = inLastWords(LISTENED_TO)
    call.wait(300)
    call.speaks('turn_2', 500)
    call.stops('turn_2')
    call.do(WANTED)
    call.wait(1_600)
    expect([call.all('clear').length, became(call)]).toEqual([1, WAITS])
    return call
  }

  it('keeps the call by words that come after it was taken for more', () => {
    const call = overdue()
    written(call, 'No wait.')
    call.wait(10_000)
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it('keeps nothing where it said "go on", or is never known', () => {
    const listening = overdue()
    written(listening, 'Yes.')
    expect(became(listening)).toEqual({ begun: 1, calledOff: 0 })
    const unknown = overdue()
    unknown.wait(4_500)
    expect(became(unknown)).toEqual({ begun: 1, calledOff: 0 })
  })

  it('takes nothing from what has stopped the agent meanwhile', () => {
    const call = inLastWords(LISTENED_TO)
    call.speaks('turn_2', 500)
    call.stops('turn_2')
    call.do(WANTED)
    call.speaks('turn_3', 800)
    call.stops('turn_3')
    call.wait(800)
    written(call, 'Yes.')
    expect(became(call)).toEqual(WAITS)
    written(call, 'No wait.', 'turn_3')
    call.wait(10_000)
    expect(became(call)).toEqual(CALLED_OFF)
  })
})

describe('a caller who speaks right behind the last words, which a noise has stopped before', () => {
  /** The agent has gone on, and all of it was heard, though the carrier has not told so. */
  function goneOn(): Call {
    const call = inLastWords()
    call.do(WANTED)
    call.wait(500)
    call.says('noise', 400, '')
    call.wait(3_200)
    expect([call.all('play_aside').length, became(call)]).toEqual([1, WAITS])
    return call
  }

  it('is not put through over words', () => {
    const call = goneOn()
    call.says('turn_2', 500, 'No wait.')
    call.wait(10_000)
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it('is put through as soon as it is known that it was another noise', () => {
    const call = goneOn()
    call.says('noise_2', 500, null)
    expect(became(call)).toEqual(WAITS)
    written(call, '', 'noise_2')
    expect(became(call)).toEqual({ begun: 1, calledOff: 0 })
  })
})
