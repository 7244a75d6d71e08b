import { describe, expect, it } from 'vitest'
import { talkSpans } from '../audio/levels.ts'
import { tone } from '../audio/tone.ts'
import { stereoWav } from '../audio/wav.ts'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech } from '../speech/speech.ts'
import { connectStream, type TestBridge } from './bridge.fixture.ts'
import { bargeIn, type CallerScript, listener, reply } from './caller-script.ts'
import { eventually, SILENT, startPair } from './carrier.fixture.ts'

const TARGET = '+14155550177'
/** Sockets and servers of this process; the timers are counted by the clock. */
const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP')).length
const verbsOf = (call: { events: readonly { kind: string }[] }) =>
  call.events.flatMap((event) => (event.kind === 'verb' && 'verb' in event ? [event.verb] : []))

async function run(document: string, caller: CallerScript = SILENT, prepare?: (bridge: TestBridge) => void) {
  const pair = await startPair()
  pair.bridge.answer('/voice', `<Response>${document}</Response>`)
  prepare?.(pair.bridge)
  const call = pair.ring(caller)
  return { ...pair, call }
}

describe('an inbound call', () => {
  it('asks with the carrier’s fields, ringing, and is answered by the first verb', async () => {
    const { bridge, call } = await run('<Say>Hello.</Say>')
    expect(await call.ended).toEqual({ status: 'completed', by: 'document' })
    await call.settled
    expect(Object.fromEntries(bridge.formsOf('/voice')[0] ?? [])).toMatchObject({
      CallSid: call.sid,
      AccountSid: 'AC00000000000000000000000000000001',
      From: '+14155550100',
      To: '+14155550199',
      Caller: '+14155550100',
      Called: '+14155550199',
      CallStatus: 'ringing',
      ApiVersion: '2010-04-01',
      Direction: 'inbound',
      CallerName: '',
      FromCity: '',
    })
    expect(bridge.formsOf('/status').map((form) => form.get('CallStatus'))).toEqual(['completed'])
    expect(talkSpans(call.recording?.agent ?? new Uint8Array())).toHaveLength(1)
  })

  it.each([
    ['<Reject reason="busy"/>', 'busy'],
    ['<Reject/>', 'no-answer'],
    ['<Hangup/>', 'completed'],
    ['', 'completed'],
  ])('that meets %j ends %s', async (document, status) => {
    const { call } = await run(document)
    expect(await call.ended).toEqual({ status, by: 'document' })
    expect(call.recording === null).toBe(status !== 'completed')
  })

  it('hears a sentence as often as told, keys, and a file', async () => {
    const { call } = await run(
      '<Say loop="2">One.</Say><Pause length="1"/><Play digits="12#"/><Play loop="3">/sound.wav</Play>',
      SILENT,
      (bridge) => {
        const body = stereoWav(tone([300], 500, 8000), tone([300], 500, 8000))
        bridge.answer('/sound.wav', () => ({ status: 200, type: 'audio/wav', body }))
      },
    )
    await call.settled
    expect(verbsOf(call)).toEqual(['say', 'pause', 'play', 'play'])
    expect(call.events.flatMap((event) => (event.kind === 'heard-key' ? [event.key] : []))).toEqual(['1', '2', '#'])
    const file = talkSpans(call.recording?.agent ?? new Uint8Array()).at(-1)
    expect((file?.endMs ?? 0) - (file?.startMs ?? 0)).toBeGreaterThanOrEqual(1500)
    expect(call.notifications).toEqual([])
  })

  it('goes on without a file that cannot be had or read', async () => {
    const { call } = await run('<Play>/gone.wav</Play><Play>/voice</Play><Say>On.</Say>', SILENT, (bridge) => {
      bridge.answer('/gone.wav', () => ({ status: 404 }))
    })
    await call.settled
    expect(call.notifications.map(({ code }) => code)).toEqual([11200, 13701])
    expect(verbsOf(call)).toEqual(['play', 'play', 'say'])
  })

  it('that is hung up by the caller ends at once', async () => {
    const { call } = await run('<Pause length="600"/>', {
      steps: [{ when: { kind: 'at', atMs: 1000 }, does: { kind: 'hang-up' } }],
    })
    expect(await call.ended).toEqual({ status: 'completed', by: 'caller' })
    expect(call.recording?.durationMs).toBeLessThan(1200)
  })

  it('ends at its longest time', async () => {
    const { carrier, bridge } = await startPair()
    bridge.answer('/voice', '<Response><Pause length="600"/></Response>')
    const voiceUrl = `${bridge.url}/voice`
    const call = carrier.ring({ from: '+1', to: '+2', caller: SILENT, voiceUrl, timeLimitMs: 2000 })
    expect(await call.ended).toEqual({ status: 'completed', by: 'time-limit' })
  })

  it('follows redirects, relative ones too', async () => {
    const { call, bridge } = await run('<Redirect method="GET">next?a=1</Redirect><Hangup/>', SILENT, (bridge) => {
      bridge.answer('/next', '<Response><Redirect>/last</Redirect></Response>')
    })
    await call.settled
    expect(bridge.formsOf('/next')[0]?.get('a')).toBe('1')
    expect(bridge.formsOf('/last')[0]?.get('CallStatus')).toBe('in-progress')
  })

  it('that is led in circles without end is ended', async () => {
    const { call } = await run('<Redirect/>')
    expect(await call.ended).toMatchObject({ status: 'completed' })
    expect(call.notifications).toMatchObject([{ message: expect.stringContaining('without end') }])
  })
})

