import { describe, expect, it } from 'vitest'
import type { ModelFault } from '../../platform/realtime/port.ts'
import { Call } from './call.fixture.ts'

const PLAN = { fallback: { price: null } }

function lose(call: Call, fault: ModelFault = 'retry'): void {
  call.model({ type: 'closed', code: '1006', message: 'gone', fault })
}

/** Whether the session that is opened now is one of the other model's. */
const isFallback = (call: Call) => call.state.model.isFallback

describe('A model that stays away', () => {
  it('is left for the other one at its third loss in ten seconds, with what was said and what is owed', () => {
    const call = Call.greeted(PLAN)
    call.says('turn_1', 500, 'Is it open?')
    lose(call)
    call.wait(500)
    lose(call)
    call.wait(1_500)
    expect([isFallback(call), call.all('open_model').length]).toEqual([false, 3])
    lose(call)
    expect([isFallback(call), call.all('open_model').length, call.all('apologise')]).toEqual([true, 4, []])
    expect(call.all('open_model').at(-1)?.history).toContain('caller: Is it open?')
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    call.answer('resp_2', 'item_2', 1_000, 'Yes.')
    expect(call.turns.at(-1)?.role).toBe('caller')
    call.wait(1_000)
    call.echoAll()
    expect(call.turns.at(-1)).toMatchObject({ role: 'agent', text: 'Yes.' })
  })

  it.each(['fatal', 'setup'] as const)('is left for it at once when trying again cannot help: %s', (fault) => {
    const call = Call.greeted(PLAN)
    lose(call, fault)
    expect([isFallback(call), call.all('open_model').length, call.all('apologise')]).toEqual([true, 2, []])
  })

  it('is left for it after five seconds in which it cannot be set up', () => {
    const call = new Call(PLAN)
    call.wait(4_900)
    expect(isFallback(call)).toBe(false)
    call.wait(200)
    expect([isFallback(call), call.all('open_model').length]).toEqual([true, 2])
  })

  it('is left for it then also when the timer is a little early', () => {
    const call = new Call(PLAN)
    call.wait(4_999)
    call.do({ type: 'fired', timer: 'model_setup' })
    expect([isFallback(call), call.all('open_model').length]).toEqual([true, 2])
  })

  it('is left for it when it answers nothing, or refuses every answer', () => {
    const silent = Call.greeted(PLAN)
    silent.says('turn_1', 500)
    silent.wait(12_100)
    expect([isFallback(silent), silent.all('apologise')]).toEqual([true, []])
    silent.model({ type: 'ready' })
    silent.answer('resp_1', 'item_1', 500)
    const refused = Call.greeted(PLAN)
    refused.says('turn_1', 500)
    for (const responseId of ['resp_1', 'resp_2']) {
      refused.begins(responseId)
      refused.ends(responseId, { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    }
    expect(isFallback(refused)).toBe(true)
  })

  it('is left for it when the account is used up in the middle of a call: the answer comes from there', () => {
    const call = Call.greeted(PLAN)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.ends('resp_1', { status: 'failed', errorCode: 'insufficient_quota', fault: 'fatal' })
    expect([isFallback(call), call.all('apologise')]).toEqual([true, []])
    const asked = call.commands('respond').length
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(asked + 1)
  })

  it('leaves the call to an apology when the other one stays away as well, as it does where there is none', () => {
    const call = Call.greeted(PLAN)
    lose(call, 'fatal')
    lose(call, 'fatal')
    expect([call.all('open_model').length, call.all('apologise').length]).toEqual([2, 1])
    const silent = new Call(PLAN)
    silent.wait(5_000 + 14_900)
    expect(silent.all('apologise')).toEqual([])
    silent.wait(200)
    expect(silent.all('apologise')).toHaveLength(1)
  })

  it('does not have a tool run again that ran for it', () => {
    const call = Call.greeted(PLAN)
    call.says('turn_1', 500)
    call.begins('resp_1')
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'book', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    lose(call, 'fatal')
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '{"ok":true}', status: 'ok', endsCall: false } })
    expect(call.all('open_model').at(-1)?.history).toContain('The tool book was called with')
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.all('run_tool')).toHaveLength(1)
  })

  it('costs from then on what the other one does, also when another agent has the call', () => {
    const price = { input: 1 } as never
    const call = Call.greeted({ fallback: { price } })
    lose(call, 'fatal')
    expect(call.state.plan.price).toBe(price)
    const { plan } = Call.greeted({ fallback: { price } }).state
    call.do({ type: 'hand_off', plan, agentName: 'Sam', summary: '' })
    expect([call.state.plan.price, isFallback(call)]).toEqual([price, true])
  })

  it('is not replaced for a call that is ending', () => {
    const call = Call.greeted(PLAN)
    call.do({ type: 'end', reason: 'shutdown' })
    lose(call, 'fatal')
    expect(call.all('open_model')).toHaveLength(1)
  })
})
