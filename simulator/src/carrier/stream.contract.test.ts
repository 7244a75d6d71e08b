import { describe, expect, it } from 'vitest'
import { levelDbfs } from '../audio/levels.ts'
import { tone } from '../audio/tone.ts'
import { connectStream } from './bridge.fixture.ts'
import { ACCOUNT, eventually, startPair } from './carrier.fixture.ts'
import { sign } from './signature.ts'

const speech = (durationMs: number) => tone([300, 700], durationMs, 6000)

async function startStream(options: Parameters<typeof startPair>[0] = {}, document = {}) {
  const pair = await startPair(options)
  pair.bridge.answer('/voice', connectStream(pair.bridge, document))
  return { ...pair, ...(await pair.ringStream()) }
}

describe('the telephony stream', () => {
  it('begins with connected and start, in the carrier’s form', async () => {
    const { stream, call } = await startStream({}, { parameters: '<Parameter name="stream_token" value="t&amp;1"/>' })
    const [connected, start] = stream.raw.map((text) => JSON.parse(text) as Record<string, unknown>)
    expect(connected).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' })
    expect(start).toEqual({
      event: 'start',
      sequenceNumber: '1',
      streamSid: expect.stringMatching(/^MZ[0-9a-f]{32}$/),
      start: {
        accountSid: ACCOUNT.accountSid,
        streamSid: stream.streamSid(),
        callSid: call.sid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { stream_token: 't&1' },
      },
    })
  })

  it('sends numbers as strings, one sequence over all events, 160 bytes a frame', async () => {
    const { stream } = await startStream()
    await eventually(() => stream.of('media').length >= 20)
    const media = stream.of('media').slice(0, 20)
    expect(media.map((message) => message.sequenceNumber)).toEqual(media.map((_, i) => String(i + 2)))
    expect(media.map((message) => message.media?.chunk)).toEqual(media.map((_, i) => String(i + 1)))
    expect(media.map((message) => message.media?.timestamp)).toEqual(media.map((_, i) => String(i * 20)))
    for (const message of media) {
      expect(message.media?.track).toBe('inbound')
      expect(message.media?.payload).toHaveLength(216)
    }
  })

  it('is late with frames now and then when told to', async () => {
    const { stream, clock } = await startStream({ faults: { stream: { jitterMs: 1_900 } } })
    const lateMs: number[] = []
    stream.ws.on('message', () => lateMs.push(clock.nowMs() - 20 * lateMs.length))
    await eventually(() => lateMs.length >= 300)
    expect(Math.max(...lateMs) - Math.min(...lateMs)).toBeGreaterThan(300)
  })

  it('plays at the line’s speed and echoes a mark when the audio before it was heard', async () => {
    const { stream, call } = await startStream({ speed: 1 })
    const sentAt = performance.now()
    stream.play(speech(400), 'first')
    stream.play(speech(400), 'second')
    await eventually(() => stream.of('mark').length === 2)
    const [first, second] = stream.of('mark')
    expect([first?.mark?.name, second?.mark?.name]).toEqual(['first', 'second'])
    expect((first?.atMs ?? 0) - sentAt).toBeGreaterThanOrEqual(395)
    expect((second?.atMs ?? 0) - sentAt).toBeGreaterThanOrEqual(795)
    expect(call.streams[0]).toMatchObject({ playedMs: 800, bufferedMs: 0, receivedBytes: 6400 })
  })

  it('echoes a mark at once when nothing is buffered', async () => {
    const { stream } = await startStream()
    stream.send({ event: 'mark', streamSid: stream.streamSid(), mark: { name: 'now' } })
    await eventually(() => stream.of('mark').length === 1)
  })

  it('empties the buffer on clear and echoes every outstanding mark at once', async () => {
    const { stream, call, clock } = await startStream()
    stream.play(speech(60_000), 'a')
    stream.play(speech(60_000), 'b')
    await eventually(() => (call.streams[0]?.playedMs ?? 0) > 200)
    const beforeMs = clock.nowMs()
    stream.clear()
    await eventually(() => stream.of('mark').length === 2)
    // Played, the first of them would have come after a minute.
    expect(clock.nowMs() - beforeMs).toBeLessThan(30_000)
    const cleared = call.events.find((event) => event.kind === 'clear')
    expect(cleared).toMatchObject({ kind: 'clear', playedMs: expect.any(Number), droppedMs: expect.any(Number) })
    if (cleared?.kind === 'clear') expect(cleared.playedMs + cleared.droppedMs).toBe(120_000)
    expect(call.streams[0]).toMatchObject({ clears: 1, bufferedMs: 0 })
  })

  it('plays what comes after a clear as usual', async () => {
    const { stream } = await startStream()
    stream.play(speech(10_000), 'a')
    stream.clear()
    stream.play(speech(100), 'b')
    await eventually(() => stream.of('mark').length === 2)
    expect(stream.of('mark').map((message) => message.mark?.name)).toEqual(['a', 'b'])
  })

  it('discards frames without its streamSid, of a foreign one, binary, malformed or not base64 (31950)', async () => {
    const { stream, call } = await startStream()
    const payload = Buffer.from(speech(20)).toString('base64')
    stream.send({ event: 'media', media: { payload } })
    stream.send({ event: 'media', streamSid: 'MZ0', media: { payload } })
    stream.send({ event: 'media', streamSid: stream.streamSid(), media: { payload: '%%%' } })
    stream.send({ event: 'dance', streamSid: stream.streamSid() })
    stream.ws.send(Buffer.from(speech(20)), { binary: true })
    stream.ws.send('not JSON')
    await eventually(() => call.streams[0]?.discardedMessages === 6)
    expect(call.notifications.map(({ code }) => code)).toEqual(Array(6).fill(31950))
    expect(call.streams[0]).toMatchObject({ receivedBytes: 0 })
  })

  it('discards audio beyond ten buffered minutes (31931)', async () => {
    const { stream, call } = await startStream()
    const minute = new Uint8Array(60 * 8000).fill(0x55)
    for (let i = 0; i < 11; i++) stream.play(minute)
    await eventually(() => call.notifications.length > 0)
    expect(call.notifications).toMatchObject([{ code: 31931 }])
    expect(call.streams[0]?.bufferedMs).toBeGreaterThan(500_000)
    expect(call.streams[0]?.bufferedMs).toBeLessThanOrEqual(600_000)
  })

  it('sends stop and closes when the caller hangs up', async () => {
    const { stream, call } = await startStream()
    call.hangUp()
    await eventually(() => stream.closeCode() !== null)
    expect(stream.closeCode()).toBe(1000)
    expect(stream.messages.at(-1)).toMatchObject({
      event: 'stop',
      stop: { accountSid: ACCOUNT.accountSid, callSid: call.sid },
      streamSid: stream.streamSid(),
    })
  })

  it('leaves out stop in the wanted share of closes', async () => {
    const pair = await startPair({ faults: { stream: { stopMissingShare: 0.1 } } })
    pair.bridge.answer('/voice', connectStream(pair.bridge))
    for (let i = 0; i < 40; i++) pair.ring()
    await eventually(() => pair.bridge.streams.filter((stream) => stream.of('start').length > 0).length === 40)
    for (const call of pair.carrier.calls) call.hangUp()
    await eventually(() => pair.bridge.streams.every((stream) => stream.closeCode() !== null))
    const missing = pair.bridge.streams.filter((stream) => stream.of('stop').length === 0)
    expect(missing.length).toBeGreaterThanOrEqual(1)
    expect(missing.length).toBeLessThanOrEqual(10)
  })

  it('lets timestamps jump', async () => {
    const { stream, call } = await startStream()
    await eventually(() => stream.of('media').length > 5)
    call.faults.stream.timestampJump = { atMs: 0, byMs: 12_000 }
    await eventually(() => stream.of('media').some((message) => Number(message.media?.timestamp) > 12_000))
    const stamps = stream.of('media').map((message) => Number(message.media?.timestamp))
    const steps = stamps.slice(1).map((stamp, i) => stamp - (stamps[i] ?? 0))
    expect(steps.filter((step) => step !== 20)).toEqual([12_020])
    expect(call.faults.stream.timestampJump).toBeNull()
  })

  it('echoes marks late, or never', async () => {
    const { stream, call, clock } = await startStream()
    call.faults.stream.marksLateMs = 3000
    const beforeMs = clock.nowMs()
    stream.play(speech(100), 'late')
    await eventually(() => stream.of('mark').length === 1)
    expect(clock.nowMs() - beforeMs).toBeGreaterThan(3000)
    call.faults.stream.marksLateMs = 0
    call.faults.stream.marksEchoed = false
    stream.play(speech(100), 'never')
    await eventually(() => call.streams[0]?.playedMs === 200)
    const framesThen = stream.of('media').length
    await eventually(() => stream.of('media').length > framesThen + 20)
    expect(stream.of('mark')).toHaveLength(1)
  })

  it('sends keys as dtmf events', async () => {
    const pair = await startPair()
    pair.bridge.answer('/voice', connectStream(pair.bridge))
    const { stream } = await pair.ringStream({
      steps: [{ when: { kind: 'then', delayMs: 1000 }, does: { kind: 'press', keys: '1*#' } }],
    })
    await eventually(() => stream.of('dtmf').length === 3)
    expect(stream.of('dtmf').map(({ dtmf }) => dtmf)).toEqual(
      ['1', '*', '#'].map((digit) => ({ track: 'inbound_track', digit })),
    )
  })

  it('sends a second start, and media before the first, when told to', async () => {
    const { stream, call } = await startStream({ faults: { stream: { mediaBeforeStart: 3 } } })
    call.faults.stream.secondStart = { atMs: 0 }
    await eventually(() => stream.of('start').length === 2)
    expect(stream.messages.slice(0, 5).map(({ event }) => event)).toEqual([
      'connected',
      'media',
      'media',
      'media',
      'start',
    ])
  })

  it('strips the query string from the stream’s address, and signs what is left', async () => {
    const { stream, bridge } = await startStream({}, { query: '?stream_token=secret' })
    expect(stream.url).toBe('/media-stream')
    expect(stream.signature).toBe(sign(ACCOUNT.authToken, bridge.wsUrl))
  })

  it('forges, or leaves out, the handshake’s signature when told to', async () => {
    const { stream, bridge } = await startStream({ faults: { callbacks: { signature: 'forged' } } })
    expect(stream.signature).not.toBe('')
    expect(stream.signature).not.toBe(sign(ACCOUNT.authToken, bridge.wsUrl))
    const other = await startStream({ faults: { callbacks: { signature: 'missing' } } })
    expect(other.stream.signature).toBe('')
  })

  it('pauses media, and goes on with the timestamps of the line', async () => {
    const { stream, call } = await startStream()
    await eventually(() => stream.of('media').length > 5)
    call.faults.stream.mediaPause = { atMs: 0, forMs: 5000 }
    await eventually(() => Number(stream.of('media').at(-1)?.media?.timestamp) > 5000)
    const stamps = stream.of('media').map((message) => Number(message.media?.timestamp))
    const longest = Math.max(...stamps.slice(1).map((stamp, i) => stamp - (stamps[i] ?? 0)))
    expect(longest).toBe(5020)
  })

  it('leaves out silent frames when told to', async () => {
    const { stream, call } = await startStream({ faults: { stream: { skipSilentFrames: true } } })
    await call.until(({ kind }) => kind === 'hang-up', 1000)
    expect(stream.of('media')).toEqual([])
  })

  it('sends 500 frames at once', async () => {
    const { stream, call } = await startStream()
    call.faults.stream.burst = { atMs: 0, frames: 500 }
    await eventually(() => stream.of('media').length > 500)
  })

  it('sends malformed messages', async () => {
    const { stream, call } = await startStream()
    for (const kind of ['not-json', 'truncated', 'no-event', 'oversized', 'binary'] as const) {
      call.faults.stream.malformed = { atMs: 0, kind }
      await eventually(() => call.faults.stream.malformed === null)
    }
    await eventually(() => stream.binaryMessages === 1)
    expect(stream.raw).toContain('this is not JSON')
    expect(stream.raw.some((text) => text.length > 64 * 1024)).toBe(true)
  })

  it('stops reading for a while', async () => {
    const { stream, call, clock } = await startStream()
    call.faults.stream.slowReader = { atMs: 0, forMs: 5000 }
    await eventually(() => call.faults.stream.slowReader === null)
    const beforeMs = clock.nowMs()
    stream.send({ event: 'mark', streamSid: stream.streamSid(), mark: { name: 'm' } })
    await eventually(() => stream.of('mark').length === 1)
    expect(clock.nowMs() - beforeMs).toBeGreaterThan(4000)
  })

  it.each([
    ['fin', 1006],
    ['rst', 1006],
    ['close-only', 1000],
  ] as const)('is cut by %s without a stop', async (how, code) => {
    const { stream, call } = await startStream()
    call.faults.stream.cut = { atMs: 0, how }
    await eventually(() => stream.closeCode() !== null)
    expect(stream.closeCode()).toBe(code)
    expect(stream.of('stop')).toEqual([])
    await call.ended
  })

  it('says stop and leaves the socket open', async () => {
    const { stream, call } = await startStream({ faults: { stream: { ending: 'stop-only' } } })
    call.hangUp()
    await call.settled
    await eventually(() => stream.of('stop').length === 1)
    expect(stream.closeCode()).toBeNull()
  })

  it('falls into a black hole: nothing comes, nothing goes, the socket stands', async () => {
    const { stream, call } = await startStream()
    call.faults.stream.cut = { atMs: 0, how: 'black-hole' }
    await eventually(() => call.faults.stream.cut === null)
    const frames = stream.of('media').length
    stream.play(speech(100), 'm')
    stream.ws.ping()
    let ponged = false
    stream.ws.on('pong', () => {
      ponged = true
    })
    await call.until(({ kind }) => kind === 'hang-up', 3000)
    call.hangUp()
    await call.settled
    expect(stream.of('media').length - frames).toBeLessThanOrEqual(1)
    expect([stream.of('mark'), stream.of('stop'), ponged, stream.closeCode()]).toEqual([[], [], false, null])
  })

  it('records both directions as they were heard, time-aligned', async () => {
    const { stream, call } = await startStream()
    await eventually(() => (call.recording?.durationMs ?? 0) > 1000)
    const sentAtMs = call.recording?.durationMs ?? 0
    stream.play(speech(400), 'm')
    await eventually(() => stream.of('mark').length === 1)
    call.hangUp()
    const { caller, agent } = call.recording ?? { caller: [], agent: new Uint8Array() }
    expect(caller).toHaveLength(agent.length)
    const heardAtMs = (call.measure()?.firstWordMs ?? 0) - sentAtMs
    expect(heardAtMs).toBeGreaterThanOrEqual(-20)
    expect(heardAtMs).toBeLessThan(5_000)
    const from = (call.measure()?.firstWordMs ?? 0) * 8
    expect(levelDbfs(agent.subarray(from, from + 3200))).toBeGreaterThan(-25)
  })
})
