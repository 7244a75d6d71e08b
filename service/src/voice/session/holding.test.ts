import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds } from './call.fixture.ts'

const PLAN = { holdMs: 6_000, holdsForTools: true, fillers: { afterMs: 2_000, phrases: ['One moment.'] } }

/** A call in which a tool has been running since the agent's last word. */
function waiting(changes = {}): Call {
  const call = Call.greeted({ ...PLAN, ...changes })
  call.says('turn_1', 500)
  call.begins('resp_1')
  const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'look_up', argumentsText: '{}' }
  call.model({ type: 'tool_call', ...tool })
  call.ends('resp_1')
  return call
}

/** The filler is said and heard. */
function filled(call: Call): void {
  call.wait(2_000)
  call.answer('resp_2', 'item_2', 800, 'One moment.')
  call.wait(800)
  call.echoAll()
}

/** The stretches that were played, each of which the carrier has got by then. */
function plays(call: Call): [number, number][] {
  return call.all('play_hold').map(({ fromMs, ms }) => [fromMs, ms])
}

const done = (call: Call) =>
  call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '{}', status: 'ok', endsCall: false } })

describe('A caller who waits for a tool', () => {
  it('hears what the agent has for that once it was said that it takes a moment, again and again', () => {
    const call = waiting()
    filled(call)
    expect(plays(call)).toEqual([])
    call.wait(500)
    expect(plays(call)).toEqual([[0, 4_800]])
    call.wait(10_000)
    expect(plays(call).slice(0, 3)).toEqual([
      [0, 4_800],
      [4_800, 1_200],
      [0, 4_800],
    ])
  })

  it('hears it no more when the tool is done, and then the answer', () => {
    const call = waiting()
    filled(call)
    call.wait(500)
    call.audio('own-wait-1', 'own-wait-1', 4_800)
    call.wait(1_000)
    const effects = kinds(done(call))
    expect([effects.includes('clear'), effects.includes('truncate'), call.timers.includes('hold')]).toEqual([
      true,
      false,
      false,
    ])
    call.answer('resp_3', 'item_3', 1_000, 'Here it is.')
    const count = plays(call).length
    call.wait(5_000)
    call.echoAll()
    expect(plays(call)).toHaveLength(count)
    expect(call.turns.at(-1)).toMatchObject({ text: 'Here it is.', heardMs: 1_000 })
  })

  it('stops it by speaking, which is no interruption of the agent, and is answered', () => {
    const call = waiting()
    filled(call)
    call.wait(500)
    call.audio('own-wait-1', 'own-wait-1', 4_800)
    call.says('turn_2', 500, 'Are you there?')
    expect([call.all('clear').length, call.state.latency.interruptions, call.state.stopped]).toEqual([1, 0, null])
    call.wait(200)
    expect(plays(call)).toHaveLength(1)
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
  })

  it.each(['nothing', 'okay'])(
    'is answered who says but a short word into it, where the agent passes over: %s',
    (word) => {
      const interruption = { ...INTERRUPTION, backchannels: [word] }
      for (const ms of [100, 500]) {
        const call = waiting({ interruption })
        filled(call)
        call.wait(500)
        call.audio('own-wait-1', 'own-wait-1', 4_800)
        const asked = call.commands('respond').length
        call.says('turn_2', ms, 'Okay.')
        expect(call.commands('delete_item')).toEqual([])
        expect(call.commands('respond')).toHaveLength(asked + 1)
        expect(call.turns.at(-1)?.text).toBe('Okay.')
      }
    },
  )

  it('hears nothing where the agent has nothing for that, nor over a person or an end of the call', () => {
    const call = waiting({ holdsForTools: false })
    filled(call)
    call.wait(6_000)
    expect(plays(call)).toEqual([])
    for (const event of [{ type: 'take_over' }, { type: 'mute' }, { type: 'hung_up' }] as const) {
      const other = waiting()
      filled(other)
      other.do(event)
      other.wait(6_000)
      expect(plays(other)).toEqual([])
    }
  })

  it('hears keys that the agent presses in place of it, to their end, and then the answer', () => {
    const call = waiting()
    filled(call)
    call.wait(500)
    call.audio('own-wait-1', 'own-wait-1', 4_800)
    call.wait(1_000)
    expect(kinds(call.do({ type: 'press', keys: '12345' }))).toEqual(['discard', 'clear', 'play_keys', 'arm'])
    call.wait(400)
    expect(kinds(done(call))).not.toContain('clear')
    call.answer('resp_3', 'item_3', 1_000, 'Here it is.')
    call.wait(1_600)
    expect([call.all('clear').length, call.all('play_keys')]).toEqual([
      1,
      [{ type: 'play_keys', id: 'own-keys-1', keys: '12345' }],
    ])
    call.echoAll()
    expect(call.turns.at(-1)).toMatchObject({ text: 'Here it is.', heardMs: 1_000 })
  })

  it('hears it again only when keys that are pressed have sounded, whose end would go with it', () => {
    for (const restMs of [0, 100, 300, 900]) {
      const call = waiting()
      filled(call)
      call.do({ type: 'press', keys: '123456789' })
      call.wait(1_800 - restMs)
      done(call)
      call.answer('resp_3', 'item_3', 1_000, 'Here it is.')
      expect([call.all('clear'), plays(call)]).toEqual([[], []])
    }
    const call = waiting()
    filled(call)
    call.do({ type: 'press', keys: '123456789' })
    call.wait(1_790)
    expect(plays(call)).toEqual([])
    call.wait(520)
    expect(plays(call)).toHaveLength(1)
  })

  it('hears what others say without it', () => {
    const call = waiting()
    filled(call)
    call.wait(500)
    call.audio('own-wait-1', 'own-wait-1', 4_800)
    call.do({ type: 'say', text: 'Stay on the line.' })
    call.begins('resp_3')
    expect(call.all('clear')).toHaveLength(1)
    call.audio('resp_3', 'item_3', 2_000)
    call.wait(1_500)
    expect(plays(call)).toHaveLength(1)
  })
})

