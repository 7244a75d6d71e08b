import { describe, expect, it } from 'vitest'
import { Call, kinds } from './call.fixture.ts'
import { hasOpenTurns } from './ending.ts'

const asked = (call: Call) => call.commands('respond')
const told = (call: Call) => call.commands('system_message').map(({ text }) => text)

/** A call that somebody has taken over. */
function taken(changes: Parameters<typeof Call.greeted>[0] = {}): Call {
  const call = Call.greeted(changes)
  call.do({ type: 'take_over' })
  return call
}

/** The person's audio goes to the caller. */
function speaks(call: Call, ms: number): void {
  for (let spokenMs = 0; spokenMs < ms; spokenMs += 100) {
    call.audio('own-person-1', 'own-person-1', 100)
    call.wait(100)
  }
}

describe('a call that a person takes over', () => {
  it('has its agent cut short in the middle of an answer, before the caller hears the person', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'A long answer.')
    call.audio('resp_1', 'item_1', 3_000)
    call.wait(1_000)
    const effects = call.do({ type: 'take_over' })
    const wanted = ['discard', 'clear', 'discard', 'cancel', 'truncate', 'connect_person']
    expect(kinds(effects).filter((kind) => wanted.includes(kind))).toEqual(wanted)
    expect(call.commands('truncate').at(-1)).toEqual({ type: 'truncate', itemId: 'item_1', audioEndMs: 1_000 })
    expect(call.state.latency.interruptions).toBe(0)
    expect(told(call).at(-1)).toContain('Say nothing until you have the call again')
    expect(call.notes('taken_over')).toEqual([{ type: 'taken_over', state: 'talking', isOn: true }])
  })

  it('has an answer cancelled that was only asked for, whenever it begins', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.do({ type: 'take_over' })
    call.begins('resp_late')
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_late' }])
    call.ends('resp_late', { status: 'cancelled' })
    const before = asked(call).length
    call.wait(20_000)
    expect(asked(call)).toHaveLength(before)
  })

  it('asks the agent for nothing: no answer, no words into a silence, none about a tool', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'look_up' },
      argumentsText: '{}',
    })
    call.ends('resp_1')
    call.do({ type: 'take_over' })
    const before = asked(call).length
    call.says('turn_2', 800)
    call.wait(5_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.do({ type: 'dtmf', digit: '1' })
    call.wait(60_000)
    expect(asked(call)).toHaveLength(before)
    expect(call.state.ending).toBeNull()
    expect(call.turns.map(({ role }) => role)).toContain('caller')
  })

  it('goes on when a tool of the agent wanted to end it', () => {
    const call = taken()
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'end_call' },
      argumentsText: '{}',
    })
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: true } })
    call.wait(10_000)
    expect(call.state.ending).toBeNull()
  })

  it('lets the caller speak over the person, who is not cut short', () => {
    const call = taken()
    speaks(call, 1_000)
    const before = call.effects.length
    call.says('turn_1', 900)
    call.do({ type: 'mute' })
    expect(kinds(call.effects.slice(before))).not.toContain('clear')
    expect(kinds(call.effects.slice(before))).not.toContain('discard')
  })

  it('goes on without a model, which is looked for when the call is given back', () => {
    const call = taken()
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    call.wait(30_000)
    expect([call.state.ending, call.all('apologise')]).toEqual([null, []])
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    expect(asked(call).at(-1)?.instructions).toContain('You have the call again')
  })

  it('speaks again through another model where its own had too much to do, and was lost meanwhile', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.ends('resp_1', { status: 'failed', errorCode: 'rate_limit_exceeded', fault: 'retry' })
    call.do({ type: 'take_over' })
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    call.model({ type: 'ready' })
    expect(asked(call).at(-1)?.instructions).toContain('You have the call again')
  })

  it.each([
    ['no other node takes in time', (call: Call) => call.wait(15_000)],
    ['no other node can be given', (call: Call) => void call.do({ type: 'kept' })],
    ['its carrier brings back', (call: Call) => void call.do({ type: 'attached' })],
  ])('and has lost its model has another looked for when it was to go elsewhere, and %s', (_what, stays) => {
    const call = taken()
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    call.do({ type: 'hand_over' })
    expect(call.all('open_model')).toHaveLength(1)
    stays(call)
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    call.wait(10_000)
    expect(asked(call).length).toBeGreaterThan(1)
  })

  it('cannot be had by two, nor when it is ending, nor when nobody hears it', () => {
    const call = taken()
    expect(call.do({ type: 'take_over' })).toEqual([])
    const ending = Call.greeted()
    ending.do({ type: 'end', reason: 'supervisor' })
    expect(kinds(ending.do({ type: 'take_over' }))).not.toContain('connect_person')
    const lost = Call.greeted()
    lost.do({ type: 'stream_lost' })
    expect(kinds(lost.do({ type: 'take_over' }))).not.toContain('connect_person')
  })

  it('is not greeted any more when a person was there before the greeting', () => {
    const call = new Call()
    call.do({ type: 'take_over' })
    expect(call.notes('state').at(-1)?.state).toBe('talking')
    call.model({ type: 'ready' })
    expect(asked(call)).toEqual([])
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    expect(asked(call)).toHaveLength(1)
    expect(asked(call)[0]?.instructions).toContain('You have the call again')
  })
})

