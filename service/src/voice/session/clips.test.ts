import { describe, expect, it } from 'vitest'
import { Call, kinds } from './call.fixture.ts'
import type { PlannedClip } from './plan.ts'
import type { PastTurn, Resumption } from './resumption.ts'

const GREETING = { text: 'Hello, this is Acme. How can I help you?', ms: 4_000, kind: 'greeting' } as const
const DISCLOSURE = { text: 'You are talking to a machine.', ms: 2_000, kind: 'disclosure' } as const
const FILLERS = ['One moment.', 'Nearly there.'].map((text) => ({ text, ms: 800, kind: 'filler' as const }))
const BOTH = { clips: [DISCLOSURE, GREETING] }
const RECONNECT_MS = 500

/** A call that begins with the greeting from a clip, whose model is ready after so long. */
function callWith(clips: readonly PlannedClip[] = [GREETING], handshakeMs: number | null = null): Call {
  const phrases = clips.filter(({ kind }) => kind === 'filler').map(({ text }) => text)
  const call = new Call({ clips, fillers: { afterMs: 2_000, phrases } })
  if (handshakeMs === null) return call
  call.wait(handshakeMs)
  call.model({ type: 'ready' })
  return call
}

function resumed(turns: Omit<PastTurn, 'seq'>[], plan: { clips: readonly PlannedClip[] } = BOTH): Call {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
  const past = turns.map((turn, index) => ({ ...turn, seq: index + 1 }))
  const resumption: Resumption = {
    elapsedMs: 5_000,
    turns: past,
    usage,
    greetingMs: 20,
    interruptions: 0,
    idBase: 100_000,
  }
  return new Call(plan, resumption)
}

const agent = (text: string, unheard = '') => ({ role: 'agent' as const, text, unheard })
const played = (call: Call) => call.all('play_clip').map(({ index }) => index)
const asked = (call: Call) => call.commands('respond').map(({ instructions }) => instructions)
const told = (call: Call) => call.commands('system_message').map(({ text }) => text)

describe('the greeting from a clip', () => {
  it.each([0, 299, 4_000])('sounds at once, and only once, when the model is ready after %i ms', (handshakeMs) => {
    const call = callWith([GREETING], handshakeMs)
    const begun = kinds(call.effects)
    expect(begun.indexOf('play_clip')).toBeLessThan(begun.indexOf('open_model'))
    expect(call.state.latency.greetingMs).toBe(0)
    expect(call.notes('state').map(({ state }) => state)).toEqual(['waiting', 'talking'])
    call.wait(8_000)
    call.echoAll()
    expect(asked(call)).toEqual([])
    expect(played(call)).toEqual([0])
    expect(call.turns).toMatchObject([
      { role: 'agent', text: GREETING.text, unheard: '', sentMs: 4_000, heardMs: 4_000 },
    ])
  })

  it('is what the model is told that was said so far', () => {
    expect(callWith().all('open_model')).toEqual([{ type: 'open_model', epoch: 1, history: `agent: ${GREETING.text}` }])
  })

  it('is heard out when the model never comes, and then the carrier apologises', () => {
    const call = callWith()
    call.wait(4_500)
    call.echoAll()
    call.wait(20_000)
    expect(call.turns).toMatchObject([{ text: GREETING.text, heardMs: 4_000 }])
    expect(call.all('apologise')).toHaveLength(1)
    expect(call.all('open_model').map(({ history }) => history)).toEqual(
      call.all('open_model').map(() => `agent: ${GREETING.text}`),
    )
  })

  it('is told to the next session, and not said again, when the model is lost in it', () => {
    const call = callWith([GREETING], 200)
    call.wait(1_000)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.wait(RECONNECT_MS)
    call.model({ type: 'ready' })
    expect(call.all('open_model').map(({ epoch, history }) => [epoch, history])).toEqual([
      [1, `agent: ${GREETING.text}`],
      [2, `agent: ${GREETING.text}`],
    ])
    expect([asked(call), played(call)]).toEqual([[], [0]])
    expect(call.all('clear')).toEqual([])
  })

  it('is not the end of the silence in which the agent asks whether somebody is there', () => {
    const call = callWith([GREETING], 100)
    call.wait(13_800)
    call.echoAll()
    expect(asked(call)).toEqual([])
    call.wait(200)
    expect(asked(call)).toHaveLength(1)
  })

  it('is no greeting for an agent that is to word its own, which greets behind what the law wants said', () => {
    const call = new Call({ clips: [DISCLOSURE], greeting: '' })
    expect(asked(call)).toEqual([])
    call.model({ type: 'ready' })
    expect([played(call), asked(call)]).toEqual([[0], ['Greet the caller and ask how you can help.']])
    call.answer('resp_1', 'item_1', 1_000, 'Good morning.')
    call.wait(3_500)
    call.echoAll()
    expect(call.turns.map(({ text }) => text)).toEqual([DISCLOSURE.text, 'Good morning.'])
  })
})