describe('a document that cannot be run', () => {
  it.each([
    [12100, 'no XML'],
    [12100, '<Wrong/>'],
  ])('is error %i, an apology, and the end', async (code, body) => {
    const pair = await startPair()
    pair.bridge.answer('/voice', body)
    const call = pair.ring()
    expect(await call.ended).toEqual({ status: 'completed', by: 'document' })
    expect(call.notifications).toMatchObject([{ code }])
    expect(talkSpans(call.recording?.agent ?? new Uint8Array())).not.toEqual([])
  })

  it('is error 11200 for a bad status and 11205 for no connection', async () => {
    const { bridge, call, carrier } = await run('', SILENT, (bridge) =>
      bridge.answer('/voice', () => ({ status: 500 })),
    )
    await call.settled
    const dead = carrier.ring({ from: '+1', to: '+2', caller: SILENT, voiceUrl: 'http://127.0.0.1:1/' })
    await dead.settled
    expect([call.notifications[0]?.code, dead.notifications[0]?.code]).toEqual([11200, 11205])
    expect(bridge.formsOf('/voice')).toHaveLength(1)
  })

  it('is had where the server redirects to, and its addresses start from there', async () => {
    const { bridge, call } = await run('', SILENT, (bridge) => {
      bridge.answer('/voice', () => ({ status: 307, location: '/voice/' }))
      bridge.answer('/voice/', '<Response><Redirect>next</Redirect></Response>')
      bridge.answer('/voice/next', '<Response><Hangup/></Response>')
    })
    await call.settled
    expect(call.notifications).toEqual([])
    expect(bridge.forms.map(({ path }) => path).slice(0, 3)).toEqual(['/voice', '/voice/', '/voice/next'])
    expect(bridge.formsOf('/voice/')[0]?.get('CallSid')).toBe(call.sid)
  })

  it.each([
    [11215, 307],
    [11216, 308],
  ])('is error %i when the server answers %i for ever', async (code, status) => {
    const loop = () => ({ status, location: '/voice' })
    const { call } = await run('', SILENT, (bridge) => bridge.answer('/voice', loop))
    await call.settled
    expect(call.notifications).toMatchObject([{ code }])
  })

  it('is error 12300 when it is another kind of answer', async () => {
    const page = () => ({ status: 200, type: 'text/html', body: Buffer.from('<Response/>') })
    const { call } = await run('', SILENT, (bridge) => bridge.answer('/voice', page))
    await call.settled
    expect(call.notifications).toMatchObject([{ code: 12300 }])
  })

  it('leads to the fallback, which is told why', async () => {
    const { carrier, bridge } = await startPair()
    bridge.answer('/voice', '<Response><Redirect>/broken</Redirect></Response>')
    bridge.answer('/broken', () => ({ status: 500 }))
    bridge.answer('/fallback', '<Response><Hangup/></Response>')
    const urls = { voiceUrl: `${bridge.url}/voice`, voiceFallbackUrl: `${bridge.url}/fallback` }
    await carrier.ring({ from: '+1', to: '+2', caller: SILENT, ...urls }).settled
    const form = bridge.formsOf('/fallback')[0]
    expect([form?.get('ErrorCode'), form?.get('ErrorUrl')]).toEqual(['11200', `${bridge.url}/broken`])
  })
})

