import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds, planWith } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'
import { ownId } from './own-audio.ts'
import type { Plan } from './plan.ts'
import type { Resumption } from './resumption.ts'

const TARGET = '+12025550103'
const asked = (call: Call) => call.commands('respond')

function wanted(facts: Partial<Extract<SessionEvent, { type: 'transfer' }>> = {}): SessionEvent {
  return { type: 'transfer', id: 't1', target: TARGET, isWarm: false, isAgents: true, ...facts }
}

/** The target of a greeted call is being rung. */
function holding(): Call {
  const call = Call.greeted()
  call.do(wanted({ isWarm: true }))
  call.do({ type: 'transfer_ringing' })
  return call
}

describe('a call that its agent puts through', () => {
  it('goes once the words before it were heard, and a tool that still runs changes nothing', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'One moment.')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'look_up' },
      argumentsText: '{}',
    })
    call.do(wanted())
    expect(call.all('begin_transfer')).toEqual([])
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.ends('resp_1')
    const before = asked(call).length
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    expect(call.all('begin_transfer')).toEqual([])
    call.wait(1_000)
    call.echoAll()
    expect(call.all('begin_transfer')).toHaveLength(1)
    call.wait(11_000)
    expect(asked(call)).toHaveLength(before)
  })

  /** The agent says its last words, and a sound stops it in the middle of them. */
  function stoppedInLastWords(changes: Partial<Plan> = {}): Call {
    const call = inLastWords(changes)
    call.do(wanted())
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    return call
  }

  /** The agent has called its tool, and says its last words. */
  function inLastWords(changes: Partial<Plan> = {}): Call {
    const call = Call.greeted(changes)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I put you through to the kitchen.')
    call.audio('resp_1', 'item_1', 3_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'transfer_call' },
      argumentsText: '{}',
    })
    call.ends('resp_1')
    return call
  }

  it('has the caller hear goodbye, and no answer to the tool, where the longest call passes while the target is rung', () => {
    const call = inLastWords({ maxCallMs: 20_000 })
    call.do(wanted({ isWarm: true }))
    call.wait(3_000)
    call.echoAll()
    call.do({ type: 'transfer_ringing' })
    call.audio(ownId('hold', 1), ownId('hold', 1), 30_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    const before = asked(call).length
    call.wait(20_000)
    const [goodbye, ...others] = asked(call).slice(before)
    expect(goodbye?.instructions).toContain('say goodbye')
    expect(others).toEqual([])
    expect(call.all('clear')).toHaveLength(1)
    expect(call.all('cancel_transfer')).toHaveLength(1)
    const notes = call.turns.filter(({ role }) => role === 'system')
    expect(notes.at(-1)?.text).toBe('The call could not be put through: nobody answers.')
  })

  it('does not wait for who is told what it is about where the longest call has passed: goodbye is said', () => {
    const call = inLastWords({ maxCallMs: 5_000 })
    call.wait(5_000 - call.nowMs)
    call.do(wanted({ isWarm: true }))
    expect(call.state.transfer).toBeNull()
    call.wait(2_000)
    call.echoAll()
    expect(asked(call).at(-1)?.instructions).toContain('say goodbye')
    call.answer('resp_2', 'item_2', 1_000, 'Goodbye.')
    call.wait(1_000)
    call.echoAll()
    expect([call.all('play_hold'), call.all('hang_up').length]).toEqual([[], 1])
  })

  it('does not say that nobody answers where the longest call passes before anybody is rung', () => {
    const call = inLastWords({ maxCallMs: 5_000 })
    call.do(wanted({ isWarm: true }))
    expect(call.state.transfer?.phase).toBe('words')
    call.wait(5_000)
    expect(asked(call).at(-1)?.instructions).toContain('say goodbye')
    expect(call.all('begin_transfer')).toEqual([])
    const notes = call.turns.filter(({ role }) => role === 'system')
    expect(notes.at(-1)?.text).toBe('The call could not be put through: the connection failed.')
  })

  it('goes once the agent has gone on after a sound that was no words', () => {
    const call = stoppedInLastWords()
    expect(call.all('clear')).toHaveLength(1)
    expect(call.all('begin_transfer')).toEqual([])
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    expect([call.all('play_aside').length, call.all('begin_transfer').length]).toEqual([1, 0])
    call.wait(2_000)
    call.echoAll()
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject({ unheard: '', interrupted: false })
    expect(call.all('begin_transfer')).toHaveLength(1)
  })

  /** A call off is told by its tool, which asks for the answer. */
  function calledOff(call: Call): void {
    expect([call.all('begin_transfer'), call.all('play_aside')]).toEqual([[], []])
    expect([call.all('cancel_transfer').map(({ why }) => why), call.state.transfer]).toEqual([['spoken'], null])
    expect(call.timers).not.toContain('transfer')
    const before = asked(call).length
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'error', endsCall: false } })
    expect([asked(call).length, asked(call).at(-1)?.instructions]).toEqual([before + 1, null])
    expect(call.turns.map(({ text }) => text)).toContain(
      'The call was not put through, because the caller spoke before it was.',
    )
    call.begins('resp_2')
    call.words('resp_2', 'item_2', 'All right.')
    call.audio('resp_2', 'item_2', 500)
    expect(call.notes('latency')).toHaveLength(2)
    call.wait(10_000)
    expect(call.all('begin_transfer')).toEqual([])
  }

  it('does not go when words of the caller stopped the agent: that answers them, and may do it again', () => {
    const call = stoppedInLastWords()
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'No wait, please do not connect me.' })
    calledOff(call)
    call.do(wanted({ id: 't2' }))
    expect(call.state.transfer?.id).toBe('t2')
  })

  it('does not go either where the agent would not have gone on after a noise, which it waits for all the same', () => {
    const plan = { interruption: { ...INTERRUPTION, resumeFalseMs: 0 } }
    const words = stoppedInLastWords(plan)
    words.model({ type: 'caller_transcript', itemId: 'noise', text: 'No wait.' })
    calledOff(words)
    const noise = stoppedInLastWords(plan)
    expect(noise.all('begin_transfer')).toEqual([])
    noise.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    expect(noise.all('begin_transfer')).toHaveLength(1)
    calledOff(stoppedInLastWords({ capabilities: { ...planWith().capabilities, callerTranscripts: false } }))
  })

  it('does not go when it was said before it that was written down only then', () => {
    const call = inLastWords({ interruption: { ...INTERRUPTION, backchannels: ['yes'] } })
    call.wait(500)
    call.speaks('turn_2', 500)
    call.stops('turn_2')
    call.do(wanted())
    call.model({ type: 'caller_transcript', itemId: 'turn_2', text: 'No wait.' })
    expect(call.all('clear')).toHaveLength(1)
    calledOff(call)
  })

  it('goes when what stopped the agent only says "go on", and after six seconds when nobody knows what it was', () => {
    const plan = { interruption: { ...INTERRUPTION, backchannels: ['yes'] } }
    const listening = stoppedInLastWords(plan)
    listening.model({ type: 'caller_transcript', itemId: 'noise', text: 'Yes, yes.' })
    expect(listening.all('begin_transfer')).toHaveLength(1)
    const failed = stoppedInLastWords({ interruption: { ...INTERRUPTION, resumeFalseMs: 0 } })
    failed.model({ type: 'caller_transcript_failed', itemId: 'noise' })
    expect(failed.all('begin_transfer')).toEqual([])
    failed.wait(6_000)
    expect(failed.all('begin_transfer')).toHaveLength(1)
    const unknown = stoppedInLastWords()
    unknown.speaks('noise_2', 4_500)
    expect(unknown.all('begin_transfer')).toHaveLength(1)
    expect(unknown.state.stopped).toBeNull()
  })

  it('goes after six seconds, whatever is still being said', () => {
    const call = Call.greeted()
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 30_000)
    call.do(wanted())
    call.wait(6_000)
    expect(call.all('begin_transfer')).toHaveLength(1)
  })

  it('goes after six seconds without the rest of an answer that is still being made, which nobody takes for heard', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'One two three ')
    call.do(wanted())
    for (let ms = 0; ms < 6_000; ms += 500) {
      call.audio('resp_1', 'item_1', 600)
      expect(call.commands('cancel')).toEqual([])
      call.wait(500)
    }
    expect(call.all('begin_transfer')).toHaveLength(1)
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    expect(call.all('discard')).toEqual([{ type: 'discard', responseIds: ['resp_1'] }])
    expect(call.all('clear')).toEqual([])
  })

  it('is there again when the carrier refuses, and the tool says why', () => {
    const call = Call.greeted()
    call.do(wanted())
    const before = asked(call).length
    call.do({ type: 'transfer_failed', why: 'failed' })
    expect([asked(call).length, call.state.transfer]).toEqual([before, null])
    call.says('turn_1', 500)
    expect(asked(call)).toHaveLength(before + 1)
  })

  it('leaves in the middle of words that it has gone on with: all that was heard of them counts, and they are cut once', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 9_000, 'One two three four five six seven eight nine ten eleven twelve.')
    call.do(wanted())
    call.wait(2_000)
    call.speaks('noise', 500)
    call.stops('noise')
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    expect(call.all('play_aside')).toHaveLength(1)
    call.wait(4_000)
    expect(call.all('begin_transfer')).toHaveLength(1)
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: expect.any(Number) }])
    const said = call.turns.findLast(({ itemId }) => itemId === 'item_1')
    expect(said).toMatchObject({ sentMs: 9_000, interrupted: true })
    expect(said?.heardMs).toBeGreaterThan(5_500)
  })

  it('is put through once: not twice, not when it is ending or lost, not by whoever has no carrier, not over a person', () => {
    const call = Call.greeted()
    call.do(wanted())
    call.do(wanted({ id: 't2' }))
    expect(call.state.transfer?.id).toBe('t1')
    expect(kinds(call.do({ type: 'take_over' }))).not.toContain('connect_person')
    const others = [Call.greeted(), Call.greeted(), Call.greeted({ isResumable: false }), Call.greeted()]
    others[0]?.do({ type: 'end', reason: 'supervisor' })
    others[1]?.do({ type: 'stream_lost' })
    others[3]?.do({ type: 'take_over' })
    for (const other of others) {
      other.do(wanted())
      expect(other.state.transfer).toBeNull()
    }
  })
})