describe('the agent that has the call again', () => {
  it('was told what the person said, which is a turn of theirs, and goes on once', () => {
    const call = taken()
    speaks(call, 2_000)
    call.do({ type: 'person_said', text: ' Your refund is on its way. ', sinceMs: call.nowMs - 1_800 })
    const said = call.turns.find(({ role }) => role === 'supervisor')
    expect((said?.endMs ?? 0) - (said?.startMs ?? 0)).toBe(1_800)
    call.says('turn_1', 900)
    const before = asked(call).length
    call.do({ type: 'release' })
    expect(call.all('silence_person')).toHaveLength(1)
    expect(asked(call)).toHaveLength(before)
    call.do({ type: 'person_said', text: 'Goodbye.', sinceMs: call.nowMs })
    call.do({ type: 'person_written' })
    expect(told(call).filter((text) => text.startsWith('Your colleague said'))).toEqual([
      'Your colleague said to the caller: Your refund is on its way.',
      'Your colleague said to the caller: Goodbye.',
    ])
    expect(asked(call)).toHaveLength(before + 1)
    call.answer('resp_back', 'item_back', 500)
    call.wait(600)
    call.echoAll()
    expect(asked(call)).toHaveLength(before + 1)
    const { seq: _seq, ...turn } = call.turns.find(({ role }) => role === 'supervisor') ?? { seq: 0 }
    expect(turn).toMatchObject({ text: 'Your refund is on its way.', endMs: 3_000, startMs: 1_200 })
    expect(call.turns.map(({ role, text }) => (role === 'system' ? text : role))).toEqual([
      ...['agent', 'A person has taken the call over.', 'supervisor', 'caller', 'supervisor'],
      ...['The agent has the call again.', 'agent'],
    ])
  })

  it('does not wait for ever for the last words', () => {
    const call = taken()
    call.do({ type: 'release' })
    const before = asked(call).length
    call.wait(1_500)
    expect(asked(call)).toHaveLength(before + 1)
    expect(asked(call).at(-1)?.instructions).not.toContain('sorry')
    call.do({ type: 'person_said', text: 'Late words.', sinceMs: call.nowMs })
    expect(told(call).at(-1)).toBe('Your colleague said to the caller: Late words.')
  })

  it('was told what the person said, whose turn ends where they did, and not where their words came', () => {
    const call = taken()
    speaks(call, 4_000)
    const [sinceMs, untilMs] = [call.nowMs - 3_800, call.nowMs - 1_800]
    call.do({ type: 'person_said', text: 'One moment.', sinceMs, untilMs })
    const said = call.turns.find(({ role }) => role === 'supervisor')
    expect((said?.endMs ?? 0) - (said?.startMs ?? 0)).toBe(2_000)
  })

  it('waits for a caller who is speaking, and answers them with the same words', () => {
    const call = taken()
    call.speaks('turn_1', 500)
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    const before = asked(call).length
    call.sounds(500)
    expect(asked(call)).toHaveLength(before)
    call.stops('turn_1')
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'And when?' })
    expect(asked(call)).toHaveLength(before + 1)
    call.answer('resp_back', 'item_back', 500)
    call.wait(600)
    call.echoAll()
    expect(asked(call)).toHaveLength(before + 1)
  })

  it('comes after two seconds, and is sorry, when the line of the person was lost', () => {
    const call = taken()
    call.do({ type: 'person_lost' })
    const before = asked(call).length
    call.wait(1_900)
    expect(asked(call)).toHaveLength(before)
    call.wait(200)
    expect(asked(call)).toHaveLength(before + 1)
    expect(asked(call).at(-1)?.instructions).toContain('sorry')
  })

  it('does not come when the person is there again in time', () => {
    const call = taken()
    call.do({ type: 'person_lost' })
    call.wait(1_000)
    expect(call.do({ type: 'take_over' })).toContainEqual({ type: 'connect_person', id: 'own-person-2' })
    const before = asked(call).length
    call.wait(10_000)
    expect(asked(call)).toHaveLength(before)
    expect(call.notes('taken_over')).toHaveLength(1)
  })

  it('is still silent where it was muted', () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    call.do({ type: 'take_over' })
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    const before = asked(call).length
    call.wait(5_000)
    expect(asked(call)).toHaveLength(before)
    call.do({ type: 'unmute' })
    expect(asked(call)).toHaveLength(before + 1)
  })

  it('is asked for nothing by a release of a call that nobody has', () => {
    const call = Call.greeted()
    expect(call.do({ type: 'release' })).toEqual([])
    expect(call.do({ type: 'person_written' })).toEqual([])
    expect(call.do({ type: 'person_lost' })).toEqual([])
  })
})

