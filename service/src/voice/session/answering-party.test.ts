import { describe, expect, it } from 'vitest'
import type { LineSound } from '../answer/line-reading.ts'
import type { PartySaid } from '../answer/party-words.ts'
import { Call, INTERRUPTION } from './call.fixture.ts'
import type { Plan } from './plan.ts'

const MESSAGE = 'Please call us back.'

/** What an earlier session of a call has left that was over in its first words. */
const PAST = {
  ...{ elapsedMs: 5_000, turns: [], greetingMs: null, interruptions: 0, idBase: 100_000 },
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
}

/** A call that was placed, whose agent has begun to greet. */
function placed(voicemail: string | null = null, plan: Partial<Plan> = {}): Call {
  const call = new Call({ voicemail, readsParty: true, ...plan })
  call.model({ type: 'ready' })
  call.begins('resp_1')
  call.words('resp_1', 'item_1', 'Hello, this is Robin.')
  call.audio('resp_1', 'item_1', 2_000)
  return call
}

const hears = (call: Call, sound: LineSound) => call.do({ type: 'party_heard', sound })
const said = (call: Call, kind: PartySaid) => call.do({ type: 'party_said', kind })
const beeps = (call: Call) => hears(call, { kind: 'tone', hz: 1_000, ms: 400 })
const answers = (call: Call) => call.notes('answered').map(({ by, from }) => [by, from])
const messages = (call: Call) => call.commands('respond').filter(({ instructions }) => instructions?.includes(MESSAGE))

/** Somebody speaks for so long, and is quiet. */
function talks(call: Call, ms: number): void {
  hears(call, { kind: 'speech_began' })
  call.wait(ms + 400)
  hears(call, { kind: 'speech_ended', ms })
}

