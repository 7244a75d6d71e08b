import { describe, expect, it } from 'vitest'
import type { ModelFault } from '../../platform/realtime/port.ts'
import { Call, kinds, planWith } from './call.fixture.ts'
import type { Plan } from './plan.ts'

function lose(call: Call, fault: ModelFault = 'retry'): void {
  call.model({ type: 'closed', code: '1006', message: 'gone', fault })
}

/** Lets every timer of the model's side fire until the call has given up. */
function end(call: Call): string | undefined {
  call.wait(60_000)
  return call.all('finish')[0]?.reason
}

describe('A call', () => {
  it('keeps what the caller says until the model is ready, and hands it over before it asks for the greeting', () => {
    const call = new Call()
    expect(kinds(call.effects)).not.toContain('open_uplink')
    const order = kinds(call.model({ type: 'ready' }))
    expect(order.indexOf('open_uplink')).toBeLessThan(order.indexOf('respond'))
    expect(call.commands('respond')[0]?.instructions).toContain('Welcome.')
  })

  it('does not wait for ever for a model that is never set up', () => {
    const call = new Call()
    expect(end(call)).toBe('model_lost')
    expect(call.all('apologise')).toHaveLength(1)
    expect(call.nowMs).toBeLessThanOrEqual(61_000)
  })

  it('apologises after fifteen seconds when no session can be had', () => {
    const call = new Call()
    call.wait(14_900)
    expect(call.all('apologise')).toEqual([])
    call.wait(100)
    expect(call.all('apologise')).toHaveLength(1)
  })
})

