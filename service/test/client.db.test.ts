import { describe, expect, it, onTestFinished } from 'vitest'
import { createParley, type Parley, ParleyError, type SessionEvent, type WatchOptions } from '../../client/src/index.ts'
import { readWav } from '../src/records/recordings.fixture.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDataFolder } from './harness/data-folder.ts'
import { useDatabase } from './harness/database.ts'
import { SILENT_FRAME } from './harness/stream-client.ts'
import { startTcpProxy, type TcpProxy } from './harness/tcp-proxy.ts'
import { until } from './harness/wait.ts'

const LIST = 'phone,reason\n+12025550123,asked\n'

const test = useDatabase()
const settings = useDataFolder()
const app = useCallApp(test, { settings, document: { compliance: { record_calls: true } } })

const parleyAt = (baseUrl: string): Parley => createParley({ baseUrl, apiKey: app.served.tokenOf('acme') })

describe('the client', () => {
  it('sends a list as it is, and is given one as a string', async () => {
    const parley = parleyAt(app.served.address)
    const imported = await parley.POST('/api/v1/dnc/import', { body: LIST, headers: { 'x-of-mine': '1' } })
    expect(imported.data).toMatchObject({ ok: true, imported: 1, rejected: 0 })
    const { data } = await parley.GET('/api/v1/dnc/export')
    expect(data?.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^phone,reason/),
      expect.stringMatching(/^\+12025550123,asked/),
    ])
    expect((await parley.request('get', '/api/v1/dnc/export')).data).toBe(data)
    expect((await parley.GET('/metrics')).data).toContain('# TYPE')
  })

  it('sends the contacts of a campaign as JSON or as a list', async () => {
    const parley = parleyAt(app.served.address)
    const settings = { name: 'Spring', agent_key: 'desk' }
    const body = 'phone,name,consent\n+12025550123,Ann,true\n'
    const listed = await parley.POST('/api/v1/campaigns', { params: { query: settings }, body })
    const contacts = [{ phone: '+12025550123', metadata: { name: 'Ann', consent: true } }]
    const told = await parley.POST('/api/v1/campaigns', { body: { ...settings, contacts } })
    for (const { data } of [listed, told])
      expect(data).toMatchObject({ ok: true, campaign: { contacts: { total: 1 } }, errors: [] })
  })

  it('is given a recording as a Blob, as a stream when it asks for one, and a refusal as an error', async () => {
    const parley = parleyAt(app.served.address)
    const client = await app.talk({ CallSid: 'CA1' })
    client.media(SILENT_FRAME)
    await app.clock.advance(1_000)
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await client.heard()
    const { id } = await app.pass(async () => {
      const { data } = await parley.GET('/api/v1/voice-sessions')
      return data?.voice_sessions[0]?.recording_url == null ? null : data.voice_sessions[0]
    }, 'the recording')
    const path = { id }
    const url = '/api/v1/voice-sessions/{id}/recording'
    const { data: blob } = await parley.GET(url, { params: { path } })
    if (!blob) throw new Error('there is no recording')
    const bytes = Buffer.from(await blob.arrayBuffer())
    expect([blob.type, readWav(bytes).channels]).toEqual(['audio/wav', 2])

    const { data: stream } = await parley.GET(url, { params: { path }, parseAs: 'stream' })
    const pieces: Uint8Array[] = []
    for await (const piece of stream ?? []) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true)

    const refused = await parley.GET(url, { params: { path: { id: '0190a000-0000-7000-8000-000000000000' } } })
    expect(refused.error?.code).toBe('not_found')
  })

  describe('watches a live session', () => {
    /** Somebody who watches from now on, and how the loop ended. */
    function watch(parley: Parley, options: WatchOptions = {}) {
      const seen = { events: [] as SessionEvent[], isOver: false, thrown: undefined as unknown }
      const leaving = new AbortController()
      onTestFinished(() => leaving.abort())
      const read = async () => {
        for await (const event of parley.watchSession('MZCA1', { signal: leaving.signal, ...options }))
          seen.events.push(event)
      }
      void read()
        .catch((error: unknown) => {
          seen.thrown = error
        })
        .finally(() => {
          seen.isOver = true
        })
      return seen
    }

    async function proxied(): Promise<{ proxy: TcpProxy; parley: Parley }> {
      const { hostname: host, port } = new URL(app.served.address)
      const proxy = await startTcpProxy({ host, port: Number(port) })
      onTestFinished(() => proxy.close())
      return { proxy, parley: parleyAt(`http://127.0.0.1:${proxy.port}`) }
    }

    const namesOf = ({ events }: { events: SessionEvent[] }) => events.map(({ event }) => event)

    it('from its beginning to its end', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      const seen = watch(parleyAt(app.served.address))
      const { last } = app.model
      last.tell({ type: 'response_started', responseId: 'r1' })
      last.tell({ type: 'item_added', itemId: 'i1', previousItemId: null, role: 'agent' })
      last.tell({ type: 'agent_transcript', responseId: 'r1', itemId: 'i1', text: 'Hello.', final: false })
      await app.pass(() => namesOf(seen).includes('turn_delta'), 'the words')
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(() => seen.isOver, 'the end')
      expect(seen.thrown).toBeUndefined()
      expect(seen.events).toContainEqual({
        id: expect.any(String),
        event: 'turn_delta',
        data: { item_id: 'i1', role: 'agent', text: 'Hello.' },
      })
      expect(seen.events.map(({ id }) => id)).toEqual(seen.events.map((_event, i) => String(i + 1)))
      expect(seen.events.at(-1)).toMatchObject({ event: 'ended', data: { end_reason: 'caller_hangup' } })
    })

    it('behind the last event, once a lost connection is back', async () => {
      const { proxy, parley } = await proxied()
      const client = await app.talk({ CallSid: 'CA1' })
      const seen = watch(parley)
      await until(() => seen.events.length > 0, { what: 'the first event' })
      const watched = app.clock.pendingTimers
      await proxy.cut()
      await until(() => app.clock.pendingTimers < watched, { what: 'the watcher to be gone' })
      await proxy.mend()
      await until(() => app.clock.pendingTimers === watched, { what: 'the watcher to be back' })
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(() => seen.isOver, 'the end')
      expect(seen.thrown).toBeUndefined()
      expect(seen.events.map(({ id }) => id)).toEqual(seen.events.map((_event, i) => String(i + 1)))
      expect(namesOf(seen).at(-1)).toBe('ended')
    })

    it('until it ends where nobody could see it', async () => {
      const { proxy, parley } = await proxied()
      const client = await app.talk({ CallSid: 'CA1' })
      const seen = watch(parley)
      await until(() => seen.events.length > 0, { what: 'the first event' })
      await proxy.cut()
      client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(
        async () => (await app.served.call('acme', 'GET', '/sessions/MZCA1')).status === 404,
        'the end of the call',
      )
      await proxy.mend()
      await until(() => seen.isOver, { what: 'the end of the loop' })
      expect([seen.thrown, namesOf(seen).includes('ended')]).toEqual([undefined, false])
    })

    it('until its signal, whose reason it throws', async () => {
      await app.talk({ CallSid: 'CA1' })
      const leaving = new AbortController()
      const seen = watch(parleyAt(app.served.address), { signal: leaving.signal })
      await until(() => seen.events.length > 0, { what: 'the first event' })
      const reason = new Error('seen enough')
      leaving.abort(reason)
      await until(() => seen.isOver, { what: 'the end of the loop' })
      expect(seen.thrown).toBe(reason)
    })

    it('until its reader leaves, of whom nothing is left', async () => {
      await app.talk({ CallSid: 'CA1' })
      const before = app.clock.pendingTimers
      for await (const { event } of parleyAt(app.served.address).watchSession('MZCA1')) {
        expect(event).toBe('state')
        break
      }
      await until(() => app.clock.pendingTimers === before, { what: 'the watcher to be gone' })
    })

    it('from where another left it', async () => {
      await app.talk({ CallSid: 'CA1' })
      const first = watch(parleyAt(app.served.address))
      await until(() => first.events.length >= 2, { what: 'the first events' })
      const lastEventId = first.events[0]?.id ?? ''
      const second = watch(parleyAt(app.served.address), { lastEventId })
      await until(() => second.events.length > 0, { what: 'the later events' })
      expect(second.events[0]?.id).toBe('2')
    })

    it('and throws what it is refused with', async () => {
      const seen = watch(parleyAt(app.served.address))
      await until(() => seen.isOver, { what: 'the refusal' })
      expect(seen.thrown).toBeInstanceOf(ParleyError)
      expect(seen.thrown).toMatchObject({ body: { code: 'not_found' }, response: { status: 404 } })
    })
  })
})