describe('Keys that the agent presses', () => {
  it('are heard in place of what bridges an answer that is late, and are not cut off by that', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(2_510)
    expect(call.all('play_chords')).toHaveLength(1)
    call.wait(100)
    call.do({ type: 'press', keys: '12' })
    call.wait(100)
    call.effects.length = 0
    call.answer('resp_1', 'item_1', 1_000)
    expect(call.all('clear')).toEqual([])
  })

  it('are none where a person has the call', () => {
    const call = Call.greeted()
    call.do({ type: 'take_over' })
    call.do({ type: 'press', keys: '1' })
    expect(call.all('play_keys')).toEqual([])
  })

  it('are none while the call has no stream', () => {
    const call = Call.greeted()
    call.do({ type: 'stream_lost' })
    call.do({ type: 'press', keys: '1' })
    call.do({ type: 'attached' })
    expect(call.all('play_keys')).toEqual([])
  })

  it('are heard behind what another voice is still to say before them, and nobody cuts that short', () => {
    const call = new Call({ secondVoice: true })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    const words = { responseId: 'resp_1', itemId: 'item_1', text: 'I press one.' }
    call.model({ type: 'agent_text', ...words, final: true })
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'send_dtmf', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.do({ type: 'press', keys: '1' })
    call.ends('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.wait(500)
    call.speaks('turn_1', 400)
    expect(kinds(call.effects)).not.toContain('play_keys')
    expect(kinds(call.effects)).not.toContain('clear')
    expect(kinds(call.do({ type: 'voice', id: 'voice-1', event: { type: 'done' } }))).toContain('play_keys')
  })

  it('are heard to their end before the call ends that the same answer ends', () => {
    const call = new Call({ secondVoice: true })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.model({ type: 'agent_text', responseId: 'resp_1', itemId: 'item_1', text: 'I press one.', final: true })
    call.do({ type: 'press', keys: '1' })
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'end_call', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.ends('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '1', status: 'ok', endsCall: true } })
    call.wait(1_500)
    call.echoAll()
    call.do({ type: 'voice', id: 'voice-1', event: { type: 'done' } })
    expect([call.all('play_keys').length, call.all('hang_up').length]).toEqual([1, 0])
    call.audio('own-keys-1', 'own-keys-1', 250)
    call.wait(250)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('are not pressed any more where a person has the call by then', () => {
    const call = new Call({ secondVoice: true })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.model({ type: 'agent_text', responseId: 'resp_1', itemId: 'item_1', text: 'I press one.', final: true })
    call.do({ type: 'press', keys: '1' })
    call.do({ type: 'take_over' })
    call.ends('resp_1', { status: 'cancelled' })
    expect(kinds(call.effects)).not.toContain('play_keys')
  })
})
