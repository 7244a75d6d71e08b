import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const SENTENCE = 'You are talking to a machine.'
const FIRST = `Before anything else say exactly this sentence: ${SENTENCE}`
const SPOKEN = { greeting: `${SENTENCE} Welcome.`, disclosure: SENTENCE }

const told = (call: Call) => call.commands('system_message').map(({ text }) => text)
const asked = (call: Call) => call.commands('respond').map(({ instructions }) => instructions)

function giveBack(call: Call): void {
  call.do({ type: 'release' })
  call.do({ type: 'person_written' })
}

describe('What the law wants said', () => {
  it.each<[string, (call: Call) => void]>([
    [
      'a person had the call before the greeting',
      (call) => {
        call.do({ type: 'take_over' })
        call.model({ type: 'ready' })
        giveBack(call)
      },
    ],
    [
      'a person took it while the greeting was made',
      (call) => {
        call.model({ type: 'ready' })
        call.begins('resp_1')
        call.words('resp_1', 'item_1', SENTENCE)
        call.do({ type: 'take_over' })
        call.ends('resp_1', { status: 'cancelled' })
        giveBack(call)
      },
    ],
    [
      'a person took it when the greeting had begun, without a word',
      (call) => {
        call.model({ type: 'ready' })
        call.begins('resp_1')
        call.model({ type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'agent' })
        call.do({ type: 'take_over' })
        call.ends('resp_1', { status: 'cancelled' })
        giveBack(call)
      },
    ],
    [
      'the agent was silenced before its greeting',
      (call) => {
        call.model({ type: 'ready' })
        call.begins('resp_1')
        call.do({ type: 'mute' })
        call.ends('resp_1', { status: 'cancelled' })
        call.says('turn_1', 600, 'Hello?')
        call.do({ type: 'unmute' })
      },
    ],
    [
      'an assistant has answered before the greeting',
      (call) => {
        call.model({ type: 'ready' })
        call.begins('resp_1')
        call.do({ type: 'party_said', kind: 'screening' })
        call.ends('resp_1', { status: 'cancelled' })
      },
    ],
  ])('is what the agent begins with, though its greeting was not heard: %s', (_why, happens) => {
    const call = new Call({ ...SPOKEN, readsParty: true })
    happens(call)
    expect(told(call).filter((text) => text === FIRST)).toHaveLength(1)
    call.answer('resp_2', 'item_2', 3_000, `${SENTENCE} I am back.`)
    call.wait(3_000)
    call.echoAll()
    call.says('turn_2', 600)
    expect(told(call).filter((text) => text === FIRST)).toHaveLength(1)
  })

  it('comes before what a supervisor has said first, and not before the message for a mailbox', () => {
    const said = new Call(SPOKEN)
    said.do({ type: 'mute' })
    said.model({ type: 'ready' })
    said.do({ type: 'say', text: 'One moment.' })
    expect(asked(said)).toEqual([`Say exactly this, and nothing else: ${SENTENCE} One moment.`])
    said.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    said.model({ type: 'ready' })
    expect(asked(said).at(-1)).toBe(`Say exactly this, and nothing else: ${SENTENCE} One moment.`)
    const left = new Call({ ...SPOKEN, voicemail: 'Call us back.' })
    left.do({ type: 'machine' })
    left.model({ type: 'ready' })
    expect([asked(left), told(left)]).toEqual([['Say exactly this, and nothing else: Call us back.'], []])
  })

  it('is heard by the person whom an assistant puts through, who has heard nothing of the greeting', () => {
    const clip = { kind: 'disclosure' as const, text: SENTENCE, ms: 1_000 }
    for (const plan of [SPOKEN, { clips: [clip] }, {}]) {
      const call = new Call({ ...plan, readsParty: true })
      call.model({ type: 'ready' })
      call.wait(2_000)
      call.echoAll()
      call.do({ type: 'party_said', kind: 'screening' })
      const isTold = `What you say to the person begins with exactly this sentence: ${SENTENCE}`
      expect(told(call).some((text) => text.endsWith(isTold))).toBe('clips' in plan || 'disclosure' in plan)
    }
  })

  it('is said by who goes on with a call in which a person had it from the beginning, and by nobody who has said it', () => {
    const taken = { seq: 1, role: 'system' as const, text: 'A person has taken the call over.', unheard: '' }
    const greeted = { seq: 2, role: 'agent' as const, text: `${SENTENCE} Welcome.`, unheard: '' }
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const isTold = [[taken], [greeted, taken]].map((turns) => {
      const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
      const call = new Call(SPOKEN, resumption)
      call.model({ type: 'ready' })
      call.do({ type: 'release' })
      return told(call).includes(FIRST)
    })
    expect(isTold).toEqual([true, false])
  })

  it('is said by who goes on with a call of whose record a turn is missing, which was not over when its process was lost', () => {
    const turns = [
      { seq: 1, role: 'system' as const, text: 'A person has taken the call over.', unheard: '' },
      { seq: 3, role: 'caller' as const, text: 'Hello?', unheard: '' },
    ]
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
    const call = new Call(SPOKEN, resumption)
    call.model({ type: 'ready' })
    call.do({ type: 'release' })
    expect(told(call)).toContain(FIRST)
  })

  it('comes before the greeting of who goes on with a call that was lost in its clip, when the agent had been told something', () => {
    const clips = [{ kind: 'disclosure' as const, text: SENTENCE, ms: 2_000 }]
    const turns = [{ seq: 2, role: 'supervisor' as const, text: 'Offer a discount.', unheard: '' }]
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
    const greeted = (plan: object, before: typeof resumption | null) => {
      const call = new Call({ clips, ...plan }, before)
      call.model({ type: 'ready' })
      return [told(call).includes(FIRST), asked(call)[0]?.includes(SENTENCE)]
    }
    expect(greeted({ greeting: '' }, resumption)).toEqual([true, false])
    expect(greeted({ greeting: 'Welcome.' }, resumption)).toEqual([false, true])
    expect(greeted({ greeting: 'Welcome.' }, null)).toEqual([false, false])
  })

  it.each([
    ['a clip', { clips: [{ kind: 'disclosure' as const, text: SENTENCE, ms: 2_000 }] }],
    ['the model', SPOKEN],
  ])('is to be said again where who goes on with a call was cut short in it, who says it first: %s', (_who, plan) => {
    const turns = [
      { seq: 1, role: 'agent' as const, text: '', unheard: SENTENCE },
      { seq: 2, role: 'caller' as const, text: 'Hello?', unheard: '' },
    ]
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
    const call = new Call(plan, resumption)
    call.model({ type: 'ready' })
    expect(told(call)).toEqual([FIRST])
    call.answer('resp_1', 'item_1', 3_000, `${SENTENCE} I am back.`)
    call.wait(600)
    call.says('turn_1', 800, 'Who is this?')
    expect(told(call).slice(1)).toEqual([
      `Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`,
    ])
  })

  it.each([
    ['a clip', { clips: [{ kind: 'disclosure' as const, text: SENTENCE, ms: 2_000 }] }],
    ['the model', SPOKEN],
  ])(
    'is told to each session that takes the place of the one in which it was cut short, until one has spoken: %s',
    (_who, plan) => {
      const call = new Call(plan)
      call.model({ type: 'ready' })
      call.wait(100)
      if ('greeting' in plan) call.answer('resp_1', 'item_1', 3_000, `${SENTENCE} Welcome.`)
      call.wait(1_100)
      call.says('turn_1', 800, 'Who is this?')
      const again = `system: Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`
      const lose = () => {
        call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
        call.wait(1_500)
        call.model({ type: 'ready' })
        return call.all('open_model').at(-1)?.history?.split('\n').includes(again)
      }
      expect([lose(), lose()]).toEqual([true, true])
      call.answer('resp_3', 'item_3', 2_000, `${SENTENCE} This is Robin.`)
      call.wait(2_000)
      call.echoAll()
      expect(lose()).toBe(false)
    },
  )

  it.each([
    ['a clip', { clips: [{ kind: 'disclosure' as const, text: SENTENCE, ms: 2_000 }] }],
    ['the model', SPOKEN],
  ])('is still to be said where it was cut short again while it was said again: %s', (_who, plan) => {
    const call = new Call(plan)
    call.model({ type: 'ready' })
    call.wait(100)
    if ('greeting' in plan) call.answer('resp_1', 'item_1', 3_000, `${SENTENCE} Welcome.`)
    call.wait(1_100)
    const isAgain = (text: string) => text.includes(`which was cut short: ${SENTENCE}`)
    const again = () => told(call).filter(isAgain).length
    call.says('turn_1', 800, 'Who is this?')
    expect(again()).toBe(1)
    call.answer('resp_2', 'item_2', 3_000, `${SENTENCE} This is Robin.`)
    call.wait(900)
    call.says('turn_2', 800, 'Who?')
    expect(again()).toBe(2)
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.wait(1_500)
    call.model({ type: 'ready' })
    expect(isAgain(call.all('open_model').at(-1)?.history ?? '')).toBe(true)
    call.answer('resp_3', 'item_3', 3_000, `${SENTENCE} This is Robin.`)
    call.wait(2_700)
    call.says('turn_3', 800, 'I see.')
    expect(again()).toBe(2)
  })

  it.each([
    ['without a word', ''],
    ['with words of which nothing was heard', SENTENCE],
  ])('is to be said again by who was cut short in it, though an answer had begun before that: %s', (_what, words) => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.model({ type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'agent' })
    if (words !== '') call.words('resp_1', 'item_1', words)
    call.ends('resp_1', { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    call.wait(1_000)
    call.answer('resp_2', 'item_2', 3_000, `${SENTENCE} Welcome.`)
    call.wait(1_200)
    call.says('turn_1', 800, 'Who is this?')
    expect(told(call)).toContain(`Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`)
  })

  it('is to be said again where it was cut short in its second half, which was gone on with', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'You are')
    call.audio('resp_1', 'item_1', 500)
    call.ends('resp_1', { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    call.wait(1_500)
    call.echoAll()
    call.answer('resp_2', 'item_2', 3_000, 'talking to a machine. Welcome.')
    call.wait(900)
    call.says('turn_1', 800, 'Who is this?')
    expect(told(call)).toEqual([`Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`])
  })

  it.each<[string, (call: Call) => void]>([
    ['was asked for', () => {}],
    [
      'had begun, without a sound',
      (call) => {
        call.begins('resp_2')
      },
    ],
    [
      'did not come, so that a word bridged the wait,',
      (call) => {
        call.wait(2_800)
        expect(call.all('play_clip')).toHaveLength(1)
      },
    ],
  ])('is to be said again where its rest %s when the caller spoke', (_what, happens) => {
    const call = new Call({ ...SPOKEN, clips: [{ kind: 'filler', text: 'One moment.', ms: 800 }] })
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'You are')
    call.audio('resp_1', 'item_1', 500)
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.wait(1_500)
    call.echoAll()
    call.model({ type: 'ready' })
    happens(call)
    call.says('turn_1', 800, 'Who is this?')
    expect(told(call)).toEqual([`Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`])
  })

  it('is to be said by the model where the line was lost in its clip, which is not played again as the call ends', () => {
    const call = new Call({ clips: [{ kind: 'disclosure', text: SENTENCE, ms: 2_000 }], maxCallMs: 3_000 })
    call.model({ type: 'ready' })
    call.wait(800)
    call.do({ type: 'stream_lost' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    const again = `Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`
    expect([call.all('play_clip').length, told(call).some((text) => text.endsWith(again))]).toEqual([1, true])
  })

  it('is told to the session, too, that takes the place of the one in which it was cut short, before its time is over', () => {
    const call = new Call({ ...SPOKEN, modelSessionMs: 4_000, idle: { afterMs: 90_000, prompts: [], goodbye: '' } })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 3_000, `${SENTENCE} Welcome.`)
    call.wait(600)
    call.do({ type: 'take_over' })
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(10_000)
    const last = call.all('open_next')[0]?.history?.split('\n').at(-1)
    expect(last).toBe(`system: Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`)
  })

  it('is told to the node that goes on with a call which was lost in it, and not where it was heard', () => {
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const isTold = (text: string, unheard: string) => {
      const turns = [
        { seq: 1, role: 'agent' as const, text, unheard },
        { seq: 2, role: 'caller' as const, text: 'Who is this?', unheard: '' },
      ]
      const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
      return new Call(SPOKEN, resumption).all('open_model')[0]?.history?.includes('which was cut short') ?? false
    }
    expect([isTold('You are', 'talking to a machine. Welcome.'), isTold(SENTENCE, 'Welcome.')]).toEqual([true, false])
  })

  it('is still to be said by who goes on with a call in which only a wait was bridged before, or since it was cut short', () => {
    const filler = { kind: 'filler' as const, text: 'One moment, please.', ms: 1_000 }
    const bridged = { seq: 2, role: 'agent' as const, text: 'One moment', unheard: 'please.' }
    const cut = { seq: 1, role: 'agent' as const, text: 'You are', unheard: 'talking to a machine. Welcome.' }
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const isTold = [
      [cut, { ...bridged, unheard: ', please.' }],
      [{ ...bridged, text: 'One moment, please.', unheard: '' }],
    ].map((turns) => {
      const resumption = { elapsedMs: 1_000, turns, usage, greetingMs: null, interruptions: 0, idBase: 100_000 }
      const call = new Call({ ...SPOKEN, clips: [filler] }, resumption)
      call.model({ type: 'ready' })
      call.says('turn_1', 800, 'Hello?')
      const all = [...call.all('open_model').map(({ history }) => history), ...told(call), ...asked(call)]
      return all.some((text) => text?.includes(SENTENCE))
    })
    expect(isTold).toEqual([true, true])
  })

  it('is said again where the line was lost in it', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 3_000, `${SENTENCE} Welcome.`)
    call.wait(800)
    call.do({ type: 'stream_lost' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    expect(told(call)).toEqual([`Before anything else say exactly this sentence, which was cut short: ${SENTENCE}`])
  })

  it('is said by the other agent where the first had begun it, and gives the call away while that is still heard', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'You are')
    call.audio('resp_1', 'item_1', 500)
    call.wait(100)
    call.do({ type: 'hand_off', plan: call.state.plan, agentName: 'Kim', summary: '' })
    expect(told(call)).toEqual([expect.stringContaining(SENTENCE)])
  })

  it('is said again where the agent still said it when its transfer waited no longer', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'You are')
    call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: true })
    for (let ms = 0; ms < 6_000; ms += 500) {
      call.audio('resp_1', 'item_1', 600)
      call.wait(500)
    }
    call.do({ type: 'transfer_failed', why: 'failed' })
    expect(told(call)).toEqual([expect.stringContaining(SENTENCE)])
  })

  it('is told once to the other agent where the first was to say the rest of it', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'You are')
    call.audio('resp_1', 'item_1', 500)
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.wait(1_500)
    call.echoAll()
    call.do({ type: 'hand_off', plan: call.state.plan, agentName: 'Kim', summary: '' })
    const history = call.all('open_model').at(-1)?.history ?? ''
    expect([...history.split('\n'), ...told(call)].filter((text) => text.includes('cut short'))).toHaveLength(1)
  })

  it('is not said again by the other agent where the first has made all of it', () => {
    const call = new Call(SPOKEN)
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.words('resp_1', 'item_1', `${SENTENCE} Wel`)
    call.audio('resp_1', 'item_1', 500)
    call.wait(100)
    call.do({ type: 'hand_off', plan: call.state.plan, agentName: 'Kim', summary: '' })
    expect(told(call)).toEqual([])
  })
})