describe('a call that a supervisor puts through', () => {
  it('has its agent cut short, and its carrier asked at once', () => {
    const call = Call.greeted()
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 3_000)
    const effects = call.do(wanted({ isAgents: false }))
    expect(kinds(effects)).toContain('clear')
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.all('begin_transfer')).toHaveLength(1)
  })

  it('is gone on with by the agent when the carrier refuses', () => {
    const call = Call.greeted()
    call.do(wanted({ isAgents: false }))
    call.do({ type: 'transfer_failed', why: 'failed' })
    expect(asked(call).at(-1)?.instructions).toContain(`could not be put through to ${TARGET}`)
  })
})

describe('a stream that ends because its call is put through', () => {
  for (const end of ['stream_stopped', 'stream_lost'] as const) {
    it(`(${end}) does not end the call, which the target has when that is told`, () => {
      const call = Call.greeted()
      call.do(wanted())
      call.do({ type: end })
      expect([call.state.phase, call.all('hang_up')]).toEqual(['detached', []])
      call.do({ type: 'transfer_sent' })
      call.wait(30_000)
      expect(call.state.phase).toBe('detached')
      call.do({ type: 'transferred' })
      expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'transferred' }])
      expect([call.state.isLetGo, call.all('hang_up')]).toEqual([true, []])
    })
  }

  it('is written down as far as it came before the other end has the call', () => {
    const call = Call.greeted()
    call.do(wanted())
    const before = call.all('checkpoint').length
    call.do({ type: 'transfer_sent' })
    expect(call.all('checkpoint')).toHaveLength(before + 1)
  })

  it('comes back, and the agent says why nobody took it', () => {
    const call = Call.greeted()
    call.do(wanted())
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.wait(20_000)
    call.do({ type: 'transfer_failed', why: 'busy' })
    const before = asked(call).length
    call.do({ type: 'attached' })
    expect(asked(call)).toHaveLength(before + 1)
    expect(asked(call).at(-1)?.instructions).toContain('the line is busy')
    expect(call.state.transfer).toBeNull()
    call.answer('resp_back', 'item_back', 500)
    call.wait(600)
    call.echoAll()
    expect(asked(call)).toHaveLength(before + 1)
  })

  it.each([
    ['busy', 'the line is busy'],
    ['no_answer', 'nobody answers'],
    ['declined', 'nobody there could take it'],
    ['failed', 'the connection failed'],
  ] as const)('has it written down why nobody took it (%s), whether it left or not', (why, words) => {
    const left = Call.greeted()
    left.do(wanted())
    left.do({ type: 'transfer_sent' })
    left.do({ type: 'stream_stopped' })
    left.do({ type: 'transfer_failed', why })
    left.do({ type: 'attached' })
    const stayed = Call.greeted()
    stayed.do(wanted())
    stayed.do({ type: 'transfer_failed', why })
    const refused = Call.greeted()
    refused.do(wanted({ isAgents: false, isWarm: true }))
    refused.do({ type: 'transfer_ringing' })
    refused.do({ type: 'transfer_failed', why })
    const lines = [left, stayed, refused].map(({ turns }) => turns.at(-1)?.text)
    expect(lines).toEqual(Array(3).fill(`The call could not be put through: ${words}.`))
  })

  it('is taken to be with the target when nothing was heard for longer than that rings', () => {
    const call = Call.greeted()
    call.do(wanted())
    call.do({ type: 'stream_stopped' })
    call.wait(45_000)
    expect([call.all('put_through').length, call.state.isLetGo, call.all('hang_up')]).toEqual([1, true, []])
  })

  it('is not taken to be with the target while they are being brought there, because it was lost long before', () => {
    const call = holding()
    call.do({ type: 'stream_lost' })
    call.wait(14_000)
    call.do({ type: 'transfer_sent' })
    call.wait(2_000)
    expect([call.all('put_through').length, call.all('finish').length]).toEqual([0, 0])
    call.do({ type: 'transferred' })
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'transferred' }])
  })

  it('is not the end of the call because its longest time has passed while the agent was asked for it', () => {
    const call = Call.greeted({ maxCallMs: 20_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    call.wait(20_000)
    expect(asked(call).at(-1)?.instructions).toContain('The time for this call is over')
    call.says('turn_1', 500, 'Put me through to somebody, please.')
    call.do(wanted({ isAgents: false }))
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.wait(30_000)
    expect([call.state.ending, call.all('hang_up')]).toEqual([null, []])
    call.do({ type: 'attached' })
    expect(asked(call).at(-1)?.instructions).toContain('The time for this call is over')
  })

  it('that never ends is gone on with', () => {
    const call = Call.greeted()
    call.do(wanted())
    call.do({ type: 'transfer_sent' })
    call.wait(10_000)
    expect(call.all('cancel_transfer')).toHaveLength(1)
    expect(asked(call).at(-1)?.instructions).toContain('the connection failed')
  })
})

