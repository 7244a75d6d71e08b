import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const QUIET = 'The caller has been silent'

describe('A silent caller', () => {
  it('is asked after ten seconds, asked again, then told goodbye and hung up on', () => {
    const call = Call.greeted()
    for (const [index, words] of [QUIET, QUIET, 'goodbye'].entries()) {
      call.wait(9_900)
      expect(call.commands('respond')).toHaveLength(index + 1)
      call.wait(100)
      expect(call.commands('respond').at(-1)?.instructions).toContain(words)
      call.answer(`idle_${index}`, `item_${index}`, 1_000)
      call.wait(1_000)
      call.echoAll()
    }
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(3_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'idle_timeout' }])
  })

  it('is hung up on behind a goodbye all of which was made when its model is lost: it is not said again', () => {
    const call = Call.greeted({ idle: { afterMs: 3_000, prompts: [], goodbye: '' } })
    for (const id of ['idle_0', 'idle_1', 'idle_2']) {
      call.wait(1_000)
      if (id !== 'idle_2') call.answer(id, `item_${id}`, 100)
      call.wait(100)
      call.echoAll()
    }
    call.begins('idle_2')
    call.words('idle_2', 'item_2', 'Goodbye.')
    call.audio('idle_2', 'item_2', 1_000)
    call.model({ type: 'audio_done', responseId: 'idle_2', itemId: 'item_2' })
    const before = call.commands('respond').length
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.wait(1_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.commands('respond').length - before]).toEqual([1, 0])
  })

  it('is not hung up on while a tool runs during which the agent goes on talking', () => {
    const call = Call.greeted({ asyncTools: ['look_up'] })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I look it up.')
    call.audio('resp_1', 'item_1', 500)
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'look_up' },
      argumentsText: '{}',
    })
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.ends('resp_1')
    call.answer('resp_2', 'item_2', 500)
    call.wait(1_000)
    call.echoAll()
    expect(call.timers).not.toContain('idle')
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.answer('resp_3', 'item_3', 500)
    call.wait(500)
    call.echoAll()
    expect(call.timers).toContain('idle')
  })

  it('is asked in the agent’s own words where it was given some', () => {
    const call = Call.greeted({ idle: { afterMs: 30_000, prompts: ['Hello?'], goodbye: 'Bye.' } })
    call.wait(10_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('Hello?')
  })

  it('has the whole time again after every turn, and not after a cough', () => {
    const call = Call.greeted()
    call.wait(10_000)
    call.answer('idle_1', 'item_1', 1_000)
    call.wait(1_500)
    call.echoAll()
    expect(call.state.idleStage).toBe(1)
    call.speaks('cough', 100)
    call.stops('cough')
    call.model({ type: 'caller_transcript', itemId: 'cough', text: '' })
    expect(call.state.idleStage).toBe(1)
    call.says('turn_1', 500)
    expect(call.state.idleStage).toBe(0)
  })

  it('is asked in time who coughs now and then, and not right behind a cough, which may be a word', () => {
    const call = Call.greeted()
    for (const [index, quietMs] of [3_000, 3_000, 2_500].entries()) {
      call.wait(quietMs)
      call.speaks(`cough_${index}`, 100)
      call.stops(`cough_${index}`)
      call.model({ type: 'caller_transcript', itemId: `cough_${index}`, text: '' })
    }
    call.wait(1_900)
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(100)
    expect(call.commands('respond').at(-1)?.instructions).toContain(QUIET)
  })

  it.each([500, 1_000, 1_900])('is asked in the end whose line clicks all the time, each %i ms', (quietMs) => {
    const call = Call.greeted()
    const isAsked = () => call.commands('respond').at(-1)?.instructions?.includes(QUIET) === true
    for (let index = 0; index < 100 && !isAsked(); index += 1) {
      call.wait(quietMs)
      call.speaks(`click_${index}`, 100)
      call.stops(`click_${index}`)
      call.model({ type: 'caller_transcript', itemId: `click_${index}`, text: '' })
    }
    expect([isAsked(), call.state.idleStage]).toEqual([true, 1])
  })

  it('has the whole time again behind a short word, and behind the answer to it', () => {
    const call = Call.greeted()
    call.wait(9_000)
    call.speaks('no', 100)
    call.stops('no')
    call.model({ type: 'caller_transcript', itemId: 'no', text: 'No.' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    call.wait(9_900)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(100)
    expect(call.commands('respond').at(-1)?.instructions).toContain(QUIET)
  })

  it('is counted from the end of what the agent says, not from when it was sent', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 20_000)
    call.wait(29_000)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(1_500)
    expect(call.commands('respond').at(-1)?.instructions).toContain(QUIET)
  })

  it('is left alone while a tool runs', () => {
    const call = Call.greeted({ clips: [{ kind: 'filler', text: 'One moment.', ms: 800 }] })
    call.model({ type: 'tool_call', responseId: 'r', itemId: 'i', callId: 'c', name: 'slow', argumentsText: '{}' })
    call.wait(30_000)
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('who answers the goodbye after all is not hung up on', () => {
    const call = Call.greeted()
    for (let stage = 0; stage < 2; stage++) {
      call.wait(10_000)
      call.answer(`idle_${stage}`, `item_${stage}`, 500)
      call.wait(500)
      call.echoAll()
    }
    call.wait(10_000)
    call.begins('bye')
    call.audio('bye', 'item_bye', 2_000)
    call.says('turn_1', 500)
    call.ends('bye', { status: 'cancelled' })
    call.wait(3_000)
    expect(call.all('hang_up')).toEqual([])
    expect(call.state.phase).toBe('talking')
  })
})

describe('Dead air', () => {
  it('is none while the agent is still to be heard, or says the awaited', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(9_000)
    expect(call.notes('dead_air')).toEqual([])
  })

  it('is told of again after a tool, for the answer is still owed', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'x', argumentsText: '{}' })
    call.ends('resp_1')
    call.wait(1_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '', status: 'ok', endsCall: false } })
    call.wait(2_600)
    expect(call.notes('dead_air')).toHaveLength(1)
  })
})