describe('Who answered a call that was placed', () => {
  it('is a person who says a word and is quiet, which changes nothing in the call', () => {
    const call = placed()
    const before = call.effects.length
    talks(call, 800)
    call.wait(600)
    expect(answers(call)).toEqual([['human', 'cadence']])
    const done = call.effects.slice(before).filter(({ type }) => type !== 'arm' && type !== 'disarm')
    expect(done.map(({ type }) => type)).toEqual(['note', 'checkpoint'])
    call.wait(15_000)
    expect(call.state.party?.phase).toBe('settled')
  })

  it('is nobody knows who when they speak for long, without a beep or words of a machine', () => {
    const call = placed()
    talks(call, 6_000)
    said(call, 'other')
    call.wait(15_000)
    expect([answers(call), call.all('hang_up')]).toEqual([[], []])
  })

  it('is not asked in a call that came in, nor in one that goes on from another', () => {
    const inbound = new Call()
    hears(inbound, { kind: 'fax', hz: 2_100 })
    said(inbound, 'voicemail')
    expect([inbound.state.party, inbound.all('hang_up')]).toEqual([null, []])
    const resumed = new Call({ readsParty: true }, PAST)
    expect(resumed.state.party).toBeNull()
  })

  it('is a mailbox by its words: the call ends, where no message is to be left', () => {
    const call = placed()
    said(call, 'voicemail')
    expect([answers(call), call.all('hang_up').length]).toEqual([[['machine_start', 'words']], 1])
    call.wait(10_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'voicemail' }])
  })

  it('is one whose message begins after the beep, and is heard out', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    expect([call.all('clear').length, messages(call)]).toEqual([1, []])
    call.ends('resp_1', { status: 'cancelled' })
    call.says('turn_1', 500)
    hears(call, { kind: 'speech_ended', ms: 4_000 })
    expect(call.commands('respond')).toHaveLength(1)
    beeps(call)
    expect(messages(call)).toHaveLength(1)
    call.says('turn_2', 1_000)
    call.answer('resp_2', 'item_2', 3_000)
    call.wait(3_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.all('clear').length, messages(call).length]).toEqual([1, 1, 1])
    expect(answers(call).at(-1)).toEqual(['machine_end_beep', 'words'])
  })

  it('has its message at once when the beep came before its words were read', () => {
    const call = placed(MESSAGE)
    talks(call, 1_500)
    beeps(call)
    expect(messages(call)).toEqual([])
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    expect(messages(call)).toHaveLength(1)
    const talking = placed(MESSAGE)
    beeps(talking)
    talks(talking, 1_500)
    said(talking, 'voicemail')
    talking.ends('resp_1', { status: 'cancelled' })
    expect(messages(talking)).toEqual([])
  })

  it('has it after a silence when no beep comes, and after half a minute in any case', () => {
    const silent = placed(MESSAGE)
    silent.ends('resp_1')
    talks(silent, 1_500)
    said(silent, 'voicemail')
    silent.wait(2_400)
    expect(messages(silent)).toEqual([])
    silent.wait(200)
    expect([messages(silent).length, answers(silent).at(-1)]).toEqual([1, ['machine_end_silence', 'words']])
    const pausing = placed(MESSAGE)
    pausing.ends('resp_1')
    talks(pausing, 1_500)
    said(pausing, 'voicemail')
    talks(pausing, 1_500)
    pausing.wait(2_400)
    expect(messages(pausing)).toEqual([])
    pausing.wait(200)
    expect(messages(pausing)).toHaveLength(1)
    const endless = placed(MESSAGE)
    endless.ends('resp_1')
    hears(endless, { kind: 'speech_began' })
    said(endless, 'voicemail')
    endless.wait(29_900)
    expect(messages(endless)).toEqual([])
    endless.wait(200)
    expect([messages(endless).length, answers(endless).at(-1)]).toEqual([1, ['machine_end_other', 'words']])
  })

  it('has it, and no goodbye, where the longest call passes while its beep is waited for', () => {
    const call = placed(MESSAGE, { maxCallMs: 20_000 })
    call.ends('resp_1')
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.wait(25_000)
    expect(call.commands('respond')).toHaveLength(1)
    beeps(call)
    expect([call.commands('respond').length, messages(call).length]).toEqual([2, 1])
    call.answer('resp_2', 'item_2', 8_000)
    call.wait(7_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(200)
    call.echoAll()
    call.wait(5_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'voicemail' }])
  })

  it('has it to its end behind a long greeting, where the longest call has passed in that', () => {
    const call = placed(MESSAGE, { maxCallMs: 5_000, modelStallMs: 60_000 })
    call.ends('resp_1')
    hears(call, { kind: 'speech_began' })
    call.wait(2_000)
    said(call, 'voicemail')
    call.wait(29_500)
    beeps(call)
    call.begins('resp_2')
    call.words('resp_2', 'item_2', MESSAGE)
    const before = call.all('clear').length
    for (let madeMs = 0; madeMs < 40_000; madeMs += 10_000) {
      call.audio('resp_2', 'item_2', 10_000)
      call.wait(5_000)
    }
    call.model({ type: 'audio_done', responseId: 'resp_2', itemId: 'item_2' })
    call.ends('resp_2')
    call.wait(19_900)
    expect([call.all('clear').length, call.all('hang_up')]).toEqual([before, []])
    call.wait(200)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'voicemail'])
    expect(call.turns.at(-1)).toMatchObject({ text: MESSAGE, unheard: '' })
  })

  it.each([
    ['its words, and then its beep', true],
    ['its carrier alone', false],
  ])('has it where it is known, by %s, only while the goodbye of a spent budget is being made', (_, byWords) => {
    const call = placed(MESSAGE, { budgetMs: 10_000 })
    call.ends('resp_1')
    hears(call, { kind: 'speech_began' })
    call.wait(11_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('time for this call is over')
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 1_000)
    if (byWords) said(call, 'voicemail')
    else call.do({ type: 'machine' })
    call.ends('resp_2', { status: 'cancelled' })
    call.wait(byWords ? 25_000 : 0)
    expect(call.state.ending).toBeNull()
    if (byWords) beeps(call)
    expect(messages(call)).toHaveLength(1)
    call.answer('resp_3', 'item_3', 8_000)
    call.wait(8_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'voicemail'])
  })

  it.each([
    ['a short sound', 100, true],
    ['a sentence', 600, true],
    ['half a sentence', 600, false],
  ])('is asked to repeat nothing whose session is lost before the beep: %s', (_, ms, isOver) => {
    const call = placed(MESSAGE, { interruption: { ...INTERRUPTION, greetingGuardMs: 0 } })
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.speaks('turn_1', ms)
    if (isOver) call.stops('turn_1')
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.model({ type: 'ready' })
    call.wait(2_000)
    expect([call.state.answers.queue, call.commands('respond').length]).toEqual([[], 1])
    beeps(call)
    expect([messages(call).length, call.commands('respond').length]).toEqual([1, 2])
  })

  it('waits for the beep without asking whether somebody is there', () => {
    const call = new Call({ voicemail: MESSAGE, readsParty: true, idle: { afterMs: 9_000, prompts: [], goodbye: '' } })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 1_000)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.wait(25_000)
    expect([call.commands('respond').length, call.all('play_clip')]).toEqual([1, []])
  })

  it('is a mailbox by a beep behind a long greeting, and not by one behind a few words', () => {
    const long = placed()
    talks(long, 3_000)
    beeps(long)
    expect([answers(long), long.all('hang_up').length]).toEqual([[['machine_end_beep', 'tone']], 1])
    const short = placed()
    talks(short, 900)
    beeps(short)
    hears(short, { kind: 'tone', hz: 3_000, ms: 400 })
    expect(short.all('hang_up')).toEqual([])
    const person = placed()
    talks(person, 900)
    person.wait(600)
    talks(person, 2_400)
    beeps(person)
    expect(person.all('hang_up')).toEqual([])
    const recorded = placed()
    talks(recorded, 3_000)
    hears(recorded, { kind: 'tone', hz: 1_400, ms: 220 })
    expect([answers(recorded), recorded.all('hang_up')]).toEqual([[], []])
    hears(recorded, { kind: 'tone', hz: 1_400, ms: 400 })
    expect(answers(recorded)).toEqual([['machine_end_beep', 'tone']])
  })

  it('is still listened for while a greeting goes on, for three quarters of a minute at most', () => {
    const patient = { idle: { afterMs: 600_000, prompts: [], goodbye: '' } }
    const long = placed(null, patient)
    long.ends('resp_1')
    hears(long, { kind: 'speech_began' })
    long.wait(40_000)
    said(long, 'voicemail')
    expect(answers(long)).toEqual([['machine_start', 'words']])
    const longer = placed(null, patient)
    longer.ends('resp_1')
    hears(longer, { kind: 'speech_began' })
    longer.wait(45_100)
    said(longer, 'voicemail')
    expect([longer.state.party?.phase, answers(longer)]).toEqual(['settled', []])
  })

  it('is a fax machine: there is nobody to leave a message with', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'fax', hz: 2_100 })
    expect([answers(call), call.all('hang_up').length, messages(call)]).toEqual([[['fax', 'tone']], 1, []])
    const told = placed(MESSAGE)
    told.do({ type: 'machine', kind: 'fax' })
    expect([told.all('hang_up').length, messages(told)]).toEqual([1, []])
  })

  it('is an assistant, whose question is answered, and then the person behind it', () => {
    const call = placed()
    said(call, 'screening')
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/who you are, for whom you call and why/)
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(1_000)
    call.echoAll()
    const asked = call.commands('respond').length
    said(call, 'waiting')
    said(call, 'screening')
    call.wait(29_000)
    expect([call.commands('respond').length, answers(call)]).toEqual([asked, [['screening', 'words']]])
    said(call, 'other')
    expect(answers(call).at(-1)).toEqual(['human', 'words'])
  })

  it('is an assistant whatever its carrier takes it for, and a mailbox after it all the same', () => {
    const call = placed(MESSAGE)
    said(call, 'screening')
    call.do({ type: 'machine', kind: 'machine_start' })
    expect([call.all('hang_up'), messages(call)]).toEqual([[], []])
    call.ends('resp_1', { status: 'cancelled' })
    call.answer('resp_2', 'item_2', 1_000)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    hears(call, { kind: 'speech_ended', ms: 2_000 })
    beeps(call)
    expect([messages(call).length, answers(call).at(-1)]).toEqual([1, ['machine_end_beep', 'words']])
  })

  it('is the person whom an assistant has put through, whatever the carrier makes of the assistant afterwards', () => {
    const call = placed(MESSAGE)
    said(call, 'screening')
    said(call, 'other')
    call.do({ type: 'machine', kind: 'machine_end_silence' })
    call.do({ type: 'machine', kind: 'fax' })
    expect([call.all('hang_up'), messages(call), answers(call).at(-1)]).toEqual([[], [], ['human', 'words']])
  })

  it('is the person whom an assistant puts through once its node was lost, and another one goes on', () => {
    const asked = [{ seq: 1, role: 'caller' as const, text: 'Who is calling, and why?', unheard: '' }]
    const answered = { by: 'screening', from: 'words' } as const
    const call = new Call({ readsParty: true }, { ...PAST, turns: asked, answered })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 2_000)
    call.wait(40_000)
    expect([call.state.party?.phase, call.commands('respond').length]).toEqual(['screening', 1])
    said(call, 'other')
    expect(answers(call)).toEqual([['human', 'words']])
  })

  it.each(['human', 'ivr'] as const)(
    'is %s by its words also where its carrier tells a node of a machine that goes on with it',
    (by) => {
      const turns = [{ seq: 1, role: 'caller' as const, text: 'Who is this?', unheard: '' }]
      const call = new Call(
        { voicemail: MESSAGE, readsParty: true },
        { ...PAST, turns, answered: { by, from: 'words' } },
      )
      call.do({ type: 'machine', kind: 'machine_start' })
      call.model({ type: 'ready' })
      expect([messages(call), call.all('hang_up')]).toEqual([[], []])
    },
  )

  it('is no mailbox for a tone that is heard where a person lives', () => {
    const talker = placed(MESSAGE)
    talks(talker, 900)
    talker.wait(700)
    talks(talker, 2_000)
    beeps(talker)
    expect([answers(talker), messages(talker)]).toEqual([[['human', 'cadence']], []])
    const late = placed()
    talks(late, 3_000)
    late.wait(3_000)
    beeps(late)
    expect([answers(late), late.all('hang_up')]).toEqual([[], []])
  })

  it('is asked no more of a person who answers the agent: they may speak of messages and beeps', () => {
    const call = placed(MESSAGE)
    talks(call, 900)
    call.wait(3_000)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    expect([answers(call), messages(call), call.state.party?.phase]).toEqual([[['human', 'cadence']], [], 'settled'])
    const pausing = placed(MESSAGE)
    talks(pausing, 900)
    pausing.wait(2_500)
    hears(pausing, { kind: 'speech_began' })
    said(pausing, 'voicemail')
    expect(answers(pausing).at(-1)).toEqual(['machine_start', 'words'])
  })

  it('is an assistant, or a menu, whose question is being answered already: that is heard out', () => {
    for (const kind of ['screening', 'ivr'] as const) {
      const call = Call.greeted({ readsParty: true })
      call.speaks('turn_1', 800)
      call.stops('turn_1')
      const asked = call.commands('respond').length
      said(call, kind)
      call.begins('resp_2')
      said(call, kind)
      expect([call.commands('respond').length, call.commands('cancel')]).toEqual([asked, []])
      expect(call.commands('system_message')).toHaveLength(1)
    }
  })

  it('is a menu, of which the agent chooses, unless it has done so already', () => {
    const call = placed()
    said(call, 'ivr')
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/recorded menu/)
    expect(answers(call)).toEqual([['ivr', 'words']])
    const quick = placed()
    const tool = { callId: 'c1', name: 'send_dtmf', argumentsText: '{}' }
    quick.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', ...tool })
    said(quick, 'ivr')
    expect([quick.commands('respond').length, quick.commands('cancel')]).toEqual([1, []])
  })

  it('is a menu whose key has been pressed by the time its words are told: its tones are played out, and nothing more is said', () => {
    const call = placed()
    call.ends('resp_1')
    call.wait(2_500)
    hears(call, { kind: 'speech_began' })
    call.speaks('turn_1', 4_000)
    call.stops('turn_1')
    hears(call, { kind: 'speech_ended', ms: 4_000 })
    call.begins('resp_2')
    const tool = { callId: 'c1', name: 'send_dtmf', argumentsText: '{}' }
    call.model({ type: 'tool_call', responseId: 'resp_2', itemId: 'i', ...tool })
    call.ends('resp_2')
    call.do({
      type: 'tool_finished',
      outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false, isSilent: true },
    })
    const done = () => [call.commands('respond').length, call.all('clear').length]
    const before = done()
    said(call, 'ivr')
    expect([done(), answers(call)]).toEqual([before, [['ivr', 'words']]])
    hears(call, { kind: 'speech_began' })
    said(call, 'screening')
    expect(done()).not.toEqual(before)
  })

  it('has its message once when the carrier tells of the machine, too', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.do({ type: 'machine', kind: 'machine_end_beep' })
    beeps(call)
    call.do({ type: 'machine', kind: 'machine_end_beep' })
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 3_000)
    call.do({ type: 'machine', kind: 'machine_end_beep' })
    expect([messages(call).length, call.all('clear').length]).toEqual([1, 1])
  })

  it('has its message behind its beep though the carrier tells that it began to speak', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.do({ type: 'machine', kind: 'machine_start' })
    expect(messages(call)).toEqual([])
    beeps(call)
    expect(messages(call)).toHaveLength(1)
  })

  it('has its message when the carrier tells that it has said its own, and that is written down', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.do({ type: 'machine', kind: 'machine_end_other' })
    expect([messages(call).length, answers(call).at(-1)]).toEqual([1, ['machine_end_other', 'words']])
  })

  it('is left nothing where a person takes the call before the beep, nor when they give it back', () => {
    const call = placed(MESSAGE)
    hears(call, { kind: 'speech_began' })
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.do({ type: 'take_over' })
    hears(call, { kind: 'speech_ended', ms: 4_000 })
    beeps(call)
    expect(answers(call).at(-1)).toEqual(['machine_end_beep', 'words'])
    expect([messages(call), call.state.answers.queue]).toEqual([[], []])
  })

  it('is talked to, and may stop the agent, where a person gives the call back before a beep: they have heard that it is no mailbox', () => {
    const call = placed(MESSAGE)
    said(call, 'voicemail')
    call.ends('resp_1', { status: 'cancelled' })
    call.do({ type: 'take_over' })
    call.wait(1_000)
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/^You have the call again/)
    call.begins('resp_2')
    call.item('resp_2', 'item_2', 4_000, 'I am back, so let us go on from there.')
    call.ends('resp_2')
    call.wait(1_000)
    call.says('turn_1', 1_000, 'One moment.')
    expect(call.commands('truncate').at(-1)).toMatchObject({ itemId: 'item_2' })
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    expect(call.timers).not.toContain('party_end')
    expect(messages(call)).toEqual([])
  })

  it('is nothing to act on where a person has taken the call', () => {
    const call = placed(MESSAGE)
    call.do({ type: 'take_over' })
    said(call, 'voicemail')
    beeps(call)
    expect([answers(call), messages(call), call.all('hang_up')]).toEqual([[['machine_start', 'words']], [], []])
  })
})

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

  it('that is told before the model is there hears the message alone: no greeting, and nobody sorry after a node was lost in it', () => {
    const half = [{ seq: 1, role: 'agent' as const, text: 'Please', unheard: 'call us back.' }]
    for (const past of [null, { ...PAST, turns: half }]) {
      const call = new Call({ voicemail: MESSAGE }, past)
      call.do({ type: 'machine' })
      call.model({ type: 'ready' })
      call.answer('resp_1', 'item_1', 3_000)
      call.wait(3_000)
      call.echoAll()
      expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
        `Say exactly this, and nothing else: ${MESSAGE}`,
      ])
      expect(call.all('hang_up')).toHaveLength(1)
    }
  })

  it('is left its message behind the beep where its node was lost in its greeting, and another one goes on', () => {
    const greeting = [{ seq: 1, role: 'caller' as const, text: 'Please leave a message after the beep.', unheard: '' }]
    const past = { ...PAST, turns: greeting, answered: { by: 'machine_start', from: 'words' } as const }
    const goesOn = () => {
      const call = new Call({ voicemail: MESSAGE, readsParty: true }, past)
      call.do({ type: 'machine', kind: 'machine_start' })
      call.model({ type: 'ready' })
      return call
    }
    const beeping = goesOn()
    hears(beeping, { kind: 'speech_began' })
    beeping.wait(4_000)
    hears(beeping, { kind: 'speech_ended', ms: 4_000 })
    expect(beeping.commands('respond')).toEqual([])
    beeps(beeping)
    expect(messages(beeping)).toHaveLength(1)
    expect(answers(beeping)).toEqual([['machine_end_beep', 'words']])
    const quiet = goesOn()
    quiet.wait(2_600)
    expect([messages(quiet).length, quiet.commands('respond').length]).toEqual([1, 1])
    const hangsUp = new Call({ readsParty: true }, past)
    hangsUp.do({ type: 'machine', kind: 'machine_start' })
    expect(hangsUp.all('hang_up')).toHaveLength(1)
  })

  it.each(['A person has taken the call over.', 'The call is being put through to +12025550103.'])(
    'is nobody to leave a message with where its node was lost behind this: %s',
    (text) => {
      const turns = [{ seq: 1, role: 'system' as const, text, unheard: '' }]
      const call = new Call({ voicemail: MESSAGE, readsParty: true }, { ...PAST, turns })
      call.do({ type: 'machine', kind: 'machine_start' })
      call.model({ type: 'ready' })
      call.wait(12_000)
      call.do({ type: 'machine', kind: 'machine_start' })
      expect([messages(call), call.all('hang_up')]).toEqual([[], []])
    },
  )

  it.each([
    ['made by then', 2_000],
    ['still being made', 13_000],
  ])('is left its message to the end where the longest call has passed, %s, and no other goodbye', (_what, madeMs) => {
    const call = Call.greeted({ voicemail: MESSAGE, maxCallMs: 20_000, modelStallMs: 60_000 })
    call.wait(8_000)
    call.do({ type: 'machine' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', MESSAGE)
    call.audio('resp_1', 'item_1', 35_000)
    call.wait(madeMs)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.ends('resp_1')
    call.wait(43_000 - call.nowMs)
    expect([call.all('clear'), call.all('hang_up')]).toEqual([[], []])
    call.wait(2_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'voicemail'])
    expect(call.turns.at(-1)).toMatchObject({ text: MESSAGE, unheard: '' })
    expect(call.commands('respond').at(-1)?.instructions).toContain(MESSAGE)
  })

  it('is said goodbye to at that time, where somebody has taken the call and the model has not told of the end of its message', () => {
    const idle = { afterMs: 600_000, prompts: [], goodbye: '' }
    const call = Call.greeted({ voicemail: MESSAGE, maxCallMs: 20_000, idle })
    call.wait(19_000 - call.nowMs)
    call.do({ type: 'machine' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', MESSAGE)
    call.audio('resp_1', 'item_1', 5_000)
    call.do({ type: 'take_over' })
    call.wait(1_000)
    expect(call.state.takeover).toBeNull()
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('The time for this call is over')
    call.answer('resp_2', 'item_2', 2_000)
    call.wait(2_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it('changes nothing of a call that is ending', () => {
    const call = Call.greeted({ voicemail: MESSAGE })
    call.do({ type: 'hung_up' })
    const before = call.effects.length
    call.do({ type: 'machine' })
    expect(call.effects.slice(before)).toEqual([])
  })
})
