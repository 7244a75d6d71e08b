import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds } from './call.fixture.ts'
import { ANSWER, answers, FILLER, PREAMBLE, PROVIDERS, preamble, thinking, turn } from './several-items.fixture.ts'

describe.each(PROVIDERS)('An answer of a preamble that is %s and the answer itself', (_how, isNamed) => {
  it('is heard whole, in its order, each with its words', () => {
    const call = thinking(isNamed)
    call.wait(1_500)
    answers(call)
    call.wait(3_500)
    call.echoAll()
    expect(call.turns.slice(-2)).toMatchObject([
      { itemId: 'item_1', text: PREAMBLE, sentMs: 2_000, heardMs: 2_000, interrupted: false },
      { itemId: 'item_2', text: ANSWER, sentMs: 3_000, heardMs: 3_000, interrupted: false },
    ])
    const [first, second] = call.turns.slice(-2)
    expect(second?.startMs).toBe(first?.endMs)
    expect([call.commands('respond').length, call.commands('cancel'), call.all('clear')]).toEqual([2, [], []])
  })

  it('is as quick as its preamble', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(300)
    call.begins('resp_1')
    preamble(call, isNamed)
    call.wait(4_000)
    answers(call)
    expect(call.notes('latency')).toEqual([{ type: 'latency', responseMs: 300 }])
    expect(call.state.latency.responsesMs).toEqual([300])
  })

  it('that is cut short in its preamble, with the answer in line, is cut there, and the answer taken out', () => {
    const call = thinking(isNamed)
    call.wait(500)
    answers(call)
    call.wait(500)
    call.effects.length = 0
    call.says('turn_2', 500)
    const order = kinds(call.effects).filter((kind) => ['discard', 'clear', 'truncate', 'delete_item'].includes(kind))
    expect(order).toEqual(['discard', 'clear', 'truncate', 'delete_item'])
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: 1_200 }])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_2' }])
    expect(turn(call, 'item_1')).toMatchObject({ interrupted: true, heardMs: 1_200, text: 'Let me look into that' })
    expect(turn(call, 'item_2')).toMatchObject({ interrupted: true, heardMs: 0, text: '', unheard: ANSWER })
    expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([null])
  })

  it('that is cut short in its preamble while the answer is being made is cancelled as well', () => {
    const call = thinking(isNamed)
    call.wait(500)
    call.item('resp_1', 'item_2', 500, ANSWER)
    call.wait(500)
    call.says('turn_2', 500)
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    expect(call.commands('truncate').map(({ itemId }) => itemId)).toEqual(['item_1'])
    expect(call.commands('delete_item').map(({ itemId }) => itemId)).toEqual(['item_2'])
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('that is cut short in the answer leaves the preamble as it was heard', () => {
    const call = thinking(isNamed)
    call.wait(2_000)
    call.echoAll()
    answers(call)
    call.wait(1_500)
    call.says('turn_2', 500)
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_2', audioEndMs: 1_700 }])
    expect(call.commands('delete_item')).toEqual([])
    expect(turn(call, 'item_1')).toMatchObject({ interrupted: false, heardMs: 2_000 })
  })

  it('is cancelled by a caller who speaks while the model thinks, and answered anew', () => {
    const call = thinking(isNamed)
    call.wait(3_000)
    call.echoAll()
    call.says('turn_2', 500)
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    expect([call.commands('truncate'), call.commands('delete_item'), call.all('clear')]).toEqual([[], [], []])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(3)
    expect(turn(call, 'item_1')).toMatchObject({ interrupted: false, text: PREAMBLE })
  })

  it('is bridged while the model thinks, 2.5 s behind its preamble, and nothing is cancelled for that', () => {
    const call = thinking(isNamed, { clips: [FILLER] })
    call.wait(2_000)
    call.echoAll()
    call.wait(2_400)
    expect(call.all('play_clip')).toEqual([])
    call.wait(200)
    expect(call.all('play_clip')).toHaveLength(1)
    answers(call)
    call.wait(6_000)
    expect([call.all('play_clip').length, call.commands('cancel'), call.all('clear')]).toEqual([1, [], []])
  })

  it('is bridged by nothing where the answer follows its preamble sooner', () => {
    const call = thinking(isNamed, { clips: [FILLER] })
    call.wait(4_000)
    answers(call)
    call.wait(6_000)
    expect([call.notes('dead_air'), call.all('play_clip')]).toEqual([[], []])
  })

  it('is waited for as long as any: within the time after which a model has stalled nothing is cancelled', () => {
    const call = thinking(isNamed)
    call.wait(5_900)
    expect(call.commands('cancel')).toEqual([])
    answers(call)
    call.wait(3_100)
    call.echoAll()
    expect(turn(call, 'item_2')).toMatchObject({ interrupted: false, text: ANSWER })
    expect([call.commands('respond').length, call.all('open_model').length]).toEqual([2, 1])
  })

  it('is asked for once more where the model has stalled behind its preamble, then of a new session', () => {
    const call = thinking(isNamed)
    call.wait(6_100)
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(3)
    call.wait(6_100)
    expect(call.all('open_model')).toHaveLength(2)
  })

  it('is asked for once more where it failed behind its preamble', () => {
    const call = thinking(isNamed)
    call.wait(1_000)
    call.ends('resp_1', { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    call.wait(2_000)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is gone on with where its preamble was stopped by a noise: the rest of that is heard, and the answer asked for', () => {
    const call = thinking(isNamed)
    call.wait(500)
    call.speaks('noise', 500)
    call.stops('noise')
    call.ends('resp_1', { status: 'cancelled' })
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    const asked = call.commands('respond').length
    call.wait(2_000)
    call.echoAll()
    expect(turn(call, 'item_1')).toMatchObject({ interrupted: false, text: PREAMBLE })
    expect(call.commands('respond').slice(asked)).toHaveLength(1)
  })

  it('is said to its end behind a noise that stopped its preamble, with the answer in line, and nothing is asked for', () => {
    const call = thinking(isNamed)
    answers(call)
    call.wait(500)
    call.speaks('noise', 500)
    call.stops('noise')
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    const asked = call.commands('respond').length
    call.wait(5_000)
    call.echoAll()
    expect([turn(call, 'item_1'), turn(call, 'item_2')]).toMatchObject([
      { text: PREAMBLE, interrupted: false, heardMs: 2_000 },
      { text: ANSWER, interrupted: false, heardMs: 3_000 },
    ])
    expect(call.commands('respond')).toHaveLength(asked)
  })

  it('is asked of the next session where the model is lost behind its preamble, and that is not said again', () => {
    const call = thinking(isNamed)
    call.wait(2_500)
    call.echoAll()
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    expect(call.all('open_model').at(-1)?.history).toContain(`agent: ${PREAMBLE}`)
    expect(call.commands('respond').slice(2)).toHaveLength(1)
  })

  it('is told to a session that is opened later, both parts of it', () => {
    const call = thinking(isNamed)
    answers(call)
    call.wait(5_500)
    call.echoAll()
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toContain(`agent: ${PREAMBLE}\nagent: ${ANSWER}`)
  })

  it('is no pause in which the session of the model is renewed', () => {
    const call = thinking(isNamed, { modelSessionMs: 3_000 })
    call.wait(4_000)
    call.echoAll()
    expect(call.all('open_next')).toEqual([])
    answers(call)
    call.wait(3_100)
    call.echoAll()
    expect(call.all('open_next').map(({ history }) => history.split('\n').slice(-2))).toEqual([
      [`agent: ${PREAMBLE}`, `agent: ${ANSWER}`],
    ])
  })

  it('asks nobody whether they are there while the model thinks', () => {
    const call = thinking(isNamed, { idle: { afterMs: 6_000, prompts: ['Hello?'], goodbye: '' }, modelStallMs: 15_000 })
    call.wait(12_000)
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('keeps what is asked for meanwhile waiting: one answer at a time', () => {
    const call = thinking(isNamed)
    call.do({ type: 'say', text: 'Please hold.' })
    call.wait(1_000)
    expect(call.commands('respond')).toHaveLength(2)
    answers(call)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is cut short in its preamble by a stream that is lost, and asked for when that is back', () => {
    const call = thinking(isNamed)
    call.wait(500)
    call.do({ type: 'stream_lost' })
    if (call.commands('cancel').length > 0) call.ends('resp_1', { status: 'cancelled' })
    call.wait(2_000)
    call.do({ type: 'attached' })
    call.ends('resp_1')
    expect(call.commands('respond').at(-1)?.instructions).toContain('go on from where you were cut off')
  })
})

describe('An answer whose stream is lost while the model thinks, behind a preamble that nobody has named', () => {
  it.each([
    ['before', 1_000, 2_000],
    ['after', 3_000, 1_000],
  ])('is asked for, should it have come %s the stream is back: nobody has heard it', (_when, doneMs, backMs) => {
    const call = thinking(false)
    call.wait(2_500)
    call.echoAll()
    call.do({ type: 'stream_lost' })
    call.wait(Math.min(doneMs, backMs))
    if (backMs < doneMs) call.do({ type: 'attached' })
    call.wait(Math.abs(doneMs - backMs))
    call.words('resp_1', 'item_2', ANSWER)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_2' })
    call.ends('resp_1')
    if (backMs >= doneMs) call.do({ type: 'attached' })
    expect(call.commands('delete_item').map(({ itemId }) => itemId)).toEqual(['item_2'])
    expect(call.commands('respond').slice(2)).toHaveLength(1)
  })
})

describe('An answer that begins to sound when it was just taken for over, behind a preamble that nobody has named', () => {
  it.each([
    ['is gone on with where the model leaves off then', 'cancelled', 3],
    ['is heard out where it does not', 'completed', 2],
  ] as const)('%s', (_what, status, requests) => {
    const call = thinking(false)
    call.wait(6_100)
    expect(call.commands('cancel')).toHaveLength(1)
    call.words('resp_1', 'item_2', ANSWER)
    call.audio('resp_1', 'item_2', 500)
    if (status === 'completed') call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_2' })
    call.ends('resp_1', { status })
    expect(call.commands('respond')).toHaveLength(requests)
    if (requests > 2) expect(call.commands('respond').at(-1)?.instructions).toContain('Go on from there')
  })
})

describe('An answer whose preamble was heard, by a provider that names it', () => {
  it('is asked for again when a stream is back that was lost while the model thought', () => {
    const call = thinking(true)
    call.wait(2_500)
    call.echoAll()
    call.do({ type: 'stream_lost' })
    expect(call.commands('cancel')).toHaveLength(1)
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(2_000)
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('does not count against a model whose caller speaks while it thinks', () => {
    const call = Call.greeted()
    call.says('turn_0', 500)
    for (let turns = 1; turns < 6; turns += 1) {
      const ids = { responseId: `resp_${turns}`, itemId: `item_${turns}` }
      call.begins(ids.responseId)
      call.item(ids.responseId, ids.itemId, 1_000, PREAMBLE)
      call.model({ type: 'preamble', ...ids })
      call.wait(4_500)
      call.echoAll()
      call.says(`turn_${turns}`, 500)
      call.ends(ids.responseId, { status: 'cancelled' })
    }
    expect(call.all('open_model')).toHaveLength(1)
  })

  it('is over where nothing more follows: a preamble may be all there is to say', () => {
    const call = thinking(true, { clips: [FILLER] })
    call.ends('resp_1')
    call.wait(8_000)
    expect([call.commands('respond').length, call.commands('cancel'), call.all('play_clip')]).toEqual([2, [], []])
  })
})

describe('An answer in two parts that another voice speaks', () => {
  it('is bridged while the model thinks behind the first, and both are spoken, as one', () => {
    const call = Call.greeted({ secondVoice: true, clips: [FILLER], interruption: INTERRUPTION })
    call.says('turn_1', 500)
    call.begins('resp_1')
    const text = { type: 'agent_text', responseId: 'resp_1' } as const
    call.model({ ...text, itemId: 'item_1', text: PREAMBLE, final: true })
    call.model({ type: 'preamble', responseId: 'resp_1', itemId: 'item_1' })
    call.audio('resp_1', 'item_1', 2_000)
    call.wait(2_000)
    call.echoAll()
    call.wait(2_600)
    expect(call.all('play_clip')).toHaveLength(1)
    call.model({ ...text, itemId: 'item_2', text: ANSWER, final: true })
    call.ends('resp_1')
    expect(call.all('speak').map(({ text: words }) => words)).toEqual([PREAMBLE, ` ${ANSWER}`])
    expect([call.all('cut_voice'), call.all('end_voice').length, call.commands('respond').length]).toEqual([[], 1, 2])
  })
})