describe('a caller who speaks over a clip', () => {
  it('stops it: the line is cleared, and what was heard is counted, kept and told to the model', () => {
    const call = callWith([GREETING], 100)
    call.wait(1_400)
    call.speaks('item_c', 500)
    expect(call.all('clear')).toHaveLength(1)
    expect(call.state.latency.interruptions).toBe(1)
    const [turn] = call.turns
    expect(turn).toMatchObject({ interrupted: true, sentMs: 4_000, text: 'Hello, this is' })
    expect(turn?.heardMs).toBeGreaterThan(1_500)
    expect(turn?.heardMs).toBeLessThan(2_100)
    expect(told(call)).toEqual([expect.stringMatching(/heard only this of them: Hello, this is$/)])
    expect([call.commands('truncate'), call.commands('delete_item')]).toEqual([[], []])
    call.stops('item_c')
    expect(asked(call)).toEqual([null])
  })

  it('has what the law wants said to the end, by the model', () => {
    const call = callWith([DISCLOSURE, GREETING], 100)
    call.wait(1_300)
    call.speaks('item_c', 500)
    expect(call.turns.map(({ text, unheard }) => [text, unheard])).toEqual([
      ['You are talking to a', 'machine.'],
      ['', GREETING.text],
    ])
    expect(told(call)[0]).toMatch(/exactly this sentence, which was cut short: You are talking to a machine\.$/)
    expect(told(call)[1]).toMatch(/heard nothing of: Hello/)
  })

  it('before the model is there is heard by it then, and answered without a second greeting', () => {
    const call = callWith([GREETING])
    call.wait(4_600)
    call.echoAll()
    call.wait(200)
    call.model({ type: 'ready' })
    call.hears('item_c', { fromMs: 300, untilMs: 2_400 })
    expect(asked(call)).toEqual([null])
  })

  it('in one short sound is not answered', () => {
    const call = callWith([GREETING], 1_500)
    call.model({ type: 'speech_started', itemId: 'item_c', audioStartMs: 900 })
    call.stops('item_c', { fromMs: 1_200, untilMs: 1_300 })
    expect(asked(call)).toEqual([])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_c' }])
    expect(call.all('clear')).toEqual([])
  })
})

