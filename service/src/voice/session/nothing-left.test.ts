import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'
import { ANSWER, thinking } from './several-items.fixture.ts'

/** One item, all of which is here, of an answer of which nothing says whether more is to come. */
const WHOLE_MS = 9_000

/** What the model was asked for since: the greeting and the turn were asked for before. */
function asked(call: Call): (string | null)[] {
  return call
    .commands('respond')
    .map(({ instructions }) => instructions)
    .slice(2)
}

/** An answer that was called in, for nothing had said for long that it was over, while it is still heard. */
function calledIn(plan: Parameters<typeof Call.greeted>[0] = {}): Call {
  const call = Call.greeted(plan)
  call.says('turn_1', 500)
  call.begins('resp_1')
  call.item('resp_1', 'item_1', WHOLE_MS, ANSWER)
  call.wait(6_100)
  expect(call.commands('cancel')).toHaveLength(1)
  return call
}

const isOver = (call: Call) => call.ends('resp_1', { status: 'cancelled' })

describe('Of an answer that was whole, and whose end comes late, nothing is asked for', () => {
  it('in a call that is about to stop', () => {
    const call = calledIn()
    call.do({ type: 'end', reason: 'shutdown' })
    isOver(call)
    call.wait(3_000)
    call.echoAll()
    expect([asked(call), call.all('hang_up').length]).toEqual([[], 1])
  })

  it('in a call that is about to stop, where it failed', () => {
    const call = thinking(false)
    call.do({ type: 'end', reason: 'shutdown' })
    call.ends('resp_1', { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    call.wait(2_000)
    call.echoAll()
    expect([asked(call), call.all('hang_up').length]).toEqual([[], 1])
  })

  it('ahead of the goodbye of a call whose time is up', () => {
    const call = calledIn({ maxCallMs: 7_600 })
    isOver(call)
    call.wait(1_000)
    expect(asked(call)).toEqual([expect.stringContaining('The time for this call is over')])
  })

  it('ahead of the rest of its words, which the caller has missed with the stream', () => {
    const call = calledIn()
    call.do({ type: 'stream_lost' })
    isOver(call)
    call.do({ type: 'attached' })
    call.answer('resp_2', 'item_2', 1_000)
    expect(asked(call)).toEqual([expect.stringContaining('Go on from there')])
  })

  it('behind a noise that stopped it when only its end was still to come', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.item('resp_1', 'item_1', 2_000, ANSWER)
    call.wait(200)
    call.speaks('noise', 500)
    call.ends('resp_1')
    call.stops('noise')
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    const before = asked(call).length
    call.wait(3_000)
    call.echoAll()
    expect(asked(call).slice(before)).toEqual([])
  })
})

describe('An answer whose stream is lost in the middle of its preamble, which nobody has named', () => {
  it.each([
    ['before', false],
    ['after', true],
  ])('is gone on with once, should the rest of it come %s the stream is back', (_when, isBack) => {
    const call = thinking(false)
    call.wait(500)
    call.do({ type: 'stream_lost' })
    if (isBack) call.do({ type: 'attached' })
    call.words('resp_1', 'item_2', ANSWER)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_2' })
    call.ends('resp_1')
    if (!isBack) call.do({ type: 'attached' })
    call.answer('resp_2', 'item_3', 1_000)
    expect(asked(call)).toEqual([expect.stringContaining('Go on from there')])
  })

  it('is not gone on with ahead of the goodbye of a call whose time is up', () => {
    const call = thinking(false, { maxCallMs: 4_000 })
    call.wait(2_000)
    call.echoAll()
    call.do({ type: 'stream_lost' })
    call.words('resp_1', 'item_2', ANSWER)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_2' })
    call.wait(1_000)
    call.do({ type: 'attached' })
    call.ends('resp_1')
    expect(asked(call)).toEqual([expect.stringContaining('The time for this call is over')])
  })
})

describe('An answer whose session and stream are lost in the middle of it, as by one fault of the network', () => {
  const lose = {
    session: (call: Call) => void call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' }),
    stream: (call: Call) => void call.do({ type: 'stream_lost' }),
  }

  it.each([
    ['the session first', false, ['session', 'stream']],
    ['the session first, behind its last word', true, ['session', 'stream']],
    ['the stream first', false, ['stream', 'session']],
    ['the stream first, behind its last word', true, ['stream', 'session']],
  ] as const)('is gone on with once: %s', (_which, isWhole, order) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', ANSWER)
    call.audio('resp_1', 'item_1', 2_000)
    if (isWhole) call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.wait(500)
    for (const which of order) lose[which](call)
    call.do({ type: 'attached' })
    call.model({ type: 'ready' })
    call.answer('resp_2', 'item_2', 1_000)
    expect(asked(call)).toEqual([expect.stringContaining('Go on from there')])
  })
})
