import { describe, expect, it } from 'vitest'
import { Call, planWith } from './call.fixture.ts'
import { agentTurns, says, secondCall, sounds, tell, writes } from './second-voice.fixture.ts'

const event = { type: 'hand_off' as const, plan: planWith({ maxCallMs: 1 }), agentName: 'Billie', summary: 'A refund.' }

describe('a call that is handed to another agent', () => {
  it('goes on with a new session of the model that knows what was said, and is asked once', () => {
    const bounds = { maxCallMs: 1_800_000, budgetMs: 900_000, budgetUsd: 10 }
    const call = Call.greeted(bounds)
    call.says('turn_1', 500, 'I want my money back.')
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on.')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'hand_off' },
      argumentsText: '{}',
    })
    const before = call.commands('respond').length
    const effects = call.do(event)
    expect(effects.map(({ type }) => type)).toContain('checkpoint')
    const opened = call.all('open_model').at(-1)
    expect(opened?.history).toContain('caller: I want my money back.')
    expect(opened?.history).toContain('The agent Billie has the call from now on. What it was told: A refund.')
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(before + 1)
    expect(call.state.plan).toMatchObject(bounds)
    expect(call.all('clear')).toEqual([])
  })

  it('keeps with all that is said who of them has said it, also where that is heard after it', () => {
    const call = Call.greeted({ agentName: 'Robin' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on.')
    call.audio('resp_1', 'item_1', 1_000)
    call.do({ ...event, plan: planWith({ agentName: 'Billie' }) })
    call.model({ type: 'ready' })
    call.wait(1_000)
    call.echoAll()
    call.says('turn_1', 500, 'My money.')
    call.answer('resp_2', 'item_2', 500, 'You shall have it.')
    call.wait(500)
    call.echoAll()
    const said = call.turns.filter(({ role }) => role !== 'system').map(({ agentName, text }) => [agentName, text])
    expect(said.slice(1)).toEqual([
      ['Robin', 'I pass you on.'],
      [undefined, 'My money.'],
      ['Billie', 'You shall have it.'],
    ])
  })

  it('has the other one spoken for as its version says, not as was opened for the first, who said nothing', () => {
    const call = new Call({ secondVoice: true })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'hand_off', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.ends('resp_1')
    call.do({ ...event, plan: planWith({ secondVoice: true }) })
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    expect(call.all('cut_voice').map(({ id }) => id)).toEqual(['voice-1'])
    expect(call.all('open_voice').map(({ id }) => id)).toEqual(['voice-1', 'voice-2'])
  })

  it('has all heard that the first one has written by then, though its answer goes on, and then the other one', () => {
    const call = secondCall()
    says(call, 'r0', 'Welcome.')
    call.says('turn_1', 500)
    writes(call, 'r1', 'I pass you on to Billie.')
    const tool = { responseId: 'r1', itemId: 'i', callId: 'c1', name: 'hand_off', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    sounds(call, 'r1', 'I pass ')
    call.do({ ...event, plan: planWith({ secondVoice: true }) })
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    const before = call.commands('respond').length
    expect([call.all('cut_voice'), call.all('end_voice').length]).toEqual([[], 2])
    sounds(call, 'r1', 'you on to Billie.', 350)
    tell(call, { type: 'done' })
    expect(call.commands('respond').slice(before)).toMatchObject([{ instructions: null }])
    call.wait(2_000)
    call.echoAll()
    expect(agentTurns(call).at(-1)).toEqual({ text: 'I pass you on to Billie.', unheard: '', interrupted: false })
  })

  it.each([
    ['a cough', 100, false],
    ['words that were not written down yet', 500, true],
  ])('is asked by the new one to say it again only where it may have said something: %s', (_, ms, isAsked) => {
    const call = Call.greeted()
    call.says('turn_1', ms, null)
    call.do(event)
    call.model({ type: 'ready' })
    call.wait(3_000)
    const isRepeated = call.commands('respond').some(({ instructions }) => instructions?.includes('say it again'))
    const said = call.turns.filter(({ role }) => role === 'caller').map(({ text }) => text)
    expect([isRepeated, said]).toEqual([isAsked, isAsked ? [''] : []])
  })

  it.each([
    ['not all made', 2_000, false],
    ['not all kept', 28_000, true],
  ] as const)('has the first one heard out, and the other not go on with its sentence: %s', (_, ms, isMade) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on to a colleague, who knows all about it.')
    call.audio('resp_1', 'item_1', 2_000)
    call.audio('resp_1', 'item_1', ms)
    if (isMade) call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    if (isMade) call.ends('resp_1')
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    if (!isMade) call.ends('resp_1', { status: 'cancelled' })
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    expect(call.all('play_aside')).toHaveLength(1)
    const before = call.commands('respond').length
    call.do(event)
    call.model({ type: 'ready' })
    call.wait(6_000)
    call.echoAll()
    expect(call.state.stopped).toBeNull()
    expect(call.commands('respond').slice(before)).toEqual([])
  })

  it('has the other agent answer the caller who stopped the first one: it is told what was heard of that, and what was said', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on to a colleague, who knows all about it.')
    call.audio('resp_1', 'item_1', 4_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'hand_off', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.do(event)
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    call.answer('resp_2', 'item_2', 1_000, 'Hello, this is Billie.')
    call.wait(1_000)
    const before = call.commands('respond').length
    call.says('turn_2', 1_500, 'No wait, do not pass me on.')
    expect(call.commands('system_message').at(-1)?.text).toMatch(/cut short.*only this of them: I pass you on/)
    expect(call.commands('delete_item').map(({ itemId }) => itemId)).toEqual(['item_2'])
    expect(call.commands('respond').slice(before)).toMatchObject([{ instructions: null }])
    const said = call.turns.map(({ text, unheard }) => text || `(${unheard})`)
    expect(said.slice(-2)).toEqual(['No wait, do not pass me on.', '(Hello, this is Billie.)'])
  })

  it('hears of the other agent what bridges a wait, its music and its apology, and again the first words of the first', () => {
    const greeting = { kind: 'greeting' as const, text: 'Welcome.', ms: 1_000 }
    const clips = [greeting, { kind: 'apology' as const, text: 'Sorry.', ms: 900 }]
    const call = new Call({ clips, holdsForTools: true, holdMs: 3_000 })
    call.model({ type: 'ready' })
    call.wait(500)
    const own = [greeting, { kind: 'filler' as const, text: 'One moment.', ms: 800 }]
    const apology = { kind: 'apology' as const, text: 'My apologies.', ms: 900 }
    call.do({ ...event, plan: planWith({ clips: [...own, apology], holdsForTools: true, holdMs: 1_500 }) })
    call.do({ type: 'stream_lost' })
    call.do({ type: 'attached' })
    expect(call.all('play_clip').map(({ index }) => index)).toEqual([0, 0])
    call.model({ type: 'ready' })
    call.wait(1_000)
    call.echoAll()
    call.says('turn_1', 500)
    call.wait(2_600)
    expect(call.all('play_clip').at(-1)?.index).toBe(1)
    call.begins('resp_1')
    call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'slow', argumentsText: '{}' })
    call.ends('resp_1')
    call.wait(4_000)
    call.echoAll()
    call.wait(1_000)
    expect(call.all('play_hold').at(-1)).toMatchObject({ fromMs: 0, ms: 1_500 })
    call.model({ type: 'closed', code: '401', message: 'no', fault: 'fatal' })
    expect(call.all('play_clip').at(-1)?.index).toBe(2)
  })

  it('ends with the goodbye in which the first one was cut off, where the longest call has passed', () => {
    const call = Call.greeted({ maxCallMs: 5_000 })
    call.wait(3_000)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({
      type: 'tool_call',
      responseId: 'resp_1',
      itemId: 'i',
      callId: 'c',
      name: 'hand_off',
      argumentsText: '{}',
    })
    call.ends('resp_1')
    call.wait(5_000 - call.nowMs)
    call.begins('resp_2')
    call.words('resp_2', 'item_2', 'Our time')
    call.audio('resp_2', 'item_2', 500)
    call.do(event)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on from there')
    call.answer('resp_3', 'item_3', 1_000, 'is over. Goodbye.')
    call.wait(1_500)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it('is not in the music of the first one any more', () => {
    const call = Call.greeted({ holdsForTools: true, holdMs: 6_000 })
    call.says('turn_1', 500)
    call.begins('resp_1')
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'hand_off', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.ends('resp_1')
    call.wait(1_000)
    call.audio('own-wait-1', 'own-wait-1', 4_800)
    expect(call.do({ ...event, plan: planWith() }).map(({ type }) => type)).toContain('clear')
    call.wait(3_000)
    expect(call.all('play_hold')).toEqual([])
  })

  it('is not handed over when it is ending, or others have it', () => {
    const ending = Call.greeted()
    ending.do({ type: 'end', reason: 'supervisor' })
    const taken = Call.greeted()
    taken.do({ type: 'take_over' })
    for (const call of [ending, taken]) {
      call.do(event)
      expect(call.all('open_model')).toHaveLength(1)
    }
  })
})