describe('the person who has a call', () => {
  it('is let go when it ends', () => {
    for (const event of [{ type: 'hung_up' }, { type: 'end', reason: 'supervisor' }, { type: 'taken' }] as const) {
      const call = taken()
      expect(kinds(call.do(event)), event.type).toContain('dismiss_person')
      expect(call.state.takeover).toBeNull()
    }
  })

  it('keeps it while its stream is lost, until it is back', () => {
    const call = taken()
    call.do({ type: 'stream_lost' })
    expect(call.state.takeover).toEqual({ phase: 'on' })
    const before = asked(call).length
    call.do({ type: 'attached' })
    call.wait(5_000)
    expect([asked(call).length, call.state.takeover]).toEqual([before, { phase: 'on' }])
  })

  it('is heard to the end in the record of a call that ends, which waits 2 s for that at most', () => {
    const written = taken()
    written.do({ type: 'hung_up' })
    written.wait(400)
    written.do({ type: 'person_said', text: 'Goodbye then.', sinceMs: 0 })
    expect(written.all('finish')).toEqual([])
    written.do({ type: 'person_written' })
    expect([written.all('finish').length, written.turns.at(-1)?.text]).toEqual([1, 'Goodbye then.'])
    const unwritten = taken()
    unwritten.do({ type: 'hung_up' })
    unwritten.wait(2_000)
    expect(unwritten.all('finish')).toHaveLength(1)
  })

  it('is told to be gone from a call as that is by then, and not as one in which somebody talks', () => {
    const over = taken()
    over.do({ type: 'hung_up' })
    const lost = taken()
    for (const type of ['stream_lost', 'release', 'person_written'] as const) lost.do({ type })
    const told = [over, lost].map((call) => call.notes('taken_over').at(-1))
    expect(told.map((note) => [note?.state, note?.isOn])).toEqual([
      ['draining', false],
      ['detached', false],
    ])
  })

  it('gives way to the last words of a call whose time is up, and to another node', () => {
    const call = taken({ maxCallMs: 60_000 })
    const before = asked(call).length
    call.wait(60_000)
    expect(call.all('dismiss_person')).toHaveLength(1)
    expect(asked(call)).toHaveLength(before + 1)
    const moved = taken()
    expect(moved.do({ type: 'hand_over' })).toContainEqual({ type: 'dismiss_person', isMoving: true })
  })

  it('goes elsewhere with what the person said last, which is waited for', () => {
    const call = taken()
    call.do({ type: 'hand_over' })
    expect(hasOpenTurns(call.state)).toBe(true)
    call.do({ type: 'person_said', text: 'I will see to that.', sinceMs: call.nowMs })
    call.do({ type: 'person_written' })
    expect(hasOpenTurns(call.state)).toBe(false)
    expect(call.turns.at(-1)).toMatchObject({ role: 'supervisor', text: 'I will see to that.' })
  })
})
