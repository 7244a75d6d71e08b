import { describe, expect, it } from 'vitest'
import { streamTokenIn, useCallApp } from '../../test/harness/call-app.ts'
import { sign } from '../../test/harness/carrier-signature.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { SILENT_FRAME, StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'
import { OTHER_NODE, someCall, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions } from '../records/sessions.ts'

const UNAUTHENTICATED = 4401
const POLICY = 1008
const TRY_AGAIN = 1013
/** So long a stream is waited for that takes the place of a lost one. */
const DETACHED_MS = 15_000
const LOUD_FRAME = Buffer.alloc(160, 0x10).toString('base64')

type Sessions = { sessions: { state: string }[] }

describe('a media stream', () => {
  const test = useDatabase()
  const app = useCallApp(test)

  async function open(path?: string, headers?: Record<string, string>): Promise<StreamClient> {
    return StreamClient.open(app.served.address, path, headers)
  }

  /** In steps: whoever is ended too early hears of it meanwhile. */
  async function passFor(ms: number): Promise<void> {
    const untilMs = app.clock.now() + ms
    await app.pass(() => app.clock.now() >= untilMs, `${ms} ms to pass`)
  }

  async function liveCount(): Promise<number> {
    const { body } = await app.served.call<{ count: number }>('acme', 'GET', '/sessions/active')
    return body.count
  }

  describe('shows its token', () => {
    it('in its start', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const client = await open()
      client.start({ callSid: 'CA1', parameters: { stream_token: token } })
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
      expect(await liveCount()).toBe(1)
    })

    it.each([
      ['query', (token: string) => `/media-stream?stream_token=${token}`],
      ['path', (token: string) => `/media-stream/${token}`],
    ])('in its %s', async (_where, path) => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const client = await open(path(token))
      client.start({ callSid: 'CA1' })
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
    })

    it.each([
      ['query', '/media-stream?stream_token=wrong'],
      ['query, empty', '/media-stream?stream_token='],
      ['query, doubled', '/media-stream?stream_token=a&stream_token=b'],
      ['path', '/media-stream/wrong'],
    ])('and is refused at the handshake for a wrong one in its %s', async (_where, path) => {
      await expect(open(path)).rejects.toThrow('401')
    })

    it.each(['stream_token', 'path'])('once: the %s that was used before is refused', async (where) => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const path = where === 'path' ? `/media-stream/${token}` : `/media-stream?stream_token=${token}`
      await open(path)
      await expect(open(path)).rejects.toThrow('401')
      const third = await open()
      third.start({ callSid: 'CA1', parameters: { stream_token: token } })
      expect(await third.closed()).toBe(UNAUTHENTICATED)
    })

    it('of which one of a hundred at once is let in', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const clients = await Promise.all(Array.from({ length: 100 }, () => open()))
      for (const [i, client] of clients.entries()) {
        client.start({ callSid: 'CA1', streamSid: `MZ${i}`, parameters: { stream_token: token } })
      }
      await until(() => clients.filter(({ closeCode }) => closeCode === UNAUTHENTICATED).length === 99, {
        what: 'refusals',
      })
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
      expect(clients.filter(({ closeCode }) => closeCode === null)).toHaveLength(1)
    })

    it('and is closed with 4401 for a wrong, missing or foreign one', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const shown = [{ stream_token: 'wrong' }, {}, { stream_token: token }] as Record<string, string>[]
      const codes = shown.map(async (parameters) => {
        const client = await open()
        client.start({ callSid: 'CA2', parameters })
        return client.closed()
      })
      expect(await Promise.all(codes)).toEqual([UNAUTHENTICATED, UNAUTHENTICATED, UNAUTHENTICATED])
      expect(app.model.sessions).toEqual([])
    })

    it('within two minutes of the document that holds it', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      await app.clock.advance(121_000)
      await expect(open(`/media-stream?stream_token=${token}`)).rejects.toThrow('401')
    })

    it('within five seconds of its opening', async () => {
      const client = await open()
      await passFor(4_750)
      expect(client.closeCode).toBeNull()
      await app.clock.advance(250)
      expect(await client.closed()).toBe(UNAUTHENTICATED)
    })

    it('at its handshake, and then has ten seconds to start', async () => {
      const client = await open(`/media-stream/${streamTokenIn(await app.ring({ CallSid: 'CA1' }))}`)
      await passFor(9_750)
      expect(client.closeCode).toBeNull()
      await app.clock.advance(250)
      expect(await client.closed()).toBe(POLICY)
    })
  })

  describe('that is signed by its carrier', () => {
    const signature = (path: string, token: string) => {
      const url = `${app.served.app.publicUrl().replace('http', 'ws')}${path}`
      return { 'x-twilio-signature': sign(url, {}, token) }
    }

    async function startSigned(headers: Record<string, string>, accountSid = ACCOUNT.sid): Promise<StreamClient> {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const client = await open('/media-stream', headers)
      client.start({ callSid: 'CA1', accountSid, parameters: { stream_token: token } })
      return client
    }

    it.each(['/media-stream', '/media-stream/'])('as for %s is let in', async (path) => {
      await startSigned(signature(path, ACCOUNT.token))
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
    })

    it('wrongly is refused', async () => {
      const client = await startSigned(signature('/media-stream', 'another token'))
      expect(await client.closed()).toBe(UNAUTHENTICATED)
      expect(app.model.sessions).toEqual([])
    })

    it('in the name of an account that is not known is let in by its token', async () => {
      await startSigned(signature('/media-stream', 'another token'), 'AC99')
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
    })
  })

  describe('of an internal client', () => {
    const bearer = () => ({ authorization: `Bearer ${app.served.tokenOf('acme')}` })

    it('names its agent, and is a call of its own', async () => {
      const client = await open('/media-stream', bearer())
      client.start({ callSid: 'internal-1', parameters: { agent_key: 'desk' } })
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
      const { body } = await app.served.call('acme', 'GET', '/sessions/active')
      expect(body).toMatchObject({ sessions: [{ call_sid: 'internal-1', call_type: 'browser', agent_name: 'Desk' }] })
    })

    it('is refused with a wrong key at the handshake, and without a known agent at the start', async () => {
      await expect(open('/media-stream', { authorization: 'Bearer wrong-key-of-nobody' })).rejects.toThrow('401')
      const codes = [{}, { agent_key: 'nobody' }].map(async (parameters) => {
        const client = await open('/media-stream', bearer())
        client.start({ callSid: 'internal-2', parameters })
        return client.closed()
      })
      expect(await Promise.all(codes)).toEqual([POLICY, POLICY])
    })

    it('finds no room while other processes have the calls that its tenant may have', async () => {
      await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { max_concurrent_calls: 1 } })
      const elsewhere = makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE })
      await elsewhere.open(tenantTold('acme'), someCall('CB1'))
      const client = await open('/media-stream', bearer())
      client.start({ callSid: 'internal-1', parameters: { agent_key: 'desk' } })
      expect(await client.closed()).toBe(TRY_AGAIN)
    })

    it("cannot take another tenant's call", async () => {
      await app.served.furnish('other', { number: '+12025550141' })
      await app.ring({ CallSid: 'CA1' })
      const client = await open('/media-stream', { authorization: `Bearer ${app.served.tokenOf('other')}` })
      client.start({ callSid: 'CA1', parameters: { agent_key: 'desk' } })
      expect(await client.closed()).toBe(POLICY)
      expect(app.model.sessions).toEqual([])
    })
  })

  describe('before its start', () => {
    it('F7: may send twenty frames of audio and no more', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const [patient, chatty] = [await open(), await open()]
      // The twentieth is the one that comes with the start.
      for (let i = 0; i < 19; i++) patient.media()
      patient.start({ callSid: 'CA1', parameters: { stream_token: token } })
      await until(() => app.model.sessions.length === 1, { what: 'the session' })
      for (let i = 0; i < 21; i++) chatty.media()
      expect(await chatty.closed()).toBe(POLICY)
    })

    it('may send 64 KiB and no more', async () => {
      const client = await open()
      for (let i = 0; i < 3; i++) client.send({ event: 'unknown', text: 'x'.repeat(30_000) })
      expect(await client.closed()).toBe(POLICY)
    })

    it('loses nothing of what the caller says right behind it, whatever others say meanwhile', async () => {
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const [client, other] = [await open(), await open()]
      client.start({ callSid: 'CA1', parameters: { stream_token: token } })
      const said = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? LOUD_FRAME : SILENT_FRAME))
      for (const payload of said) client.media(payload)
      // Read into the same memory as the frames before it.
      other.send({ event: 'unknown', text: 'x'.repeat(30_000) })
      await until(() => app.model.sessions[0]?.appended.length === 30, { what: 'the audio' })
      expect(app.model.last.appended).toEqual(said)
    })
  })

  describe('once it is live', () => {
    it("passes the caller's audio on untouched, and the model's", async () => {
      const client = await app.talk()
      client.media(LOUD_FRAME)
      await until(() => app.model.last.appended.length === 1, { what: 'the audio' })
      expect(app.model.last.appended).toEqual([LOUD_FRAME])
      app.model.last.tell({ type: 'response_started', responseId: 'r1' })
      app.model.last.speak('r1', 'i1', LOUD_FRAME)
      const media = await until(() => client.messages.find(({ event }) => event === 'media'), { what: 'the answer' })
      expect(media).toMatchObject({ media: { payload: LOUD_FRAME } })
    })

    it.each([
      ['F6: a second start', POLICY, (client: StreamClient) => client.start()],
      ['F13: a binary frame', 1003, (client: StreamClient) => client.raw(Buffer.from('{}'))],
      ['F13: what is no JSON', 1003, (client: StreamClient) => client.raw('hello')],
      ['F13: a frame over 64 KiB', 1009, (client: StreamClient) => client.raw('x'.repeat(64 * 1024 + 1))],
      ['F13: audio that is none', POLICY, (client: StreamClient) => client.media('not base64!')],
    ])('%s ends it, and its call when no other comes', async (_what, code, offend) => {
      const client = await app.talk()
      offend(client)
      expect(await client.closed()).toBe(code)
      const told = () => app.rest.requests.filter(({ method }) => method === 'POST')
      await app.pass(() => told().length > 0, 'the call to be ended')
      expect(told()).toMatchObject([{ form: { Status: 'completed' } }])
    })

    it('takes no harm from messages of newer versions, and from events that come twice', async () => {
      const client = await app.talk()
      client.send({ event: 'connected', protocol: 'Call', version: '2.0.0' })
      client.send({ event: 'hologram', streamSid: 'MZ1' })
      client.send({ event: 'mark', mark: { name: 'never sent' } })
      client.send({ event: 'dtmf', dtmf: { digit: '1' } })
      client.media()
      // The twelve seconds before were lost on their way.
      const late = { track: 'inbound', chunk: '9', timestamp: '12020', payload: SILENT_FRAME }
      client.send({ event: 'media', sequenceNumber: '9', streamSid: 'MZ1', media: late })
      await until(() => app.model.last.appended.length === 2, { what: 'the audio' })
      expect(client.closeCode).toBeNull()
    })

    it('F14: lets a burst of 500 frames pass, and ends a stream that sends over 200 messages a second for two', async () => {
      const client = await app.talk()
      const burst = async (frames: number) => {
        const before = app.model.last.appended.length
        for (let i = 0; i < frames; i++) client.media()
        await until(() => app.model.last.appended.length === before + frames, { what: 'the burst' })
        await app.clock.advance(1_000)
      }
      await burst(500)
      await burst(50)
      await burst(201)
      expect(client.closeCode).toBeNull()
      await burst(201)
      expect(await client.closed()).toBe(POLICY)
    })

    it('F12: ends a stream whose carrier takes nothing for five seconds', async () => {
      const client = await app.talk()
      client.pause()
      const { last } = app.model
      last.tell({ type: 'response_started', responseId: 'r1' })
      const half = Buffer.alloc(4_000, 0x10).toString('base64')
      const seconds = Array.from({ length: 6 }, (_, i) => i)
      for (const _second of seconds) {
        for (let i = 0; i < 1_000; i++) last.speak('r1', 'i1', half)
        await app.clock.advance(1_000)
      }
      // By now, and not when it is missed for other reasons.
      client.resume()
      expect(await client.closed()).toBe(1006)
      await app.pass(() => app.rest.requests.length > 0, 'the call to be ended')
      await app.pass(async () => (await liveCount()) === 0, 'the end of the session')
    })

    it('is the only one of its call', async () => {
      await app.talk({ CallSid: 'CA1' })
      const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
      const second = await open()
      second.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: token } })
      expect(await second.closed()).toBe(POLICY)
      expect([app.model.sessions.length, await liveCount()]).toEqual([1, 1])
    })

    it('is the only one of its name', async () => {
      await app.talk({ CallSid: 'CA1' })
      const token = streamTokenIn(await app.ring({ CallSid: 'CA2' }))
      const second = await open()
      second.start({ callSid: 'CA2', streamSid: 'MZCA1', parameters: { stream_token: token } })
      expect(await second.closed()).toBe(POLICY)
    })

    it('F4: ends with its stop, after which nothing is heard, though its socket stays open', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: { callSid: 'CA1' } })
      client.media()
      expect(await app.pass(() => client.closeCode, 'the end of the stream')).toBe(1000)
      expect(app.model.last.isClosed).toBe(true)
      expect(app.model.last.appended).toEqual([])
      // Whether it goes on may have been asked by then: how much time has passed depends on the machine.
      expect(app.rest.requests.filter(({ method }) => method === 'POST')).toEqual([])
      const log = await app.pass(async () => {
        const { body } = await app.served.call<{ call_log: Record<string, unknown> }>('acme', 'GET', '/call-logs/CA1')
        return body.call_log['status'] === 'completed' ? body.call_log : null
      }, 'the end to be written down')
      expect(log).toMatchObject({ call_sid: 'CA1', stream_sid: 'MZCA1' })
    })

    it.each<[string, (client: StreamClient) => void]>([
      ['F1: its connection is ended', (client) => client.fin()],
      ['F2: its connection is broken', (client) => client.rst()],
      ['F5: it is closed', (client) => client.close()],
    ])('%s without a stop, and its call is ended at the carrier 15 s later', async (_what, lose) => {
      const client = await app.talk({ CallSid: 'CA1' })
      lose(client)
      const states = async () => (await app.served.call<Sessions>('acme', 'GET', '/sessions/active')).body.sessions
      await until(async () => (await states())[0]?.state === 'detached', { what: 'the loss to be noticed' })
      const ends = () => app.rest.requests.filter(({ method }) => method === 'POST')
      await app.clock.advance(DETACHED_MS - 500)
      expect(ends()).toEqual([])
      await app.clock.advance(1_000)
      await until(() => ends().length > 0, { what: 'the call to be ended' })
      expect(ends()).toMatchObject([
        { path: expect.stringContaining('/Calls/CA1.json'), form: { Status: 'completed' } },
      ])
      await app.pass(async () => (await liveCount()) === 0, 'the end of the session')
      const session = () => test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirstOrThrow()
      await app.pass(async () => (await session()).end_reason !== null, 'the end to be written down')
      expect(await session()).toEqual({ end_reason: 'carrier_lost' })
      const log = await test.db.selectFrom('call_logs').select('error_code').executeTakeFirstOrThrow()
      expect(log).toEqual({ error_code: 'stream_lost' })
    })
  })

  it('that is gone before it was let in leaves nothing', async () => {
    const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
    const client = await open()
    client.start({ callSid: 'CA1', parameters: { stream_token: token } })
    client.terminate()
    await app.pass(
      async () => (await liveCount()) === 0 && app.model.sessions.every(({ isClosed }) => isClosed),
      'the end',
    )
  })
})

describe('media streams behind a proxy', () => {
  const test = useDatabase()
  const app = useCallApp(test, { settings: { TRUST_PROXY: '1' } })

  it('may be twenty of an address before they have shown whose they are', async () => {
    const from = (address: string) =>
      StreamClient.open(app.served.address, '/media-stream', { 'x-forwarded-for': address })
    const clients = await Promise.all(Array.from({ length: 20 }, () => from('192.0.2.1')))
    await expect(from('192.0.2.1')).rejects.toThrow('429')
    await from('192.0.2.2')
    clients[0]?.close()
    await clients[0]?.closed()
    await from('192.0.2.1')

    const token = streamTokenIn(await app.ring({ CallSid: 'CA1' }))
    clients[1]?.start({ callSid: 'CA1', parameters: { stream_token: token } })
    await until(() => app.model.sessions.length === 1, { what: 'the session' })
    await from('192.0.2.1')
  })
})
