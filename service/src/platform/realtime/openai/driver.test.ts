import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../../test/harness/clock.ts'
import { until } from '../../../../test/harness/wait.ts'
import { API_KEY, makeBench, Recorder, SETUP } from './driver.fixture.ts'
import { openaiDriver } from './driver.ts'

const DEFAULTS = { model: 'gpt-realtime', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }
const FRAME = Buffer.from(Buffer.alloc(160, 0xd5).toString('base64'))

describe('opening a session', () => {
  it('asks for the model with the key, and for nothing of the beta and no compression', async () => {
    const { server, open } = await makeBench()
    open({ model: 'gpt-realtime-2' }, `${server.url}?region=eu&model=old#top`)
    const { request } = await server.connection()
    expect(request.url).toBe('/v1/realtime?region=eu&model=gpt-realtime-2')
    expect(request.headers.authorization).toBe(`Bearer ${API_KEY}`)
    expect(request.headers).not.toHaveProperty('openai-beta')
    expect(request.headers).not.toHaveProperty('sec-websocket-extensions')
  })

  it('sends its settings once, after session.created, and is ready once they are granted', async () => {
    const { server, open } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    connection.send('session.created')
    const { session } = await connection.event('session.update')
    expect(session).toMatchObject({ type: 'realtime', instructions: 'You are Ada.' })
    expect(heard.events).toEqual([])
    connection.send('session.updated')
    connection.send('session.created')
    connection.send('session.updated')
    connection.send('response.created', { response: { id: 'resp_1' } })
    await heard.first('response_started')
    expect(heard.events.map(({ type }) => type)).toEqual(['ready', 'response_started'])
    expect(connection.received).toHaveLength(1)
  })

  it('sends what was commanded meanwhile first, in its order, and drops audio and what is beyond a hundred', async () => {
    const { server, open, logLines } = await makeBench()
    const { session, heard } = open()
    session.append(FRAME)
    for (let i = 0; i < 101; i++) session.send({ type: 'system_message', text: `note ${i}` })
    const connection = await server.connection()
    connection.send('session.created')
    await connection.event('session.update')
    session.append(FRAME)
    connection.send('session.updated')
    await heard.first('ready')
    session.send({ type: 'respond', requestId: 'ask-1', instructions: null })
    await connection.event('response.create')
    const texts = connection.received.slice(1, -1).map(({ item }) => item.content[0].text)
    expect(texts).toEqual(Array.from({ length: 100 }, (_, i) => `note ${i}`))
    expect(connection.received.at(-1)).toEqual({ type: 'response.create', event_id: 'ask-1' })
    session.close()
    expect(logLines.map((line) => JSON.parse(line))).toMatchObject([{ dropped: 1, level: 'warn' }])
  })

  const TOOLS = ['first', 'second', 'third'].map((name) => ({ name, description: '', parameters: { type: 'object' } }))
  const REFUSAL = { type: 'invalid_request_error', code: 'invalid_function_parameters', message: 'No good.' }

  it.each([
    ['by its place', { ...REFUSAL, param: 'session.tools[1].parameters' }],
    ['by its place, under another code', { ...REFUSAL, code: 'invalid_value', param: 'session.tools[1]' }],
    ['by its name', { ...REFUSAL, param: null, message: "Invalid schema for function 'second': no." }],
  ])('sends its settings again without a tool that was refused %s, and says so', async (_how, error) => {
    const { server, open, logLines } = await makeBench()
    const { heard } = open({ tools: TOOLS })
    const connection = await server.connection()
    connection.send('session.created')
    const { session: whole } = await connection.event('session.update')
    expect(whole.tools[0].parameters).toEqual({ type: 'object', properties: {} })
    connection.send('error', { error })
    const { session } = await connection.event('session.update', 2)
    expect(session).toMatchObject({ instructions: 'You are Ada.', tools: [{ name: 'first' }, { name: 'third' }] })
    connection.send('session.updated')
    await heard.first('ready')
    const { code, message } = error
    expect(heard.events[0]).toEqual({ type: 'refused', requestId: null, code, message, fault: 'benign' })
    expect(logLines.map((line) => JSON.parse(line))).toMatchObject([{ tool: 'second', code, level: 'warn' }])
  })

  it('is closed when the settings are refused for a tool that there is not, or for ever further ones', async () => {
    const { server, open } = await makeBench()
    const odd = open({ tools: TOOLS })
    const first = await server.connection()
    first.send('session.created')
    await first.event('session.update')
    first.send('error', { error: { ...REFUSAL, param: 'session.tools[3].parameters' } })
    expect(await odd.heard.first('closed')).toMatchObject({ code: REFUSAL.code, fault: 'setup' })

    const many = open({ tools: Array.from({ length: 10 }, (_, n) => ({ ...TOOLS[0], name: `t${n}` }) as never) })
    const second = await server.connection(2)
    second.send('session.created')
    for (let nth = 1; nth <= 9; nth++) {
      await second.event('session.update', nth)
      second.send('error', { error: { ...REFUSAL, param: 'session.tools[0].parameters' } })
    }
    await many.heard.first('closed')
    expect(many.heard.ofType('refused')).toHaveLength(8)
  })

  const usual = 'gpt-4o-mini-transcribe'
  it.each([
    [
      { model: 'gone', language: 'de' },
      'model',
      [
        { model: usual, language: 'de' },
        { model: 'gpt-transcribe', languages: ['de'] },
      ],
    ],
    [{ model: null, language: 'de' }, 'model', [{ model: 'gpt-transcribe', languages: ['de'] }]],
    [{ model: usual, language: null }, 'model', [{ model: 'gpt-transcribe' }]],
    [{ model: 'gpt-transcribe', language: null }, 'model', [{ model: usual }]],
    [
      { model: 'named', language: 'xx' },
      'language',
      [{ model: 'named' }, { model: usual }, { model: 'gpt-transcribe' }],
    ],
  ])(
    'has what the caller says written down otherwise where of %j the %s is refused, else not',
    async (given, at, others) => {
      const { server, open, logLines } = await makeBench()
      const { heard } = open({ transcription: given })
      const connection = await server.connection()
      connection.send('session.created')
      const param = `session.audio.input.transcription.${at}`
      const error = { type: 'invalid_request_error', code: 'invalid_value', message: 'No.', param }
      const asked: unknown[] = []
      for (let nth = 1; asked.at(-1) !== null; nth += 1) {
        asked.push((await connection.event('session.update', nth))['session'].audio.input.transcription)
        connection.send(asked.at(-1) === null ? 'session.updated' : 'error', { error })
      }
      await heard.first('ready')
      expect(asked.slice(1)).toEqual([...others, null])
      const told = [given.model ?? usual, ...others.map(({ model }) => model)]
      const expected = told.map((model) => ({ transcription_model: model, level: 'warn' }))
      expect(logLines.map((line) => JSON.parse(line))).toMatchObject(expected)
    },
  )

  it.each([
    ['unknown_parameter', 'session.reasoning'],
    ['invalid_value', 'session.reasoning.effort'],
    ['unsupported_parameter', null],
  ])('goes without how much it is to reason where that is refused: %s at %s', async (code, param) => {
    const { server, open, logLines } = await makeBench()
    const { heard } = open({ reasoningEffort: 'xhigh' })
    const connection = await server.connection()
    connection.send('session.created')
    const { session: asked } = await connection.event('session.update')
    const message = 'Reasoning is not supported by this model.'
    connection.send('error', { error: { type: 'invalid_request_error', code, message, param } })
    const { session: last } = await connection.event('session.update', 2)
    connection.send('session.updated')
    await heard.first('ready')
    expect(asked.reasoning).toEqual({ effort: 'xhigh' })
    expect(last).toEqual({ ...asked, reasoning: undefined })
    expect(heard.events).toMatchObject([{ type: 'refused', code, fault: 'benign' }, { type: 'ready' }])
    expect(logLines.map((line) => JSON.parse(line))).toMatchObject([{ reasoning_effort: 'xhigh', code, level: 'warn' }])
  })

  it('is closed when it asked for no reasoning and is refused for that, or is refused for it again', async () => {
    for (const reasoningEffort of [null, 'low'] as const) {
      const { server, open } = await makeBench()
      const { heard } = open({ reasoningEffort })
      const connection = await server.connection()
      connection.send('session.created')
      const error = { code: 'invalid_value', message: 'No.', param: 'session.reasoning.effort' }
      for (const nth of reasoningEffort ? [1, 2] : [1]) {
        await connection.event('session.update', nth)
        connection.send('error', { error })
      }
      expect(await heard.first('closed')).toMatchObject({ code: 'invalid_value', fault: 'setup' })
    }
  })

  it('is closed when nobody is to write anything down and that is refused, too', async () => {
    const { server, open } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    connection.send('session.created')
    const error = { code: 'model_not_found', message: 'No.', param: 'session.audio.input.transcription.model' }
    for (const nth of [1, 2, 3]) {
      await connection.event('session.update', nth)
      connection.send('error', { error })
    }
    expect(await heard.first('closed')).toMatchObject({ code: 'model_not_found' })
  })

  it.each([
    ['unknown_parameter', 'setup'],
    ['model_not_found', 'fatal'],
    ['session_expired', 'expired'],
    ['server_error', 'retry'],
    ['response_cancel_not_active', 'setup'],
  ])('is closed when the settings are refused with %s', async (code, fault) => {
    const { server, clock, open } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    connection.send('session.created')
    await connection.event('session.update')
    connection.send('error', { error: { type: 'invalid_request_error', code, message: 'No.', event_id: 'setup' } })
    connection.send('session.updated')
    await until(() => connection.closeCode, { what: 'the end of the connection' })
    expect(heard.events).toEqual([{ type: 'closed', code, message: 'No.', fault }])
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    ['input', 'audio/pcm'],
    ['output', 'audio/pcm'],
    ['output', 'audio/pcma'],
  ])('is none where the server says that its %s is no audio of a telephone, but %s', async (way, type) => {
    const { server, open, clock } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    connection.send('session.created')
    await connection.event('session.update')
    connection.send('session.updated', { session: { audio: { [way]: { format: { type } } } } })
    await until(() => connection.closeCode, { what: 'the end of the connection' })
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'other_audio_format', fault: 'setup' }])
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    [
      'says that it has what was asked for',
      { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu', rate: 8_000 } } },
      ['audio'],
    ],
    [
      'calls that by a name of its own',
      { input: { format: { type: 'g711_ulaw' } }, output: { format: { type: 'audio/PCMU' } } },
      ['audio'],
    ],
    ['speaks otherwise, and is only to write', { output: { format: { type: 'audio/pcm' } } }, ['text']],
    ['says so in a way that nobody knows', { output: { format: 'pcmu' } }, undefined],
  ])('is ready where the server %s', async (_what, audio, output_modalities) => {
    const { server, open } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    connection.send('session.created')
    await connection.event('session.update')
    connection.send('session.updated', { session: { audio, output_modalities } })
    expect(await heard.first('ready')).toEqual({ type: 'ready' })
  })

  it.each([
    ['never greets', ['open']],
    ['never grants the settings', ['open', 'session.created']],
  ])('is closed after five seconds when the server %s', async (_what, [, greeting]) => {
    const { server, clock, open } = await makeBench()
    const { heard } = open()
    const connection = await server.connection()
    if (greeting) {
      connection.send(greeting)
      await connection.event('session.update')
    } else await until(() => clock.pendingTimers === 2, { what: 'the open connection' })
    await clock.advance(4_999)
    expect(heard.events).toEqual([])
    await clock.advance(1)
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'setup_timeout', fault: 'retry' }])
    expect(clock.pendingTimers).toBe(0)
    await until(() => server.openSockets === 0, { what: 'the end of the connection' })
  })

  it('is closed after five seconds when the handshake is not answered', async () => {
    const { server, clock, open } = await makeBench()
    server.answer = { how: 'hang' }
    const { heard } = open()
    await until(() => server.handshakes === 1, { what: 'the handshake' })
    await clock.advance(5_000)
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'handshake_timeout', fault: 'retry' }])
    await until(() => server.openSockets === 0, { what: 'the end of the connection' })
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    [401, '{"error":{"code":"invalid_api_key","message":"secret-key-1234"}}', 'invalid_api_key', 'fatal'],
    [403, '', 'handshake_403', 'fatal'],
    [404, '', 'handshake_404', 'fatal'],
    [429, '{"error":{"code":"insufficient_quota"}}', 'insufficient_quota', 'fatal'],
    [302, '', 'handshake_302', 'setup'],
    [503, 'x'.repeat(100_000), 'handshake_503', 'retry'],
  ])('is closed when the handshake is answered with %i %s', async (status, body, code, fault) => {
    const { server, clock, open } = await makeBench()
    server.answer = { how: 'refuse', status, body, headers: { location: '/elsewhere' } }
    const { heard } = open()
    await heard.first('closed')
    const message = `The model refused the connection with status ${status}.`
    expect(heard.events).toEqual([{ type: 'closed', code, message, fault }])
    expect(server.handshakes).toBe(1)
    expect(clock.pendingTimers).toBe(0)
    await until(() => server.openSockets === 0, { what: 'the end of the connection' })
  })

  it('tells how long a busy server wants to be left alone', async () => {
    const { server, open } = await makeBench()
    server.answer = { how: 'refuse', status: 429, headers: { 'retry-after': '2' } }
    const { heard } = open()
    await heard.first('closed')
    expect(heard.events).toMatchObject([
      { type: 'rate_limited', resetMs: 2_000 },
      { type: 'closed', code: 'handshake_429', fault: 'retry' },
    ])
  })

  it('knows a refusal by its status when the rest of it is cut off', async () => {
    const { server, open } = await makeBench()
    server.answer = { how: 'refuse', status: 401, body: '{"error":{"code":"rate_lim', cutOff: true }
    const { heard } = open()
    await heard.first('closed')
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'handshake_401', fault: 'fatal' }])
  })

  it('is closed when nobody listens', async () => {
    const { server, open, clock } = await makeBench()
    const { url } = server
    await server.close()
    const { heard } = open({}, url)
    expect(heard.events).toEqual([])
    await heard.first('closed')
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'econnrefused', fault: 'retry' }])
    expect(clock.pendingTimers).toBe(0)
    await server.listen()
  })

  it('speaks TLS to a wss address from the first byte', async () => {
    const received: Buffer[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        received.push(chunk)
        socket.destroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { open } = await makeBench()
    const { heard } = open({}, `wss://127.0.0.1:${port}/v1/realtime`)
    await heard.first('closed')
    expect(received[0]?.[0]).toBe(0x16)
    expect(Buffer.concat(received).includes(API_KEY)).toBe(false)
    expect(heard.events).toMatchObject([{ type: 'closed', fault: 'retry' }])
  })

  it.each([
    ['https://example.com', 'key'],
    ['no address', 'key'],
    ['wss://example.com', 'a\nkey'],
  ])('is refused for the address %j with the key %j', (url, apiKey) => {
    expect(() => openaiDriver({ url, apiKey, clock: new TestClock(), defaults: DEFAULTS })).toThrow(TypeError)
  })

  it('needs no log', () => {
    const driver = openaiDriver({ url: 'ws://127.0.0.1:9', apiKey: '', clock: new TestClock(), defaults: DEFAULTS })
    const heard = new Recorder()
    driver.open(SETUP, heard).close()
    expect(heard.events).toEqual([])
  })
})
