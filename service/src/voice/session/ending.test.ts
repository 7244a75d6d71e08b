import { describe, expect, it } from 'vitest'
import { Call, kinds } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'

/** Of a dollar, for each token: an answer of the tests costs two. */
const A_MILLIONTH = { input: 1, cachedInput: 1, output: 1 }

/** The agent has said goodbye and called the tool that ends the call; all of its words have been delivered. */
function sayingGoodbye(ms = 3_000): Call {
  const call = Call.greeted()
  call.says('turn_1', 500)
  call.begins('resp_1')
  call.words('resp_1', 'item_1', 'Goodbye.')
  call.audio('resp_1', 'item_1', ms)
  call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
  callTool(call, 'end_call')
  call.ends('resp_1')
  call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
  return call
}

function callTool(call: Call, name: string): void {
  call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: name, name, argumentsText: '{}' })
}

describe('A call that the agent ends', () => {
  it.each<[string, (call: Call) => void]>([
    ['idle_timeout', (call) => call.do({ type: 'fired', timer: 'idle' })],
    ['max_duration', (call) => call.do({ type: 'fired', timer: 'time_up' })],
    ['voicemail', (call) => call.do({ type: 'machine' })],
  ])('ends for the reason of its last words where those call the tool themselves: %s', (reason, happens) => {
    const idle = { afterMs: 30_000, prompts: [], goodbye: 'Goodbye.' }
    const call = Call.greeted({ voicemail: 'Call us back.', idle })
    call.state = { ...call.state, idleStage: 2 }
    happens(call)
    call.begins('resp_1')
    call.item('resp_1', 'item_1', 1_000, 'Goodbye.')
    callTool(call, 'end_call')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    call.ends('resp_1')
    call.wait(1_000)
    call.echoAll()
    call.wait(10_000)
    expect([call.all('hang_up').length, call.all('finish')]).toEqual([1, [{ type: 'finish', reason }]])
  })

  it('is hung up once the last words were heard, and not before', () => {
    const call = sayingGoodbye()
    call.wait(2_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(100)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    expect(call.turns.at(-1)).toMatchObject({ text: 'Goodbye.', interrupted: false })
  })

  it('is not known to be over before its carrier has said so, or has ended the stream', () => {
    for (const end of [{ type: 'stream_stopped' }, { type: 'hung_up' }] as const) {
      const call = sayingGoodbye()
      call.speaks('turn_2', 500)
      call.wait(3_000)
      call.echoAll()
      expect([call.all('hang_up').length, call.state.ending]).toMatchObject([1, { isUntold: true }])
      call.do(end)
      expect(call.state.ending).toMatchObject({ reason: 'agent_hangup', isUntold: false })
    }
  })

  it('is hung up without its marks when they never come back: two seconds after they were due', () => {
    const call = sayingGoodbye()
    call.wait(4_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(200)
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('is given no other model where that is lost by then which has said the last words', () => {
    const call = sayingGoodbye()
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.wait(2_900)
    expect([call.all('open_model').length, call.all('hang_up').length]).toEqual([1, 0])
    call.wait(100)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('is not held to its last words by a caller who speaks into them', () => {
    const call = sayingGoodbye()
    call.says('turn_2', 500)
    expect(call.all('clear')).toEqual([])
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('hears a goodbye out that takes longer to say than there was time to make it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    callTool(call, 'end_call')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    call.audio('resp_1', 'item_1', 29_000)
    call.ends('resp_1')
    call.wait(29_000)
    expect(call.all('hang_up')).toEqual([])
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('goes on when the caller has talked into the answer that was to end it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(500)
    call.speaks('turn_2', 300)
    callTool(call, 'end_call')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    expect(call.state.ending).toBeNull()
    expect(call.commands('tool_result').at(-1)?.output).toContain('goes on')
    call.ends('resp_1', { status: 'cancelled' })
    call.stops('turn_2')
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    call.wait(2_000)
    expect(call.all('hang_up')).toEqual([])
  })

  it('goes on when the caller has stopped the answer that was to end it by a key', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.do({ type: 'dtmf', digit: '#' })
    callTool(call, 'end_call')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(3_000)
    expect(call.all('hang_up')).toEqual([])
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('goes on when the caller begins to speak while the tool that ends it runs', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    callTool(call, 'end_call')
    call.ends('resp_1')
    call.speaks('turn_2', 300)
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    call.stops('turn_2')
    expect(call.state.ending).toBeNull()
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('says goodbye first when it has said nothing since the caller’s last words', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    callTool(call, 'end_call')
    call.ends('resp_1')
    call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
    expect(call.all('hang_up')).toEqual([])
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })
})

describe('The end', () => {
  it('comes once, whoever and whatever brings it about, and the first reason stands', () => {
    const endings: SessionEvent[] = [
      { type: 'end', reason: 'supervisor' },
      { type: 'stream_lost' },
      { type: 'hung_up' },
      { type: 'end', reason: 'shutdown' },
      { type: 'fired', timer: 'drain' },
      { type: 'fired', timer: 'time_up' },
    ]
    // A stream that is lost ends nothing by itself: the carrier has hung up before it came back.
    const reasons = ['supervisor', 'caller_hangup', 'caller_hangup', 'shutdown']
    for (const [at, reason] of reasons.entries()) {
      const call = Call.greeted()
      call.says('turn_1', 500, null)
      for (const event of [...endings.slice(at), ...endings]) call.do(event)
      call.wait(60_000)
      expect(call.all('finish')).toEqual([{ type: 'finish', reason }])
      expect(call.all('hang_up').length).toBeLessThanOrEqual(1)
      expect(call.timers).toEqual([])
    }
  })

  it('absorbs every event that comes after it', () => {
    const call = Call.greeted()
    call.do({ type: 'hung_up' })
    call.wait(5_000)
    const { state } = call
    expect(call.do({ type: 'dtmf', digit: '1' })).toEqual([])
    expect(call.model({ type: 'ready' })).toEqual([])
    expect(call.do({ type: 'fired', timer: 'grace' })).toEqual([])
    expect(call.state).toBe(state)
  })

  it('is that of the call for the caller, which comes before that of the session', () => {
    const endings: SessionEvent[] = [
      { type: 'end', reason: 'supervisor' },
      { type: 'hung_up' },
      { type: 'stream_lost' },
    ]
    for (const event of endings) {
      const call = Call.greeted({ isResumable: false })
      call.says('turn_1', 500, null)
      expect(call.state.carrierGoneAtMs).toBeNull()
      const goneAtMs = call.nowMs
      call.do(event)
      call.wait(700)
      call.do({ type: 'hung_up' })
      call.wait(5_000)
      expect(call.all('finish')).toHaveLength(1)
      expect(call.state.carrierGoneAtMs).toBe(goneAtMs)
    }
  })

  it('is the last thing that a session does', () => {
    const call = Call.greeted()
    call.do({ type: 'end', reason: 'supervisor' })
    call.wait(5_000)
    expect(kinds(call.effects).at(-1)).toBe('finish')
    expect(call.notes('state').at(-1)?.state).toBe('ended')
  })

  it('may come before the model was ever ready', () => {
    const call = new Call()
    call.do({ type: 'hung_up' })
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'caller_hangup' }])
  })

  it('by a lost stream ends the call at the carrier, too, where nobody can bring it back', () => {
    const call = Call.greeted({ isResumable: false })
    call.do({ type: 'stream_lost' })
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(5_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'carrier_lost' }])
  })

  it('by a carrier that takes nothing for five seconds is that of a lost stream', () => {
    const call = Call.greeted()
    call.do({ type: 'backlog', isOver: false })
    call.wait(4_900)
    expect(call.state.phase).toBe('talking')
    call.wait(200)
    expect(call.state.phase).toBe('detached')
    const patient = Call.greeted()
    patient.do({ type: 'backlog', isOver: false })
    patient.wait(3_000)
    patient.do({ type: 'backlog', isOver: true })
    patient.wait(5_000)
    expect(patient.state.phase).toBe('talking')
  })

  it('of a server that stops does not wait long for the rest of a sentence that its model leaves off', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'A sentence without')
    call.audio('resp_1', 'item_1', 1_000)
    call.do({ type: 'end', reason: 'shutdown' })
    call.wait(5_900)
    call.echoAll()
    expect(call.all('hang_up')).toEqual([])
    call.wait(200)
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('by a supervisor comes at once; one of a server that stops lets the agent finish', () => {
    for (const [reason, hangUps] of [
      ['supervisor', 1],
      ['shutdown', 0],
    ] as const) {
      const call = Call.greeted()
      call.says('turn_1', 500)
      call.answer('resp_1', 'item_1', 5_000)
      call.do({ type: 'end', reason })
      expect(call.all('hang_up')).toHaveLength(hangUps)
      call.wait(5_000)
      call.echoAll()
      expect(call.all('hang_up')).toHaveLength(1)
    }
  })
})

describe('A caller who hangs up', () => {
  it('is still waited for: the text of the last turn comes late and is kept', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.do({ type: 'hung_up' })
    expect(call.all('finish')).toEqual([])
    expect(call.timers).toEqual(['grace'])
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(1_900)
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Never mind.' })
    expect(call.turns.at(-1)?.text).toBe('Never mind.')
    expect(call.all('finish')).toHaveLength(1)
  })

  it('in the middle of a word is heard to the end of it: the model is given silence', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    const effects = kinds(call.do({ type: 'hung_up' }))
    expect(effects.indexOf('pad')).toBeGreaterThanOrEqual(0)
    expect(effects.indexOf('pad')).toBeLessThan(effects.indexOf('hold_uplink'))
    call.stops('turn_1')
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Wait' })
    expect(call.turns.at(-1)?.text).toBe('Wait')
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('is given as much silence as its model takes for the end of a turn, and a second at least, as is one that loses its stream', () => {
    for (const type of ['hung_up', 'stream_lost'] as const) {
      const paddedMs = [500, 1_500, null].map((silenceMs) => {
        const call = Call.greeted({ hearing: { prefixMs: 300, silenceMs } })
        call.speaks('turn_1', 500)
        call.do({ type })
        return call.all('pad').map(({ ms }) => ms)
      })
      expect(paddedMs).toEqual([[1_000], [2_000], [8_500]])
    }
  })

  it('is waited for no longer than two seconds, with a tool that never ends as well', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.begins('resp_1')
    callTool(call, 'slow')
    call.do({ type: 'hung_up' })
    call.wait(2_000)
    expect(call.all('finish')).toHaveLength(1)
  })

  it('is not billed less for an answer that was cut off: its usage still counts', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.do({ type: 'hung_up' })
    expect(call.commands('cancel')).toHaveLength(1)
    const before = call.state.usage.outputTokens
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.state.usage.outputTokens).toBe(before + 1)
    expect(call.all('finish')).toHaveLength(1)
  })

  it('has an answer cancelled that was only asked for, and asks for no other', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.do({ type: 'say', text: 'Mind the step.' })
    call.do({ type: 'hung_up' })
    call.begins('resp_1')
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('leaves what the agent was saying as far as it was heard', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000, 'One two three four.')
    call.wait(2_000)
    call.do({ type: 'hung_up' })
    expect(call.turns.at(-1)).toMatchObject({ text: 'One two', unheard: 'three four.', heardMs: 2_000 })
  })
})