describe('keys', () => {
  const press = (keys: string): CallerScript => ({
    steps: [{ when: { kind: 'then', delayMs: 400 }, does: { kind: 'press', keys } }],
  })
  const gather = (attributes: string) => `<Gather ${attributes}><Say>Press some keys, please.</Say></Gather>`

  it('go to the action once there are enough, and cut the prompt short', async () => {
    const { call, bridge } = await run(gather('numDigits="2" action="/got"'), press('123'))
    await call.settled
    expect(bridge.formsOf('/got').map((form) => form.get('Digits'))).toEqual(['12'])
    const { agentVoicedShare = 1, durationMs = 0 } = call.measure() ?? {}
    expect(agentVoicedShare * durationMs).toBeLessThan(600)
  })

  it('are done at the finishing key', async () => {
    const { call, bridge } = await run(gather('action="/got"'), press('45#6'))
    await call.settled
    expect(bridge.formsOf('/got').map((form) => form.get('Digits'))).toEqual(['45'])
  })

  it('are done when no more come, and without any the next verb runs', async () => {
    const { call, bridge } = await run(gather('timeout="2" action="/got"'), press('7'))
    await call.settled
    expect(bridge.formsOf('/got').map((form) => form.get('Digits'))).toEqual(['7'])
    const none = await run(`${gather('timeout="1" action="/got"')}<Say>Nothing.</Say>`)
    await none.call.settled
    expect(none.bridge.formsOf('/got')).toEqual([])
    expect(verbsOf(none.call)).toEqual(['gather', 'say'])
  })
})

describe('a dialled party', () => {
  const dial = (inside: string, attributes = '') => `<Dial action="/done" ${attributes}>${inside}</Dial>`
  const done = (bridge: TestBridge) => bridge.formsOf('/done')[0]

  it('hears the caller and is heard, byte for byte', async () => {
    const phraseBook = makePhraseBook()
    const speech = makeSpeech({ phraseBook })
    // A voice takes a busy machine seconds to its first words, of which each is five for whoever waits in the call.
    for (const text of ['Support, how can I help?', 'My order is late.']) await speech.say(text)
    const { carrier, bridge, ring } = await startPair({ speech })
    carrier.subscribe(TARGET, { ...listener('Support, how can I help?'), hangsUpAtEnd: false })
    bridge.answer('/voice', `<Response>${dial(TARGET)}</Response>`)
    const call = ring({ hangsUpAtEnd: true, steps: [reply('My order is late.')] })
    await call.settled
    const child = carrier.calls[1]
    expect(child).toMatchObject({ direction: 'outbound-dial', from: '+14155550100', to: TARGET, status: 'completed' })
    expect(phraseBook.recognise(child?.recording?.agent ?? new Uint8Array())?.text).toBe('My order is late.')
    expect(phraseBook.recognise(call.recording?.agent ?? new Uint8Array())?.text).toContain('how can I help?')
    await speech.close()
  })

  it('that hangs up hands the call back with how it went', async () => {
    const { call, bridge, carrier } = await run(dial(TARGET))
    carrier.subscribe(TARGET, { steps: [{ when: { kind: 'at', atMs: 1000 }, does: { kind: 'hang-up' } }] })
    await call.settled
    expect([done(bridge)?.get('DialCallStatus'), done(bridge)?.get('DialCallDuration')]).toEqual(['completed', '1'])
    expect(done(bridge)?.get('DialCallSid')).toBe(carrier.calls[1]?.sid)
  })

  it.each([
    ['busy', { whenRung: 'busy', steps: [] }],
    ['no-answer', { ringMs: 60_000, steps: [] }],
    ['failed', { whenRung: 'failed', steps: [] }],
  ] satisfies [string, CallerScript][])('that is %s hands it back too', async (status, script) => {
    const { call, bridge, carrier } = await run(dial(TARGET, 'timeout="3"'))
    carrier.subscribe(TARGET, script)
    await call.settled
    expect(done(bridge)?.get('DialCallStatus')).toBe(status)
  })

  it('is asked first, and is not joined when it does not press the key', async () => {
    const { call, bridge, carrier } = await run(dial(`<Number url="/ask">${TARGET}</Number>`), SILENT, (bridge) => {
      bridge.answer('/ask', '<Response><Gather numDigits="1" timeout="1" action="/yes"/><Hangup/></Response>')
      bridge.answer('/yes', '<Response/>')
    })
    carrier.subscribe(TARGET, SILENT)
    await call.settled
    expect(bridge.formsOf('/ask')[0]?.get('ParentCallSid')).toBe(call.sid)
    expect([bridge.formsOf('/yes').length, done(bridge)?.get('DialCallStatus')]).toEqual([0, 'no-answer'])
  })

  it('is joined when it presses the key', async () => {
    const { call, bridge, carrier } = await run(dial(`<Number url="/ask">${TARGET}</Number>`), SILENT, (bridge) => {
      bridge.answer('/ask', '<Response><Gather numDigits="1" timeout="5" action="/yes"/><Hangup/></Response>')
      bridge.answer('/yes', '<Response/>')
    })
    carrier.subscribe(TARGET, {
      hangsUpAtEnd: true,
      steps: [
        { when: { kind: 'then', delayMs: 500 }, does: { kind: 'press', keys: '1' } },
        { when: { kind: 'then', delayMs: 1000 }, does: { kind: 'nothing' } },
      ],
    })
    await call.settled
    expect([bridge.formsOf('/yes')[0]?.get('Digits'), done(bridge)?.get('DialCallStatus')]).toEqual(['1', 'completed'])
  })

  it('is the first of several to answer; the others stop ringing', async () => {
    const numbers = ['+14155550171', '+14155550172']
    const { call, carrier } = await run(dial(numbers.map((number) => `<Number>${number}</Number>`).join('')))
    carrier.subscribe(numbers[0] ?? '', { ...SILENT, ringMs: 20_000 })
    carrier.subscribe(numbers[1] ?? '', { ...SILENT, ringMs: 500 })
    await eventually(() => carrier.calls[2]?.status === 'in-progress' && carrier.calls[1]?.status === 'canceled')
    call.hangUp()
    await call.settled
    await carrier.calls[2]?.settled
    expect(carrier.calls[2]?.status).toBe('completed')
  })

  it('goes when the caller presses star, if the document says so', async () => {
    const { call, bridge, carrier } = await run(dial(TARGET, 'hangupOnStar="true"'), {
      steps: [{ when: { kind: 'at', atMs: 3000 }, does: { kind: 'press', keys: '*' } }],
    })
    carrier.subscribe(TARGET, SILENT)
    await call.settled
    expect(done(bridge)?.get('DialCallStatus')).toBe('completed')
  })
})

