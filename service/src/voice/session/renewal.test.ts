import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../platform/realtime/port.ts'
import { Call, kinds } from './call.fixture.ts'

const PLAN = { modelSessionMs: 10_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } }

/** A call whose session is old, at a pause: another one is being opened beside it. */
function renewing(): Call {
  const call = Call.greeted(PLAN)
  call.wait(9_500)
  return call
}

/** From the session that is to take over. */
function next(call: Call, event: ModelEvent) {
  return call.do({ type: 'model', epoch: 2, event })
}

describe('A session near the provider’s limit', () => {
  it('is renewed at the next pause, not in the middle of a turn', () => {
    const call = Call.greeted({ modelSessionMs: 10_000 })
    call.speaks('turn_1', 9_500)
    expect(call.all('open_next')).toEqual([])
    call.stops('turn_1')
    call.answer('resp_1', 'item_1', 2_000)
    expect(call.all('open_next')).toEqual([])
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'A long story.' })
    call.wait(2_000)
    call.echoAll()
    expect(call.all('open_next')).toMatchObject([{ epoch: 2, history: expect.stringContaining('A long story.') }])
  })

  it('is not renewed while the caller hears the agent, nor while nobody hears it', () => {
    const heard = Call.greeted(PLAN)
    heard.wait(3_000)
    heard.answer('resp_1', 'item_1', 8_000)
    heard.wait(7_900)
    expect(heard.all('open_next')).toEqual([])
    heard.wait(100)
    heard.echoAll()
    expect(heard.all('open_next')).toHaveLength(1)
    const lost = Call.greeted(PLAN)
    lost.do({ type: 'stream_lost' })
    lost.wait(9_500)
    expect(lost.all('open_next')).toEqual([])
  })

  it('waits for the words of a sound, or for its answer where none come, and for its text no longer than five seconds', () => {
    const call = Call.greeted(PLAN)
    call.wait(8_500)
    call.speaks('word', 100)
    call.stops('word')
    call.isQuiet(2_100)
    call.answer('resp_1', 'item_1', 500)
    call.isQuiet(600)
    call.echoAll()
    call.isQuiet(2_100)
    expect(call.all('open_next')).toEqual([])
    call.isQuiet(200)
    call.echoAll()
    expect(call.all('open_next')).toHaveLength(1)
    next(call, { type: 'ready' })
    expect(call.state.model.epoch).toBe(2)
  })

  it('is talked to until the next one is ready, and is closed then', () => {
    const call = renewing()
    expect(call.all('open_next')).toHaveLength(1)
    expect(call.state.model).toMatchObject({ epoch: 1, isReady: true })
    expect(kinds(next(call, { type: 'ready' }))).toContain('take_next')
    expect(call.state.model).toMatchObject({ epoch: 2, isReady: true, next: null })
    expect([call.all('close_model'), call.all('hold_uplink')]).toEqual([[], []])
    call.says('2·turn_1', 500)
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is renewed once', () => {
    const call = renewing()
    next(call, { type: 'ready' })
    call.wait(5_000)
    expect(call.all('open_next')).toHaveLength(1)
  })

  it('is kept when no other can be had, whatever the reason, and renewed half a minute later', () => {
    const failures: ModelEvent[] = [
      { type: 'closed', code: 'insufficient_quota', message: '', fault: 'fatal' },
      { type: 'closed', code: '429', message: '', fault: 'retry' },
      { type: 'refused', requestId: null, code: 'invalid_value', message: '', fault: 'setup' },
    ]
    for (const failure of failures) {
      const call = renewing()
      next(call, failure)
      expect([call.all('apologise'), call.all('close_model'), call.state.ending]).toEqual([[], [], null])
      expect(call.all('close_next')).toHaveLength(1)
      call.says('turn_1', 500)
      expect(call.commands('respond')).toHaveLength(2)
      call.answer('resp_1', 'item_1', 1_000)
      call.wait(1_000)
      call.echoAll()
      expect(call.all('open_next')).toHaveLength(1)
      call.wait(30_000)
      expect(call.all('open_next')).toHaveLength(2)
    }
  })

  it('is kept when the other is not set up in time', () => {
    const call = renewing()
    call.wait(5_000)
    expect(call.all('close_next')).toHaveLength(1)
    expect(next(call, { type: 'ready' })).toEqual([])
    expect(call.state.model).toMatchObject({ epoch: 1, isReady: true, failedAtMs: [] })
  })

  it('is kept when the caller speaks before the other is ready, which would not know it', () => {
    const call = renewing()
    call.speaks('turn_1', 500)
    next(call, { type: 'ready' })
    expect(call.state.model).toMatchObject({ epoch: 1, next: null })
    call.stops('turn_1')
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Wait.' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect(call.all('open_next')).toHaveLength(2)
    expect(call.all('open_next').at(-1)?.history).toContain('Wait.')
  })

  it('is kept when it was told something meanwhile that the other does not know: that is opened anew', () => {
    const call = renewing()
    call.do({ type: 'whisper', text: 'Offer them a discount.' })
    const effects = kinds(next(call, { type: 'ready' }))
    expect(effects).not.toContain('take_next')
    expect(call.all('open_next')).toHaveLength(2)
    expect(call.all('open_next').at(-1)?.history).toContain('Offer them a discount.')
    next(call, { type: 'ready' })
    expect(call.all('take_next')).toHaveLength(1)
  })

  it('that is lost meanwhile is replaced like any other', () => {
    const call = renewing()
    const effects = kinds(call.model({ type: 'closed', code: '1001', message: 'expired', fault: 'expired' }))
    expect(effects).toContain('close_next')
    expect(effects.indexOf('close_next')).toBeLessThan(effects.indexOf('open_model'))
    call.model({ type: 'ready' })
    expect(call.state.model).toMatchObject({ epoch: 2, isReady: true, next: null })
  })
})