describe('A call without a model', () => {
  it('is taken over by the carrier, which is given time to say it, and is not hung up meanwhile', () => {
    const call = Call.greeted({ fallbackNumber: '+12025550100' })
    call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
    expect(call.all('apologise')).toMatchObject([{ number: '+12025550100' }])
    call.wait(9_000)
    expect(call.all('hang_up')).toEqual([])
    call.do({ type: 'hung_up' })
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
  })

  it('is left to the carrier that has taken it over, whichever way its stream goes', () => {
    const losses = [{ type: 'stream_lost' }, { type: 'fired', timer: 'backlog' }] as const
    for (const lost of losses) {
      const call = Call.greeted({ fallbackNumber: '+12025550100' })
      call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
      call.wait(300)
      call.do(lost)
      expect(call.state.ending?.isUntold).toBe(false)
      call.wait(20_000)
      expect(call.all('hang_up')).toEqual([])
      expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
    }
  })

  describe('whose agent has words for that', () => {
    const clips = [{ kind: 'apology' as const, text: 'Es tut mir leid.', ms: 2_000 }]

    it('hears them to their end behind what was being said, and is put through then, or hung up on', () => {
      for (const fallbackNumber of ['+12025550100', null]) {
        const call = Call.greeted({ clips, fallbackNumber })
        call.says('turn_1', 500)
        call.answer('resp_1', 'item_1', 3_000)
        call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
        expect([call.all('play_clip').length, call.state.ending?.reason]).toEqual([1, 'model_lost'])
        call.wait(5_000)
        expect([call.all('apologise'), call.all('hang_up'), call.all('clear')]).toEqual([[], [], []])
        call.echoAll()
        const left = fallbackNumber === null ? [] : [{ type: 'apologise', text: null, number: fallbackNumber }]
        expect([call.all('apologise'), call.all('hang_up').length]).toEqual([left, 1 - left.length])
        expect(call.turns.at(-1)).toMatchObject({ role: 'agent', text: 'Es tut mir leid.', heardMs: 2_000 })
        call.do({ type: 'stream_stopped' })
        call.wait(3_000)
        expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
      }
    })

    it('does not wait for their end for ever, nor for them at all where there is no stream', () => {
      const call = new Call({ clips, fallbackNumber: '+12025550100' })
      call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
      call.wait(4_000)
      expect(call.all('apologise')).toHaveLength(1)
      const lost = Call.greeted({ clips })
      lost.do({ type: 'stream_lost' })
      lost.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
      expect([lost.all('play_clip'), lost.all('apologise').length]).toEqual([[], 1])
    })
  })

  describe('that loses its stream in its last words', () => {
    const clips = [{ kind: 'apology' as const, text: 'I am sorry.', ms: 2_000 }]
    const NUMBER = '+12025550100'
    const SAID = expect.stringContaining('technical difficulties')
    const losses = [{ type: 'stream_lost' }, { type: 'fired', timer: 'backlog' }] as const

    it.each([
      { ms: 500, fallbackNumber: NUMBER, apologies: [{ type: 'apologise', text: SAID, number: NUMBER }] },
      { ms: 500, fallbackNumber: null, apologies: [{ type: 'apologise', text: SAID, number: null }] },
      { ms: 2_100, fallbackNumber: NUMBER, apologies: [{ type: 'apologise', text: null, number: NUMBER }] },
      { ms: 2_100, fallbackNumber: null, apologies: [] },
    ])('after $ms ms is left to its carrier for what was not heard: $fallbackNumber', (lost) => {
      for (const loss of losses) {
        const call = Call.greeted({ clips, fallbackNumber: lost.fallbackNumber })
        call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
        call.wait(lost.ms)
        call.do(loss)
        expect(call.state.ending?.isUntold).toBe(true)
        call.wait(20_000)
        expect(call.all('apologise')).toEqual(lost.apologies)
        expect(call.all('hang_up')).toHaveLength(1 - lost.apologies.length)
        expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
        expect(call.timers).toEqual([])
      }
    })

    it('is over where no carrier holds it, or its caller has hung up', () => {
      const page = Call.greeted({ clips, isResumable: false })
      const left = Call.greeted({ clips })
      for (const call of [page, left]) call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
      page.do({ type: 'stream_lost' })
      left.do({ type: 'hung_up' })
      for (const call of [page, left]) expect(call.all('apologise')).toEqual([])
      expect([page.all('hang_up').length, left.all('hang_up').length]).toEqual([1, 0])
    })
  })

  it('is told by the carrier in the language of its agent, with a stream and without', () => {
    const sorry = { text: 'Es tut mir leid.', language: 'de' }
    const english = 'I am sorry, we are having technical difficulties.'
    for (const isLost of [false, true]) {
      const call = Call.greeted({ sorry })
      if (isLost) call.do({ type: 'stream_lost' })
      call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
      expect(call.all('apologise')).toEqual([{ type: 'apologise', ...sorry, english, number: null }])
    }
  })

  it('is hung up when the carrier does not take over', () => {
    const call = Call.greeted()
    call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
    call.wait(10_000)
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('that was saying goodbye ends without the rest of it', () => {
    const call = sayingGoodbye()
    call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
    expect(call.all('apologise')).toEqual([])
    call.wait(3_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })
})

describe('The longest call', () => {
  it('is told to come to an end at nine tenths, and ends with a goodbye', () => {
    const call = Call.greeted({ maxCallMs: 100_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(89_500)
    expect(call.commands('system_message').at(-1)?.text).toContain('must end soon')
    call.wait(10_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(5_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'max_duration' }])
  })

  it('is not made longer by what is still to be heard of the agent: more than the goodbye may take is cut short for it', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(40_000)
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 120_000)
    call.wait(50_000 - call.nowMs)
    expect([call.all('clear').length, call.turns.at(-1)?.interrupted]).toEqual([1, true])
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    call.answer('resp_2', 'item_2', 2_000)
    call.wait(3_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it.each([
    ['day', { budgetMs: 30_000 }],
    ['budget', { budgetUsd: 3.5e-6, price: { text: A_MILLIONTH, audio: A_MILLIONTH } }],
  ])('nor is what is left of a %s, nor a call whose goodbye was made long before it is heard', (_of, bounds) => {
    const call = Call.greeted({ maxCallMs: 90_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' }, ...bounds })
    call.wait(29_000 - call.nowMs)
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 120_000)
    call.wait(1_000)
    expect(call.all('clear')).toHaveLength(1)
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    call.answer('resp_2', 'item_2', 2_000)
    call.wait(2_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it('is not made longer by a call that ends with more than the goodbye may take', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(40_000)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'A long story, and goodbye.')
    call.audio('resp_1', 'item_1', 120_000)
    const asked = { type: 'tool_call', responseId: 'resp_1', itemId: 'call_item', callId: 'call_1' } as const
    call.model({ ...asked, name: 'end_call', argumentsText: '{}' })
    call.ends('resp_1')
    call.do({ type: 'tool_finished', outcome: { callId: 'call_1', output: '{}', status: 'ok', endsCall: true } })
    call.wait(49_000 - call.nowMs)
    expect([call.all('clear').length, call.all('hang_up').length]).toEqual([0, 0])
    call.wait(1_000)
    expect([call.all('clear').length, call.all('hang_up').length]).toEqual([1, 1])
    expect(call.state.ending?.reason).toBe('agent_hangup')
  })

  it('comes behind what is not longer than that, and is heard out', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(40_000)
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 25_000)
    call.wait(50_000 - call.nowMs)
    expect(call.all('clear')).toHaveLength(0)
    call.answer('resp_2', 'item_2', 2_000)
    call.wait(16_000)
    expect(call.all('hang_up')).toHaveLength(0)
    call.wait(3_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it('cannot be made longer by talking into the goodbye', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(50_000)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 3_000)
    call.says('turn_1', 500)
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.state.ending?.reason).toBe('max_duration')
  })

  it('ends with a goodbye that breaks off, and is asked after, also where the answer before it was: no new session is opened for that', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(44_000)
    call.says('turn_1', 500)
    for (const [turn, responseId] of ['resp_1', 'resp_2'].entries()) {
      call.begins(responseId)
      call.audio(responseId, `item_${responseId}`, 200)
      call.wait(3_000)
      call.speaks(`asks_${turn}`, 500)
      call.ends(responseId, { status: 'cancelled' })
      if (turn === 0) call.wait(50_000 - call.nowMs)
      call.stops(`asks_${turn}`)
    }
    expect([call.all('open_model').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it('ends though the goodbye is never said', () => {
    const call = Call.greeted({
      maxCallMs: 50_000,
      modelStallMs: 60_000,
      idle: { afterMs: 600_000, prompts: [], goodbye: '' },
    })
    call.wait(90_000)
    expect(call.all('hang_up')).toHaveLength(1)
  })
})
