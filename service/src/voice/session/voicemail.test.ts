import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const MESSAGE = 'Please call us back.'

describe('a machine that answers', () => {
  it('is hung up on at once, also in the middle of the greeting', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 2_000)
    call.do({ type: 'machine' })
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(10_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'voicemail' }])
  })

  it('is left exactly the message in place of what was being said, and then hung up on', () => {
    const call = new Call({ voicemail: MESSAGE })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 2_000)
    call.do({ type: 'machine' })
    expect(call.all('clear')).toHaveLength(1)
    expect(call.all('hang_up')).toEqual([])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain(MESSAGE)
    call.answer('resp_2', 'item_2', 3_000)
    call.wait(3_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(10_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'voicemail' }])
  })

  it('does not stop the message by what it says, and is not answered', () => {
    const call = Call.greeted({ voicemail: MESSAGE })
    call.do({ type: 'machine' })
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 3_000)
    const before = call.commands('respond').length
    call.hears('turn_1', { fromMs: 100, untilMs: 1_500 })
    expect([call.all('clear'), call.commands('cancel'), call.commands('respond').length]).toEqual([[], [], before])
  })

  it('that is told twice is left one message', () => {
    const call = Call.greeted({ voicemail: MESSAGE })
    call.do({ type: 'machine' })
    call.do({ type: 'machine' })
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect(call.commands('respond').filter(({ instructions }) => instructions?.includes(MESSAGE))).toHaveLength(1)
  })

  it('changes nothing of a call that is ending', () => {
    const call = Call.greeted({ voicemail: MESSAGE })
    call.do({ type: 'hung_up' })
    const before = call.effects.length
    call.do({ type: 'machine' })
    expect(call.effects.slice(before)).toEqual([])
  })
})