describe('a caller who waits while the target is rung', () => {
  it('hears music again and again, which speaking does not stop, and no agent', () => {
    const call = holding()
    const before = asked(call).length
    call.wait(9_000)
    expect(call.all('play_hold').length).toBeGreaterThanOrEqual(4)
    const effects = call.effects.length
    call.says('turn_1', 900)
    call.wait(30_000)
    expect(kinds(call.effects.slice(effects))).not.toContain('clear')
    expect(asked(call)).toHaveLength(before)
  })

  it('hears what the agent has for that from its beginning to its end, a stretch at a time, and anew', () => {
    const call = Call.greeted({ holdMs: 10_000 })
    call.effects.length = 0
    call.do(wanted({ isWarm: true }))
    call.do({ type: 'transfer_ringing' })
    call.wait(13_600)
    expect(call.all('play_hold').map(({ id, fromMs, ms }) => [id, fromMs, ms])).toEqual([
      ['own-hold-1', 0, 4_800],
      ['own-hold-2', 4_800, 4_800],
      ['own-hold-3', 9_600, 400],
      ['own-hold-4', 0, 4_800],
    ])
  })

  it('has the agent again when nobody takes it, without music', () => {
    const call = holding()
    call.audio('own-hold-1', 'own-hold-1', 3_000)
    call.wait(500)
    const effects = call.do({ type: 'transfer_failed', why: 'declined' })
    expect(effects).toContainEqual({ type: 'discard', responseIds: ['own-hold-1'] })
    expect(kinds(effects)).toContain('clear')
    expect(kinds(effects)).not.toContain('truncate')
    expect(asked(call).at(-1)?.instructions).toContain('nobody there could take it')
    const plays = call.all('play_hold').length
    call.wait(10_000)
    expect(call.all('play_hold')).toHaveLength(plays)
  })

  it('hears it from its beginning for the next target, too, though it was cut off with the first', () => {
    const call = holding()
    call.audio('own-hold-1', 'own-hold-1', 3_000)
    call.do({ type: 'transfer_failed', why: 'busy' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    call.do(wanted({ id: 't2', isWarm: true }))
    call.do({ type: 'transfer_ringing' })
    const silenced = call.all('discard').flatMap(({ responseIds }) => responseIds)
    expect(call.all('play_hold').map(({ fromMs }) => fromMs)).toEqual([0, 0])
    expect(silenced).not.toContain(call.all('play_hold').at(-1)?.id)
  })

  it('has the agent again after a minute and a half in any case', () => {
    const call = holding()
    call.wait(90_000)
    expect([call.all('cancel_transfer').length, call.state.transfer]).toEqual([1, null])
    expect(call.turns.at(-1)?.text).toBe('The call could not be put through: nobody answers.')
  })

  it('is with the target when that is told', () => {
    const call = holding()
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.do({ type: 'transferred' })
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'transferred' }])
    expect(call.all('cancel_transfer')).toEqual([])
    expect(call.notes('state').at(-1)?.state).toBe('ended')
  })

  it('may hang up, or lose the stream: nobody is rung any more, or the music goes on', () => {
    const call = holding()
    expect(kinds(call.do({ type: 'hung_up' }))).toContain('cancel_transfer')
    const lost = holding()
    lost.do({ type: 'stream_lost' })
    const plays = lost.all('play_hold').length
    lost.do({ type: 'attached' })
    expect([lost.all('play_hold').length, lost.state.transfer?.phase]).toEqual([plays + 1, 'holding'])
  })

  it('is told goodbye when the time of the call is up', () => {
    const call = Call.greeted({ maxCallMs: 60_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    call.wait(40_000)
    call.do(wanted({ isWarm: true }))
    call.do({ type: 'transfer_ringing' })
    const before = asked(call).length
    call.wait(20_000)
    expect([call.all('cancel_transfer').length, asked(call).length]).toEqual([1, before + 1])
  })

  it('does not lose the call because no model can be had', () => {
    const call = holding()
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    expect(call.all('apologise')).toEqual([])
    call.do({ type: 'transfer_failed', why: 'no_answer' })
    expect(call.all('open_model')).toHaveLength(2)
  })
})

describe('a transfer that came to nothing', () => {
  /** Rung in place of our stream by the carrier, and refused. */
  function away(call: Call, ms: number): void {
    call.do(wanted({ isAgents: false }))
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.wait(ms)
    call.do({ type: 'transfer_failed', why: 'busy' })
    call.do({ type: 'attached' })
  }

  it('is called off, so that nothing is left of it', () => {
    const call = Call.greeted()
    away(call, 5_000)
    expect(call.all('cancel_transfer')).toEqual([{ type: 'cancel_transfer', why: 'late' }])
  })

  it('is not taken for one that came to something when the carrier does not bring the call back', () => {
    const call = Call.greeted()
    call.do(wanted({ isAgents: false }))
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.do({ type: 'transfer_failed', why: 'busy' })
    call.wait(45_000)
    expect([call.all('put_through').length, call.all('hang_up').length]).toEqual([0, 1])
    call.wait(2_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'carrier_lost' }])
  })

  it('does not let the call last longer than it may', () => {
    const call = Call.greeted({ maxCallMs: 60_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    call.wait(50_000)
    away(call, 15_000)
    expect(asked(call).at(-1)?.instructions).toContain('The time for this call is over')
    call.answer('resp_bye', 'item_bye', 500)
    expect(call.state.ending?.reason).toBe('max_duration')
    call.wait(600)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('does not let it last longer when the tool tells the agent so, either', () => {
    const call = Call.greeted({ maxCallMs: 60_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    call.wait(55_000)
    call.do(wanted())
    call.wait(5_000)
    expect(call.state.timeUp).toBe('call')
    call.do({ type: 'transfer_failed', why: 'failed' })
    expect(asked(call).at(-1)?.instructions).toContain('The time for this call is over')
  })

  it('has another model looked for, where the first was given up meanwhile and the tool tells the agent', () => {
    const call = Call.greeted()
    call.do(wanted())
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    const before = call.all('open_model').length
    call.do({ type: 'transfer_failed', why: 'failed' })
    expect(call.all('open_model')).toHaveLength(before + 1)
  })

  it('has another model looked for that says goodbye when the time of the call is up', () => {
    const call = Call.greeted({ maxCallMs: 60_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    call.wait(40_000)
    call.do(wanted({ isWarm: true }))
    call.do({ type: 'transfer_ringing' })
    call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    call.wait(20_000)
    call.model({ type: 'ready' })
    expect(asked(call).at(-1)?.instructions).toContain('The time for this call is over')
  })

  it('is told to a caller whose stream was lost while they waited', () => {
    const call = holding()
    call.do({ type: 'stream_lost' })
    call.wait(2_000)
    const before = asked(call).length
    call.do({ type: 'transfer_failed', why: 'declined' })
    call.wait(1_000)
    expect(asked(call)).toHaveLength(before)
    call.do({ type: 'attached' })
    expect(asked(call)).toHaveLength(before + 1)
    expect(asked(call).at(-1)?.instructions).toContain('nobody there could take it')
  })
})

describe('a session that goes on from one whose call was being put through', () => {
  const THROUGH = `The call is being put through to ${TARGET}.`
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }

  /** What the agent of the other node says first. */
  function saidFirst(turns: Resumption['turns']): string | null | undefined {
    const call = new Call({}, { elapsedMs: 5_000, turns, usage, greetingMs: 100, interruptions: 0, idBase: 100_000 })
    call.model({ type: 'ready' })
    return asked(call)[0]?.instructions
  }

  it('says that it was not', () => {
    const turns: Resumption['turns'] = [
      { role: 'agent', seq: 1, text: 'One moment.', unheard: '' },
      { role: 'system', seq: 2, text: THROUGH, unheard: '' },
    ]
    expect(saidFirst(turns)).toContain(`could not be put through to ${TARGET}`)
  })

  it('does not say that nobody answers where it was handed over while that was rung, nor where another reason is known', () => {
    const call = holding()
    call.do({ type: 'hand_over' })
    expect(call.all('cancel_transfer')).toHaveLength(1)
    call.do({ type: 'stream_lost' })
    expect(saidFirst(call.turns)).toContain(`could not be put through to ${TARGET}: the connection failed`)
    const busy = { role: 'system', text: 'The call could not be put through: the line is busy.', unheard: '' } as const
    const turns = [{ role: 'system', seq: 1, text: THROUGH, unheard: '' } as const, { ...busy, seq: 2 }]
    expect(saidFirst(turns)).toContain(`could not be put through to ${TARGET}: the line is busy`)
  })

  it('is the same one where no other node came for the call', () => {
    const call = holding()
    const before = asked(call).length
    call.do({ type: 'hand_over' })
    call.wait(15_000)
    expect(
      asked(call)
        .slice(before)
        .map(({ instructions }) => instructions),
    ).toEqual([expect.stringContaining('the connection failed')])
  })
})
