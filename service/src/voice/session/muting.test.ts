import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'

/** What the model was asked to say since the call began. */
const asked = (call: Call) => call.effects.filter((e) => e.type === 'command' && e.command.type === 'respond').length

/** The caller says something, and it is meant. */
function speaks(call: Call, itemId: string): void {
  call.model({ type: 'speech_started', itemId, audioStartMs: call.nowMs })
  call.do({ type: 'caller_audio', ms: 1_000, loudMs: 1_000 })
  call.wait(1_000)
  call.model({ type: 'speech_stopped', itemId, audioEndMs: call.nowMs })
  call.model({ type: 'committed', itemId, previousItemId: null })
}

describe('an agent that is muted', () => {
  it('falls silent at once, and the model is told how much of it was heard', () => {
    const call = Call.greeted()
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 3_000)
    call.wait(1_000)
    const effects = call.do({ type: 'mute' })
    expect(effects.map(({ type }) => type)).toEqual(expect.arrayContaining(['discard', 'clear']))
    expect(effects).toContainEqual({ type: 'command', command: { type: 'cancel', responseId: 'resp_1' } })
    expect(effects).toContainEqual({
      type: 'command',
      command: { type: 'truncate', itemId: 'item_1', audioEndMs: 1_000 },
    })
    expect(call.state.latency.interruptions).toBe(0)
    expect(call.do({ type: 'mute' })).toEqual([])
    call.do({ type: 'unmute' })
    expect(call.notes('muted').map(({ isOn }) => isOn)).toEqual([true, false])
  })

  it('falls silent also where callers cannot interrupt it', () => {
    const call = Call.greeted({ interruption: { ...INTERRUPTION, enabled: false, minSpeechMs: 0, greetingGuardMs: 0 } })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 3_000)
    expect(call.do({ type: 'mute' }).map(({ type }) => type)).toContain('clear')
  })

  it('is asked for no answer, and answers the last of what was said once it may speak again', () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    const before = asked(call)
    speaks(call, 'turn_1')
    speaks(call, 'turn_2')
    call.wait(10_000)
    expect(asked(call)).toBe(before)
    call.do({ type: 'unmute' })
    expect(asked(call)).toBe(before + 1)
    expect(call.do({ type: 'unmute' })).toEqual([])
  })

  it('says nothing of its own when nobody has asked it anything meanwhile', () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    const before = asked(call)
    call.wait(100)
    call.do({ type: 'unmute' })
    expect(asked(call)).toBe(before)
  })

  it("cuts short what the model's server begins by itself", () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    const effects = call.model({ type: 'response_started', responseId: 'resp_own' })
    expect(effects).toContainEqual({ type: 'command', command: { type: 'cancel', responseId: 'resp_own' } })
  })

  it('does not ask a silent caller whether they are there', () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    const before = asked(call)
    call.wait(120_000)
    expect([asked(call), call.state.ending]).toEqual([before, null])
    call.do({ type: 'unmute' })
    call.wait(10_100)
    expect(asked(call)).toBe(before + 1)
  })

  it('says what a supervisor has it say, and the last words of the call', () => {
    const call = Call.greeted()
    call.do({ type: 'mute' })
    const before = asked(call)
    call.do({ type: 'say', text: 'A person will be with you soon.' })
    expect(asked(call)).toBe(before + 1)
    const other = Call.greeted({ maxCallMs: 60_000 })
    other.do({ type: 'mute' })
    const count = asked(other)
    other.wait(60_000)
    expect(asked(other)).toBe(count + 1)
  })

  it('is not muted any more once the call is ending', () => {
    const call = Call.greeted()
    call.do({ type: 'end', reason: 'shutdown' })
    expect(call.do({ type: 'mute' })).toEqual([])
    expect(call.state.isMuted).toBe(false)
  })
})
