import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/harness/wait.ts'
import { API_KEY, makeBench } from './driver.fixture.ts'
import type { Connection } from './scripted-server.fixture.ts'

const FRAME = Buffer.from(Buffer.alloc(160, 0xd5).toString('base64'))
const PLACE = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 }
const audio = (bytes: number, fill = 0x55) => Buffer.alloc(bytes, fill).toString('base64')

describe('a session that is ready', () => {
  it('passes the caller on as text frames with the base64 as it came', async () => {
    const { session, server } = await (await makeBench()).ready()
    session.append(FRAME)
    session.append(FRAME)
    await server.event('input_audio_buffer.append', 2)
    expect(server.received.slice(1)).toEqual([
      { type: 'input_audio_buffer.append', audio: FRAME.toString() },
      { type: 'input_audio_buffer.append', audio: FRAME.toString() },
    ])
    expect(server.kinds).toEqual([false, false, false])
  })

  it('hands audio on as it comes, whatever the order of its members', async () => {
    const { heard, server } = await (await makeBench()).ready()
    server.send('response.output_audio.delta', { ...PLACE, delta: audio(800) })
    server.socket.send(JSON.stringify({ delta: audio(400), ...PLACE, type: 'response.output_audio.delta' }))
    server.socket.send(
      JSON.stringify({ type: 'response.output_audio.delta', new: 1, ...PLACE, delta: audio(200) }).replaceAll(
        '/',
        '\\/',
      ),
    )
    await until(() => heard.audioPieces.length === 3, { what: 'three pieces' })
    expect(heard.audioPieces).toEqual(
      [800, 400, 200].map((bytes) => ({ responseId: 'resp_1', itemId: 'item_1', base64: audio(bytes) })),
    )
  })

  it('hands long audio on in pieces of at most 500 ms', async () => {
    const { heard, server } = await (await makeBench()).ready()
    const whole = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251))
    server.send('response.output_audio.delta', { ...PLACE, delta: whole.toString('base64') })
    await until(() => heard.audioPieces.length === 3, { what: 'three pieces' })
    const pieces = heard.audioPieces.map(({ base64 }) => Buffer.from(base64, 'base64'))
    expect(pieces.map((piece) => piece.length)).toEqual([3_999, 3_999, 2_002])
    expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  })

  it('stops in the middle of a delta when it is closed there', async () => {
    const { session, heard, server } = await (await makeBench()).ready()
    heard.onAudio = () => session.close()
    server.send('response.output_audio.delta', { ...PLACE, delta: audio(10_000) })
    server.send('response.output_audio.delta', { ...PLACE, delta: audio(10_000) })
    await until(() => server.closeCode, { what: 'the end of the connection' })
    expect(heard.audioPieces).toHaveLength(1)
  })

  it('tells the cost of an answer with the seconds of its audio, cancelled or not', async () => {
    const { heard, server } = await (await makeBench()).ready()
    const usage = { input_tokens: 100, output_tokens: 50, input_token_details: { cached_tokens: 64 } }
    for (const status of ['cancelled', 'completed']) {
      server.send('response.output_audio.delta', { ...PLACE, delta: audio(12_000) })
      server.send('response.done', { response: { id: 'resp_1', status, usage } })
    }
    await until(() => heard.ofType('response_done').length === 2, { what: 'both ends' })
    const cost = { inputTokens: 100, outputTokens: 50, cachedTokens: 64, audioSeconds: 1.5 }
    expect(heard.ofType('response_done')).toMatchObject([
      { status: 'cancelled', usage: cost },
      { status: 'completed', usage: cost },
    ])
  })

  it('tells which request was refused, even where the server names none', async () => {
    const { session, heard, server } = await (await makeBench()).ready()
    session.send({ type: 'respond', requestId: 'ask-7', instructions: null })
    await server.event('response.create')
    const active = { type: 'invalid_request_error', code: 'conversation_already_has_active_response', message: 'Wait.' }
    server.send('error', { error: { ...active, event_id: 'ask-6' } })
    server.send('error', { error: active })
    server.send('error', { error: { type: 'invalid_request_error', code: 'invalid_value', message: 'Too long.' } })
    await until(() => heard.ofType('refused').length === 3, { what: 'three refusals' })
    const { code, message } = active
    expect(heard.ofType('refused')).toEqual([
      { type: 'refused', requestId: 'ask-6', code, message, fault: 'benign' },
      { type: 'refused', requestId: 'ask-7', code, message, fault: 'benign' },
      { type: 'refused', requestId: null, code: 'invalid_value', message: 'Too long.', fault: 'benign' },
    ])
  })

  it('is closed by the word that its time is over, whether or not the server closes it', async () => {
    const { heard, server } = await (await makeBench()).ready()
    const message = 'Your session hit the maximum duration of 60 minutes.'
    server.send('error', { error: { type: 'invalid_request_error', message } })
    await heard.first('closed')
    await until(() => server.closeCode, { what: 'the end of the connection' })
    expect(heard.events.slice(1)).toEqual([{ type: 'closed', code: 'session_expired', message, fault: 'expired' }])
  })

  it('says why it was closed when the server did', async () => {
    const { heard, server } = await (await makeBench()).ready()
    server.send('error', { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay.' } })
    server.socket.close(1000)
    await heard.first('closed')
    expect(heard.events.slice(1)).toEqual([
      { type: 'refused', requestId: null, code: 'insufficient_quota', message: 'Pay.', fault: 'fatal' },
      { type: 'closed', code: 'insufficient_quota', message: 'Pay.', fault: 'fatal' },
    ])
  })

  it.each([
    ['a close frame', 'close_1011', (server) => server.socket.close(1011, 'trouble')],
    ['a close frame with a word', 'session_expired', (server) => server.socket.close(1001, 'session_expired')],
    ['a bare end', 'close_1006', (server) => server.raw.end()],
    ['a reset', 'close_1006', (server) => server.raw.resetAndDestroy()],
    [
      'an event of over 4 MiB',
      'ws_err_unsupported_message_length',
      (server) => server.socket.send('x'.repeat(4_194_305)),
    ],
    ['a frame against the protocol', 'ws_err_invalid_opcode', (server) => server.raw.write(Buffer.from([0x8f, 0]))],
  ] as const satisfies [string, string, (server: Connection) => void][])(
    'is closed exactly once by %s',
    async (_what, code, cut) => {
      const { ready, clock } = await makeBench()
      const { session, heard, server } = await ready()
      cut(server)
      await heard.first('closed')
      await until(() => server.closeCode, { what: 'the end of the connection' })
      session.append(FRAME)
      session.send({ type: 'cancel', responseId: 'resp_1' })
      session.close()
      expect(heard.events.slice(1)).toMatchObject([{ type: 'closed', code }])
      expect(clock.pendingTimers).toBe(0)
    },
  )

  it('is closed when nothing comes for ten seconds, not even answers to pings, and says that it was deaf', async () => {
    const { server: scripted, ready, clock } = await makeBench()
    scripted.answer = { how: 'accept', autoPong: false }
    const { heard, server } = await ready()
    await clock.advance(14_999)
    expect(heard.ofType('closed')).toEqual([])
    await until(() => server.pings === 2, { what: 'two pings' })
    await clock.advance(1)
    expect(heard.ofType('closed')).toMatchObject([{ code: 'peer_silent', fault: 'retry', wasDeaf: true }])
    expect(clock.pendingTimers).toBe(0)
  })

  it('lasts through minutes of silence while pings are answered', async () => {
    const { ready, clock } = await makeBench()
    const { heard, server } = await ready()
    for (let ping = 1; ping <= 32; ping++) {
      await clock.advance(5_000)
      await until(() => server.pings === ping, { what: `ping ${ping}` })
    }
    // Nothing that the model would take for a message, or for audio.
    expect(server.types()).toEqual([])
    server.send('response.created', { response: { id: 'resp_1' } })
    await heard.first('response_started')
    expect(heard.ofType('closed')).toEqual([])
  })

  it('says goodbye, then hears and says nothing more, and leaves nothing behind', async () => {
    const { server: scripted, ready, clock } = await makeBench()
    const { session, heard, server } = await ready()
    session.close()
    session.close()
    session.append(FRAME)
    session.send({ type: 'respond', requestId: 'ask-1', instructions: null })
    server.send('response.created', { response: { id: 'resp_1' } })
    await until(() => server.closeCode === 1000, { what: 'the goodbye' })
    await until(() => scripted.openSockets === 0, { what: 'the end of the connection' })
    expect(heard.events.map(({ type }) => type)).toEqual(['ready'])
    expect(server.types()).toEqual([])
    await until(() => !process.getActiveResourcesInfo().includes('TCPSocketWrap'), { what: 'no socket being open' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('lets go of a server that does not answer its goodbye', async () => {
    const { ready, clock } = await makeBench()
    const { session, server } = await ready()
    const open = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length
    await until(() => open() === 2, { what: 'the end of earlier connections' })
    server.raw.pause()
    session.close()
    await clock.advance(999)
    expect(open()).toBe(2)
    await clock.advance(1)
    await until(() => open() === 1, { what: 'the end of its side' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('can be closed before it has connected', async () => {
    const { server: scripted, open, clock } = await makeBench()
    scripted.answer = { how: 'hang' }
    const { session, heard } = open()
    await until(() => scripted.handshakes === 1, { what: 'the handshake' })
    session.close()
    await until(() => scripted.openSockets === 0, { what: 'the end of the connection' })
    expect(heard.events).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  it('tells how much waits in its socket', async () => {
    const { session, server } = await (await makeBench()).ready()
    expect(session.bufferedBytes()).toBe(0)
    server.raw.pause()
    const second = Buffer.from(Buffer.alloc(8_000, 0xd5).toString('base64'))
    for (let i = 0; i < 1_000; i++) session.append(second)
    expect(session.bufferedBytes()).toBeGreaterThan(1_000_000)
    server.raw.resume()
    await until(() => session.bufferedBytes() === 0, { what: 'an empty socket' })
  })

  it('F45: ignores what it does not understand, and counts it in one line at its end', async () => {
    const { ready, logLines } = await makeBench()
    const { session, heard, server } = await ready()
    server.send('response.sung', { words: 'la' })
    server.send('response.sung', { words: 'la'.repeat(1024 * 1024) })
    server.send('response.content_part.added', PLACE)
    server.socket.send('no JSON')
    server.socket.send('[]')
    server.socket.send(Buffer.from([0, 1, 2]), { binary: true })
    server.send('response.created', { response: {} })
    server.send('response.output_audio.delta', { ...PLACE, delta: 'a"b=' })
    server.send('response.output_audio.delta', { ...PLACE, delta: 'ŁŁŁŁ' })
    server.send('response.output_audio.delta', { ...PLACE, delta: '' })
    server.send('response.created', { response: { id: 'resp_1' } })
    await heard.first('response_started')
    expect(heard.events).toHaveLength(2)
    expect(heard.audioPieces).toEqual([])
    session.close()
    expect(logLines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', unknown: 2, unknownTypes: ['response.sung'], malformed: 6, dropped: 0 },
    ])
  })

  it('does not warn of a server that is only newer', async () => {
    const { ready, logLines } = await makeBench()
    const { session, heard, server } = await ready()
    server.send('response.sung')
    server.send('response.created', { response: { id: 'resp_1' } })
    await heard.first('response_started')
    session.close()
    expect(logLines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'info', unknown: 1 }])
  })

  it('never tells the key', async () => {
    const { ready, logLines } = await makeBench()
    const { session, heard, server } = await ready()
    const errors = [
      { code: 'server_error', message: `Bearer ${API_KEY} is odd.` },
      { code: 'invalid_api_key', message: 'Incorrect API key provided: secre***1234.' },
      { code: 'server_error', message: 'Was it sk-proj-abc***xyz?' },
    ]
    for (const error of errors) server.send('error', { error: { type: 'invalid_request_error', ...error } })
    await until(() => heard.ofType('refused').length === 3, { what: 'three refusals' })
    expect(heard.ofType('refused').map(({ message }) => message)).toEqual([
      'Bearer *** is odd.',
      'The model refused the API key.',
      'Was it ***?',
    ])
    server.socket.close(4000, API_KEY)
    await heard.first('closed')
    session.close()
    expect(JSON.stringify([heard.events, logLines])).not.toContain(API_KEY)
  })
})