describe('a conference', () => {
  it('lets three hear one another, and ends for all when it says so', async () => {
    const phraseBook = makePhraseBook()
    const speech = makeSpeech({ phraseBook })
    const { bridge, ring } = await startPair({ speech })
    const join = '<Response><Dial><Conference>room</Conference></Dial><Hangup/></Response>'
    bridge.answer('/voice', join)
    const first = ring(SILENT)
    expect(await first.until(({ kind }) => kind === 'verb', 50_000)).not.toBeNull()
    const second = ring(SILENT)
    expect(await second.until(({ kind }) => kind === 'verb', 50_000)).not.toBeNull()
    bridge.answer('/voice', join.replace('<Conference>', '<Conference endConferenceOnExit="true">'))
    const third = ring({
      hangsUpAtEnd: true,
      steps: [
        { when: { kind: 'then', delayMs: 500 }, does: { kind: 'say', text: 'Is everybody here?' } },
        { when: { kind: 'then', delayMs: 500 }, does: { kind: 'nothing' } },
      ],
    })
    expect(await third.ended).toMatchObject({ by: 'caller' })
    expect([await first.ended, await second.ended]).toMatchObject([{ by: 'document' }, { by: 'document' }])
    for (const { recording } of [first, second]) {
      expect(phraseBook.recognise(recording?.agent ?? new Uint8Array())?.text).toBe('Is everybody here?')
    }
    await speech.close()
  })
})