describe('A lost model session', () => {
  it('is not opened anew once another has taken its place', () => {
    const others: ((call: Call) => void)[] = [
      (call) => call.do({ type: 'hand_off', plan: call.state.plan, agentName: 'Blake', summary: '' }),
      (call) => {
        call.do({ type: 'take_over' })
        call.do({ type: 'person_lost' })
        call.do({ type: 'release' })
      },
    ]
    for (const other of others) {
      const call = Call.greeted()
      lose(call)
      call.wait(50)
      lose(call)
      expect(call.timers).toContain('reconnect')
      other(call)
      call.model({ type: 'ready' })
      expect(call.timers).not.toContain('reconnect')
      const opened = call.all('open_model').length
      call.wait(2_000)
      expect([call.all('open_model').length, call.state.model.isReady]).toEqual([opened, true])
    }
  })

  it('is replaced at once, and the new one is told the conversation so far as one text', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, 'Is it open?')
    call.answer('resp_1', 'item_1', 1_000, 'Yes, it is.')
    call.wait(1_000)
    call.echoAll()
    lose(call)
    expect(call.all('open_model').at(-1)).toEqual({
      type: 'open_model',
      epoch: 2,
      history: 'agent: Some words.\ncaller: Is it open?\nagent: Yes, it is.',
    })
  })

  it('is given up at once when trying again cannot help', () => {
    for (const fault of ['fatal', 'setup'] as const) {
      const call = Call.greeted()
      lose(call, fault)
      expect(call.all('open_model')).toHaveLength(1)
      expect(call.all('apologise')).toHaveLength(1)
    }
  })

  it('that the provider refused for a moment is opened again when the moment is over', () => {
    const call = Call.greeted()
    call.model({ type: 'rate_limited', resetMs: 2_000 })
    lose(call)
    call.wait(1_900)
    expect(call.all('open_model')).toHaveLength(1)
    call.wait(200)
    expect(call.all('open_model')).toHaveLength(2)
  })

  it('that was owed an answer is asked for it again', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    lose(call)
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
  })

  it('that was in the middle of a sentence goes on with it; what was sent plays on', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 800)
    lose(call)
    call.model({ type: 'ready' })
    expect(call.all('clear')).toEqual([])
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on')
  })

  it('takes with it the words that were never said: the next one is not told them', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'agent_transcript', responseId: 'resp_1', itemId: 'item_1', text: 'I am', final: false })
    lose(call)
    expect(call.all('open_model').at(-1)?.history).toBe('agent: Some words.\ncaller: What is it?')
  })

  it('leaves a mark behind its last audio, so that its end is known', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I am')
    call.do({ type: 'sent', responseId: 'resp_1', itemId: 'item_1', ms: 100, mark: null })
    lose(call)
    call.wait(100)
    call.echoAll()
    expect(call.turns.at(-1)).toMatchObject({ text: 'I am', heardMs: 100 })
  })

  it('that had said all but the end of its answer is asked to do what it was about to do', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 800)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    lose(call)
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('use it now')
  })

  it('owes nothing when the agent had said all there was to say', () => {
    const call = Call.greeted()
    lose(call)
    call.model({ type: 'ready' })
    call.wait(3_000)
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('took the caller’s last words with it when they were not text yet: the caller is asked for them', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    lose(call)
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })

  it('hears a caller out who was speaking, and asks for the words only when nothing follows', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    lose(call)
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(1_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })

  it.each<[string, Partial<Plan>]>([
    ['', {}],
    [', of which nobody writes down any', { capabilities: { ...planWith().capabilities, callerTranscripts: false } }],
  ])('asks for them as well behind a cough, and not behind words%s', (_whose, changes) => {
    for (const ms of [100, 500]) {
      const call = Call.greeted(changes)
      call.speaks('turn_1', 500)
      lose(call)
      call.model({ type: 'ready' })
      call.says('turn_2', ms, ms === 100 ? '' : 'What is it?')
      if (ms === 500) call.answer('resp_2', 'item_2', 100)
      call.wait(1_500)
      const isAskedAgain = call.commands('respond').at(-1)?.instructions?.includes('say it again') ?? false
      expect([ms, call.commands('respond').length, isAskedAgain]).toEqual([ms, 2, ms === 100])
    }
  })

  const DEAD = { type: 'closed', code: 'peer_silent', message: 'dead', fault: 'retry', wasDeaf: true } as const

  it('that heard nothing for a while may have missed what the caller said: they are asked, unless they go on', () => {
    const said: [ms: number, isAsked: boolean][] = [
      [0, true],
      [1_500, false],
    ]
    for (const [ms, isAsked] of said) {
      const call = Call.greeted()
      call.model(DEAD)
      expect(call.all('open_model').at(-1)?.history).toContain('last words were lost')
      call.model({ type: 'ready' })
      if (ms > 0) call.says('turn_2', ms)
      call.wait(1_000)
      const asked = call.commands('respond').slice(1)
      expect(asked.map(({ instructions }) => instructions?.includes('say it again') ?? false)).toEqual([isAsked])
    }
  })

  it('that heard nothing for a while missed nothing where the agent speaks, a tool runs, or others have the call', () => {
    const others: ((call: Call) => void)[] = [
      (call) => {
        call.says('turn_1', 500)
        call.answer('resp_1', 'item_1', 20_000)
      },
      (call) => {
        call.says('turn_1', 500)
        call.begins('resp_1')
        const tool = { callId: 'c1', name: 'look_up', argumentsText: '{}' }
        call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', ...tool })
        call.ends('resp_1')
      },
      (call) => call.do({ type: 'take_over' }),
    ]
    for (const other of others) {
      const call = Call.greeted()
      other(call)
      call.model(DEAD)
      call.model({ type: 'ready' })
      call.wait(2_000)
      expect(call.commands('respond').filter(({ instructions }) => instructions?.includes('say it again'))).toEqual([])
      expect(call.state.hasMissedWords).toBe(false)
    }
  })

  it('that heard nothing for a while is no matter for who was muted, or hears keys, or waits for an assistant to fetch somebody', () => {
    const muted = Call.greeted()
    muted.do({ type: 'mute' })
    const typing = Call.greeted()
    typing.do({ type: 'dtmf', digit: '1' })
    const screened = new Call({ readsParty: true })
    screened.model({ type: 'ready' })
    screened.answer('resp_0', 'item_0', 1_000)
    screened.do({ type: 'party_said', kind: 'screening' })
    screened.answer('resp_1', 'item_1', 1_000)
    screened.wait(1_000)
    screened.echoAll()
    const before = screened.commands('respond').length
    for (const call of [muted, typing, screened]) {
      call.model(DEAD)
      call.model({ type: 'ready' })
      call.wait(2_000)
    }
    expect(screened.commands('respond').slice(before)).toEqual([])
    muted.wait(60_000)
    muted.do({ type: 'unmute' })
    typing.do({ type: 'dtmf', digit: '#' })
    expect(muted.commands('respond').slice(1)).toEqual([])
    expect(typing.commands('respond').slice(1)).toMatchObject([{ instructions: null }])
  })

  it('lets a caller who goes on speaking go on', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    lose(call)
    expect(call.all('open_model').at(-1)?.history).toContain('last words were lost')
    call.model({ type: 'ready' })
    call.says('turn_2', 1_500)
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
  })

  it('is not replaced for a call that has nothing left to say', () => {
    const call = Call.greeted()
    call.do({ type: 'hung_up' })
    expect(call.all('open_model')).toHaveLength(1)
    lose(call)
    call.wait(5_000)
    expect(call.all('open_model')).toHaveLength(1)
  })

  it('says nothing any more: what comes late from it changes nothing', () => {
    const call = Call.greeted()
    lose(call)
    const before = call.state
    expect(call.do({ type: 'model', epoch: 1, event: { type: 'response_started', responseId: 'late' } })).toEqual([])
    expect(call.state.answers).toEqual(before.answers)
  })

  it('is told what a tool has answered meanwhile in words, and all of it, for it did not call it; a later one less', () => {
    const call = Call.greeted()
    call.model({ type: 'tool_call', responseId: 'r', itemId: 'i', callId: 'c', name: 'look_up', argumentsText: '{}' })
    lose(call)
    call.model({ type: 'ready' })
    const output = '42'.repeat(2_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output, status: 'ok', endsCall: false } })
    expect(call.commands('tool_result')).toEqual([])
    expect(call.commands('system_message').at(-1)?.text).toMatch(new RegExp(`look_up has answered, .*: ${output}$`))
    lose(call)
    call.wait(600)
    expect(call.all('open_model').at(-1)?.history).toMatch(new RegExp(`look_up has answered: ${'42'.repeat(250)}$`))
  })
})
