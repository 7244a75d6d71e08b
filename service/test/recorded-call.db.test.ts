import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readWav } from '../src/records/recordings.fixture.ts'
import { CALLER, useCallApp } from './harness/call-app.ts'
import { useDataFolder } from './harness/data-folder.ts'
import { useDatabase } from './harness/database.ts'
import type { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const [LEFT, RIGHT] = [0x80, 0x00]
const LOUD = 32_124
const UNKNOWN = '0190a000-0000-7000-8000-000000000000'

const test = useDatabase()
const settings = useDataFolder()
const app = useCallApp(test, {
  settings,
  document: {
    compliance: { record_calls: true },
    webhook: { url: 'https://hooks.example.com/parley', events: ['voice.recording.ready'] },
  },
})

/** The caller makes a sound for so long, a frame every 20 ms. */
async function speak(client: StreamClient, ms: number): Promise<void> {
  const payload = Buffer.alloc(160, LEFT).toString('base64')
  for (let at = 0; at < ms; at += 20) {
    const frames = app.model.last.appended.length
    await app.clock.advance(20)
    client.media(payload)
    await until(() => app.model.last.appended.length > frames, { what: 'the frame to arrive' })
  }
}

/** The agent says something of so many ms, all of it at once. */
async function answer(client: StreamClient, ms: number): Promise<void> {
  const { last: model } = app.model
  const sent = client.messages.length
  model.tell({ type: 'response_started', responseId: 'r' })
  model.speak('r', 'i', Buffer.alloc(ms * 8, RIGHT).toString('base64'))
  await until(() => client.messages.length > sent, { what: 'the audio to leave' })
}

async function sessionId(): Promise<string> {
  const { body } = await app.served.call<{ voice_sessions: { id: string }[] }>('acme', 'GET', '/voice-sessions')
  return body.voice_sessions[0]?.id ?? ''
}

type Fetched = { status: number; headers: Headers; bytes: Buffer }

async function recording(id: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Fetched> {
  const { served } = app
  const response = await fetch(`${served.address}/api/v1/voice-sessions/${id}/recording`, {
    method,
    headers: { authorization: `Bearer ${served.tokenOf('acme')}`, ...headers },
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

async function urlOf(id: string): Promise<string | null> {
  const { body } = await app.served.call<{ voice_session: { recording_url: string | null } }>(
    'acme',
    'GET',
    `/voice-sessions/${id}`,
  )
  return body.voice_session.recording_url
}

/** The carrier ends the stream. Time moves on only when the service has heard of it: until then the recording goes on. */
async function stop(client: StreamClient): Promise<void> {
  client.send({ event: 'stop', streamSid: 'MZ1', stop: {} })
  await client.heard()
}

/** A call of three seconds in which both speak at once for one second. Returns its session. */
async function recorded(): Promise<string> {
  const client = await app.talk()
  await speak(client, 1_000)
  await answer(client, 1_000)
  await speak(client, 2_000)
  await stop(client)
  const id = await sessionId()
  await app.pass(() => ready(), 'the recording')
  return id
}

async function ready(): Promise<boolean> {
  const rows = await test.db.selectFrom('webhook_outbox').select('event').execute()
  return rows.some(({ event }) => event === 'voice.recording.ready')
}

describe('the recording of a call', () => {
  it('is there while the call goes on, but for its last seconds, and whole after it', async () => {
    const client = await app.talk()
    const id = await sessionId()
    expect(await urlOf(id)).toBeNull()
    await speak(client, 2_000)
    await answer(client, 400)
    await speak(client, 3_000)
    const sofar = await until(
      async () => {
        const got = await recording(id)
        return got.status === 200 && readWav(got.bytes).left.length === 24_000 ? readWav(got.bytes) : null
      },
      { what: 'the first three seconds' },
    )
    expect(sofar.left.every((sample) => sample === LOUD)).toBe(true)
    expect(sofar.right.indexOf(-LOUD)).toBe(16_000)
    expect(await urlOf(id)).toBe(`/api/v1/voice-sessions/${id}/recording`)

    await stop(client)
    await app.pass(() => ready(), 'the recording')
    const { left, right } = readWav((await recording(id)).bytes)
    expect(left).toHaveLength(40_000)
    expect(right.filter((sample) => sample === -LOUD)).toHaveLength(3_200)
  })
})

describe('GET voice-sessions/{id}/recording', () => {
  it('gives all of it as one WAV file, which players may ask parts of', async () => {
    const id = await recorded()
    const { status, headers, bytes } = await recording(id)
    expect(status).toBe(200)
    expect(bytes).toHaveLength(44 + 3_000 * 8 * 4)
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'content-type': 'audio/wav', 'accept-ranges': 'bytes', 'content-length': String(bytes.length) },
      ...{ 'content-disposition': `attachment; filename="${id}.wav"`, etag: `"${bytes.length}"` },
    })
    for (const asked of [{}, { range: 'bytes=0-9' }, { range: `bytes=${bytes.length}-` }]) {
      const head = await recording(id, asked, 'HEAD')
      expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) })
      expect(head.headers.get('content-length')).toBe(String(bytes.length))
      expect(head.headers.get('content-range')).toBeNull()
    }
  })

  it('gives the range that is asked for', async () => {
    const id = await recorded()
    const { bytes, headers } = await recording(id)
    const size = bytes.length
    const cases: [Record<string, string>, number, number, number][] = [
      [{ range: 'bytes=0-43' }, 206, 0, 44],
      [{ range: 'bytes=31-50' }, 206, 31, 51],
      [{ range: `bytes=${size - 10}-` }, 206, size - 10, size],
      [{ range: `bytes=32050-${size + 100}` }, 206, 32_050, size],
      [{ range: 'bytes=-7' }, 206, size - 7, size],
      [{ range: 'bytes=0-1,5-6' }, 200, 0, size],
      [{ range: 'bytes=5-1' }, 200, 0, size],
      [{ range: 'bytes=0-9', 'if-range': headers.get('etag') ?? '' }, 206, 0, 10],
      [{ range: 'bytes=0-9', 'if-range': '"44"' }, 200, 0, size],
    ]
    for (const [asked, status, from, end] of cases) {
      const got = await recording(id, asked)
      const label = JSON.stringify(asked)
      expect(got.status, label).toBe(status)
      expect(got.bytes.equals(bytes.subarray(from, end)), label).toBe(true)
      expect(got.headers.get('content-range'), label).toBe(status === 206 ? `bytes ${from}-${end - 1}/${size}` : null)
    }
    const beyond = await recording(id, { range: `bytes=${size}-` })
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get('content-range')).toBe(`bytes */${size}`)
    expect(JSON.parse(beyond.bytes.toString())).toMatchObject({ ok: false, code: 'range_not_satisfiable' })
  })

  it('refuses what it does not know', async () => {
    const id = await recorded()
    const { served } = app
    await served.furnish('globex', { number: '+12025550141' })
    const path = `/voice-sessions/${id}/recording`
    expect(await served.call('acme', 'GET', `${path}?format=mp3`)).toMatchObject({
      ...{ status: 400, body: { error: expect.stringContaining('format') } },
    })
    expect((await served.call(null, 'GET', path)).status).toBe(401)
    expect((await served.call('globex', 'GET', path)).status).toBe(404)
    for (const other of [UNKNOWN, 'nothing'])
      expect((await served.call('acme', 'GET', `/voice-sessions/${other}/recording`)).status).toBe(404)
  })

  it('is 404 of a session that was not recorded, of which nothing is kept either', async () => {
    const { served } = app
    await served.furnish('globex', { number: '+12025550141' })
    const client = await app.talk({ To: '+12025550141', From: CALLER })
    await speak(client, 100)
    await stop(client)
    const ended = test.db.selectFrom('voice_sessions').select('id').where('ended_at', 'is not', null)
    await app.pass(() => ended.executeTakeFirst(), 'the end of the call')
    // The last seconds of a recording are written behind that.
    const untilMs = app.clock.now() + 2_000
    await app.pass(() => app.clock.now() >= untilMs, 'the time of a recording')
    const { body } = await served.call<{ voice_sessions: { id: string }[] }>('globex', 'GET', '/voice-sessions')
    const id = body.voice_sessions[0]?.id
    expect(await served.call('globex', 'GET', `/voice-sessions/${id}/recording`)).toMatchObject({
      ...{ status: 404, body: { code: 'not_found', error: 'The session was not recorded.' } },
    })
    await expect(stat(join(settings.DATA_DIR, 'recordings', 'globex'))).rejects.toThrow('ENOENT')
  })
})