describe('a stream that is over', () => {
  const withNext = (bridge: TestBridge) => connectStream(bridge, { after: '<Redirect>/resume</Redirect>' })

  it('closed by the server, lets the next verb run', async () => {
    const { bridge, ringStream } = await startPair()
    bridge.answer('/voice', withNext(bridge))
    const { call, stream } = await ringStream()
    stream.ws.close(1000)
    await call.settled
    expect(bridge.formsOf('/resume')).toHaveLength(1)
    expect(call.notifications).toEqual([])
  })

  it('closed with a code that is no regular end, is a notification', async () => {
    const { bridge, ringStream } = await startPair()
    bridge.answer('/voice', withNext(bridge))
    const { call, stream } = await ringStream()
    stream.ws.close(4401)
    await call.settled
    expect(call.notifications).toMatchObject([{ code: 31921 }])
  })

  it('lost, lets the next verb run, or leaves the call in silence until it is sent elsewhere', async () => {
    const { bridge, carrier, ringStream, rest } = await startPair()
    bridge.answer('/voice', withNext(bridge))
    const goesOn = await ringStream()
    goesOn.stream.ws.terminate()
    await goesOn.call.settled
    expect(bridge.formsOf('/resume')).toHaveLength(1)
    expect(goesOn.call.events).toContainEqual(expect.objectContaining({ kind: 'stream-ended', end: 'lost' }))

    carrier.faults.stream.afterLoss = 'silence'
    const stays = await ringStream()
    stays.stream.ws.terminate()
    expect(await stays.call.until(({ kind }) => kind === 'stream-ended', 50_000)).not.toBeNull()
    expect(await stays.call.until(({ kind }) => kind === 'hang-up', 3000)).toBeNull()
    expect(bridge.formsOf('/resume')).toHaveLength(1)
    await rest(`/Calls/${stays.call.sid}.json`, { Url: `${bridge.url}/resume` })
    await stays.call.settled
    expect(bridge.formsOf('/resume')).toHaveLength(2)
  })

  it('with an action, asks that', async () => {
    const { bridge, ringStream } = await startPair()
    bridge.answer('/voice', withNext(bridge).replace('<Connect>', '<Connect action="/after">'))
    const { call, stream } = await ringStream()
    stream.ws.close(1000)
    await call.settled
    expect([bridge.formsOf('/after').length, bridge.formsOf('/resume').length]).toEqual([1, 0])
  })

  it.each([
    ['https://example.com/', 31922],
    ['ws://example.com/media', 31922],
    ['//', 31923],
    ['ws://127.0.0.1:1/', 31902],
  ])('before it began, at %s, is error %i', async (url, code) => {
    const { call } = await run(`<Connect><Stream url="${url}"/></Connect>`)
    await call.settled
    expect(call.notifications).toMatchObject([{ code }])
  })
})

describe('a caller in a conversation', () => {
  it('talks in turn and over the agent, and the call is measured', async () => {
    const { bridge, ringStream } = await startPair({ speed: 4 })
    bridge.answer('/voice', connectStream(bridge))
    const agent = tone([300, 500], 1500, 6000)
    const { call, stream } = await ringStream({
      hangsUpAtEnd: true,
      steps: [reply('Hello, I have a question.'), bargeIn('Stop!', 600), reply('Thank you, goodbye.')],
    })
    const finished = (count: number) => call.events.filter(({ kind }) => kind === 'caller-ended').length === count
    stream.play(agent, 'greeting')
    await eventually(() => finished(1))
    stream.play(tone([300, 500], 20_000, 6000), 'long')
    await eventually(() => finished(2))
    stream.clear()
    stream.play(agent, 'sorry')
    expect(await call.ended).toMatchObject({ by: 'caller' })
    expect(stream.of('mark').map((message) => message.mark?.name)).toEqual(['greeting', 'long', 'sorry'])
    const measures = call.measure()
    expect(measures).toMatchObject({ clears: 1, clicks: 0 })
    expect(measures?.callerVoicedShare).toBeGreaterThan(0.2)
    expect(measures?.agentVoicedShare).toBeGreaterThan(0.2)
    expect(measures?.replyGapsMs.length).toBeGreaterThanOrEqual(1)
    expect(measures?.longestSilenceMs).toBeLessThan(2500)
    const { caller, agent: heard } = call.recording ?? { caller: new Uint8Array(), agent: new Uint8Array() }
    expect(stereoWav(caller, heard).length).toBe(44 + caller.length * 4)
  })

  it('gives up on an agent that never speaks', async () => {
    const { bridge, ring } = await startPair()
    bridge.answer('/voice', connectStream(bridge))
    const call = ring({ steps: [reply('Hello?')], patienceMs: 3000 })
    expect(await call.ended).toEqual({ status: 'completed', by: 'gave-up' })
  })
})

describe('closing the carrier', () => {
  it('ends calls in every state and leaves no timer and no socket', async () => {
    const openBefore = openSockets()
    const { bridge, carrier, clock, ring, ringStream } = await startPair()
    bridge.answer('/voice', connectStream(bridge))
    await ringStream()
    carrier.faults.stream.ending = 'stop-only'
    const leftOpen = await ringStream()
    leftOpen.call.hangUp()
    const swallowed = await ringStream()
    swallowed.call.faults.stream.cut = { atMs: 0, how: 'black-hole' }
    await eventually(() => swallowed.call.faults.stream.cut === null)
    ring()
    await carrier.close()
    await carrier.close()
    expect(clock.pending()).toBe(0)
    expect(carrier.calls.map(({ status }) => status).every((status) => /completed|canceled/.test(status))).toBe(true)
    await eventually(() => bridge.streams.every((stream) => stream.closeCode() !== null))
    expect(() => ring()).toThrow('closed')
    await bridge.close()
    await eventually(() => openSockets() <= openBefore)
  })
})