describe('a call that is lost in a clip', () => {
  it('hears it from its beginning when another stream brings it back', () => {
    const call = callWith([DISCLOSURE, GREETING], 100)
    call.wait(2_900)
    call.do({ type: 'mark', name: 'm1' })
    call.do({ type: 'stream_lost' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    expect(played(call)).toEqual([0, 1, 1])
    const ids = call.all('play_clip').map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect(told(call)).toEqual([expect.stringMatching(/again from their beginning: Hello, this is Acme/)])
    expect(asked(call)).toEqual([])
    call.wait(5_000)
    call.echoAll()
    expect(call.turns.at(-1)).toMatchObject({ text: GREETING.text, unheard: '', heardMs: 4_000 })
  })

  it('goes on instead where the caller has spoken since', () => {
    const call = callWith([GREETING], 100)
    call.wait(1_500)
    call.says('item_c', 500)
    call.do({ type: 'stream_lost' })
    call.wait(500)
    call.do({ type: 'attached' })
    expect(played(call)).toEqual([0])
  })

  it('hears goodbye and no greeting where this node is to stop and no other one takes it', () => {
    const call = callWith([GREETING], 100)
    call.wait(1_000)
    call.do({ type: 'hand_over' })
    call.do({ type: 'kept' })
    expect([played(call), asked(call)]).toEqual([[0], [expect.stringContaining('goodbye')]])
  })

  it('hears on another node what it has not heard to its end', () => {
    expect(played(resumed([agent('You are talking', 'to a machine.'), agent('', GREETING.text)]))).toEqual([0, 1])
    const call = resumed([agent(DISCLOSURE.text), agent('Hello, this', 'is Acme. How can I help you?')])
    expect(played(call)).toEqual([1])
    expect(call.state.latency.greetingMs).toBe(20)
    expect(call.all('play_clip')[0]?.id).toBe('clip-100001')
    call.wait(1_000)
    call.do({ type: 'stream_lost' })
    call.do({ type: 'attached' })
    expect(played(call)).toEqual([1, 1])
    call.model({ type: 'ready' })
    expect(asked(call)).toEqual([])
  })

  it('hears the greeting of this call on another node, which has no clip, where it was lost behind what the law wants said', () => {
    const call = resumed([agent(DISCLOSURE.text)], { clips: [DISCLOSURE, ...FILLERS] })
    call.model({ type: 'ready' })
    expect([played(call), asked(call)]).toEqual([[], [expect.stringContaining('Welcome.')]])
  })

  it('is picked up by the agent where the conversation had gone on', () => {
    for (const turns of [
      [agent(DISCLOSURE.text), agent(GREETING.text)],
      [
        agent(DISCLOSURE.text),
        agent('Hello', 'this is Acme. How can I help you?'),
        { role: 'caller' as const, text: 'Hi.', unheard: '' },
      ],
      [agent('Good morning, what is it?')],
    ]) {
      const call = resumed(turns)
      call.model({ type: 'ready' })
      expect([played(call), asked(call).length]).toEqual([[], 1])
    }
  })
})

describe('a filler', () => {
  /** A call that has greeted from a clip, and whose caller has asked something. */
  function asking(fillers: readonly PlannedClip[] = FILLERS): Call {
    const call = callWith([GREETING, ...fillers], 100)
    call.wait(4_000)
    call.echoAll()
    call.says('item_c', 1_000)
    return call
  }

  it('is heard when nobody has spoken for 2.5 s and an answer is owed, then another; nothing is cancelled', () => {
    const call = asking()
    call.wait(2_490)
    expect(played(call)).toEqual([0])
    call.wait(20)
    expect(played(call)).toEqual([0, 1])
    call.wait(800 + 2_480)
    expect(played(call)).toEqual([0, 1])
    call.wait(20)
    expect(played(call)).toEqual([0, 1, 2])
    expect([call.commands('cancel'), call.notes('dead_air').length]).toEqual([[], 2])
    call.answer('resp_1', 'item_1', 1_000, 'Ten each.')
    call.wait(2_000)
    call.echoAll()
    expect(call.turns.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING.text}`,
      'caller: What is it?',
      'agent: One moment.',
      'agent: Nearly there.',
      'agent: Ten each.',
    ])
    expect(call.state.latency.responsesMs).toHaveLength(1)
  })

  it('is not heard while the agent speaks, nor where nothing is owed', () => {
    const call = asking()
    call.answer('resp_1', 'item_1', 6_000)
    call.wait(9_000)
    expect(played(call)).toEqual([0])
  })

  it('bridges a tool that takes its time, without an answer of the model', () => {
    const call = asking()
    call.begins('resp_1')
    call.model({
      type: 'tool_call',
      responseId: 'resp_1',
      itemId: 'i',
      callId: 'c1',
      name: 'look_up',
      argumentsText: '{}',
    })
    call.ends('resp_1')
    call.wait(2_010)
    expect([played(call), asked(call)]).toEqual([[0, 1], [null]])
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    expect(asked(call)).toEqual([null, null])
  })

  it('that is built in tells that a tool takes its time, too: the model does not have to find words for it', () => {
    const call = Call.greeted({ clips: FILLERS })
    call.says('item_c', 1_000)
    call.begins('resp_1')
    const tool = { itemId: 'i', callId: 'c1', name: 'look_up', argumentsText: '{}' }
    call.model({ type: 'tool_call', responseId: 'resp_1', ...tool })
    call.ends('resp_1')
    call.wait(2_010)
    expect([played(call), asked(call)]).toEqual([[0], [expect.any(String), null]])
  })

  it('is stopped by a caller who goes on, and is none of the first words of which the model is told', () => {
    const call = asking()
    call.wait(2_510)
    call.speaks('item_d', 500)
    expect([call.all('clear').length, told(call)]).toEqual([1, []])
  })

  it('is not played again when the call was lost in it', () => {
    const call = asking()
    call.wait(2_600)
    call.do({ type: 'stream_lost' })
    call.wait(500)
    call.do({ type: 'attached' })
    expect(played(call)).toEqual([0, 1])
  })
})
