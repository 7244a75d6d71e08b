import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { scratchFolder } from '../../test/harness/scratch.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import { beat } from '../platform/nodes/heartbeat-store.ts'
import { withSessionEnd } from './call-record.ts'
import { lockRecord } from './call-store.ts'
import type { SessionId } from './call-values.ts'
import { NODE, OTHER_NODE, someCall, storedEvents, tenantTold } from './calls.fixture.ts'
import { changeCall } from './change-call.ts'
import { makeRecordingFiles } from './recording-files.ts'
import { readWav, writePart } from './recordings.fixture.ts'
import { makeRecordings, type RecordingPart, type Recordings } from './recordings.ts'
import { makeSessions } from './sessions.ts'
import { makeVoiceSessions } from './voice-sessions.ts'

const acme = tenantTold('acme')
const ACME = 'acme' as TenantId
const END = {
  endReason: 'caller_hangup' as const,
  latency: { greetingMs: null, responseP50Ms: null, responseP95Ms: null, interruptions: 0 },
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
}

const test = useDatabase()
let clock: TestClock
let folder: string
let recordings: Recordings
let sessionId: SessionId
let warned: object[]

beforeEach(async () => {
  clock = new TestClock()
  folder = await scratchFolder()
  warned = []
  recordings = onNode(NODE)
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  sessionId = (await sessions.open(acme, someCall('CA1'))).sessionId
})
afterEach(() => rm(folder, { recursive: true }))

function onNode(nodeId: NodeId, files = folder, present = acme): Recordings {
  const tenants = { get: async () => present }
  const destination = { write: (line: string) => void warned.push(JSON.parse(line)) }
  const log = makeLog({ level: 'warn', secrets: [], destination })
  return makeRecordings({ db: test.db, clock, log, nodeId, files: makeRecordingFiles(files), tenants })
}

function part(number: number, startMs = 0): RecordingPart {
  return { tenant: acme, callSid: 'CA1', sessionId, part: number, startedAt: new Date(clock.now() + startMs) }
}

/** A part that was begun, and its file. */
async function record(number: number, startMs: number, audio: { left: number; right: number; ms: number }) {
  await recordings.begin(part(number, startMs))
  await writePart(folder, part(number), audio)
}

async function endSession(): Promise<void> {
  await test.db.transaction().execute(async (tx) => {
    const locked = await lockRecord(tx, ACME, 'CA1')
    const at = new Date(clock.now())
    if (locked) await changeCall(tx, acme, { ...locked, now: at, change: (r) => withSessionEnd(r, { ...END, at }) })
  })
}

async function readAll(from = 0, until?: number): Promise<Buffer> {
  const audio = await recordings.open(ACME, sessionId)
  const pieces: Buffer[] = []
  for await (const piece of audio.read(from, until ?? audio.sizeBytes)) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function rows() {
  return test.db.selectFrom('recordings').selectAll().orderBy('part').execute()
}

async function ready(): Promise<unknown[]> {
  return (await storedEvents(test.db)).filter(({ event }) => event === 'voice.recording.ready')
}

async function urlShown(): Promise<string | null> {
  const { session } = await makeVoiceSessions({ db: test.db }).get(ACME, sessionId)
  return session.has_recording ? `/api/v1/voice-sessions/${session.id}/recording` : null
}

describe('the parts of a recording', () => {
  it('are entered once, and ended once', async () => {
    await recordings.begin(part(1))
    await recordings.begin(part(1, 500))
    expect(await rows()).toMatchObject([
      { part: 1, state: 'recording', node_id: NODE, path: `acme/${sessionId}/1.wav`, duration_ms: null, bytes: null },
    ])
    await recordings.end(part(1), 16_000)
    await recordings.end(part(1), 8)
    expect(await rows()).toMatchObject([{ state: 'ready', duration_ms: 2_000, bytes: 32_058 }])
  })

  it('need not have been entered to be ended, as when the database was away then', async () => {
    await recordings.end(part(1), 8_000)
    await recordings.begin(part(1))
    expect(await rows()).toMatchObject([{ state: 'ready', duration_ms: 1_000 }])
  })

  it('are lost when there is nothing in them, and the session has no recording then', async () => {
    await recordings.begin(part(1))
    expect(await urlShown()).not.toBeNull()
    for (let times = 0; times < 2; times += 1) {
      await recordings.end(part(1), 0)
      expect(await rows()).toMatchObject([{ state: 'lost' }])
      expect(await urlShown()).toBeNull()
    }
    await expect(recordings.open(ACME, sessionId)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are nothing of another tenant', async () => {
    await recordings.end({ ...part(1), tenant: tenantTold('globex') }, 8_000)
    expect(await rows()).toEqual([])
    await record(1, 0, { left: 1, right: 2, ms: 100 })
    await expect(recordings.open('globex' as TenantId, sessionId)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('voice.recording.ready', () => {
  it('is told as its tenant wants to be told by now, whatever it did when the call began', async () => {
    await recordings.begin(part(1))
    await endSession()
    await onNode(NODE, folder, tenantTold('acme', null)).end(part(1), 8_000)
    expect(await ready()).toEqual([])
    await onNode(NODE).begin(part(2))
    await onNode(NODE).end({ ...part(2), tenant: tenantTold('acme', null) }, 8_000)
    expect(await ready()).toHaveLength(1)
  })

  it('comes with the end of the session when the recording is whole by then', async () => {
    await recordings.begin(part(1))
    await recordings.end(part(1), 8_000)
    expect(await ready()).toEqual([])
    await endSession()
    await recordings.end(part(1), 8_000)
    expect(await ready()).toMatchObject([
      {
        call_sid: 'CA1',
        body: {
          voice_session_id: sessionId,
          payload: {
            recording: {
              ...{ voice_session_id: sessionId, call_sid: 'CA1', duration_ms: 1_000, parts: 1 },
              recording_url: `/api/v1/voice-sessions/${sessionId}/recording`,
            },
          },
        },
      },
    ])
  })

  it('comes with the last part when the session has ended before it, over the gap between them', async () => {
    await recordings.begin(part(1))
    await recordings.begin(part(2, 5_000))
    await endSession()
    await recordings.end(part(1), 8_000)
    expect(await ready()).toEqual([])
    await recordings.end(part(2, 5_000), 16_000)
    expect(await ready()).toMatchObject([{ body: { payload: { recording: { duration_ms: 7_000, parts: 2 } } } }])
  })

  it('comes also when the part that it waited for is lost', async () => {
    await recordings.end(part(1), 8_000)
    await recordings.begin(part(2, 5_000))
    await endSession()
    expect(await ready()).toEqual([])
    await recordings.end(part(2, 5_000), 0)
    expect(await ready()).toMatchObject([{ body: { payload: { recording: { duration_ms: 1_000, parts: 1 } } } }])
  })

  it('does not come of a session without a recording, nor of one that is lost', async () => {
    await endSession()
    await recordings.end(part(1), 0)
    expect(await ready()).toEqual([])
  })
})

describe('a recording that is read', () => {
  it('is its parts in their places, with silence between them', async () => {
    await record(1, 0, { left: 0x80, right: 0xff, ms: 100 })
    await record(2, 250, { left: 0xff, right: 0x00, ms: 100 })
    const { left, right, ...head } = readWav(await readAll())
    expect(head).toEqual({ format: 1, channels: 2, rate: 8_000 })
    expect(left).toHaveLength(350 * 8)
    expect([left[0], left[799], left[800], left[2_799]]).toEqual([32_124, 32_124, 0, 0])
    expect([right[0], right[1_999], right[2_000], right[2_799]]).toEqual([0, 0, -32_124, -32_124])
    expect((await recordings.open(ACME, sessionId)).durationMs).toBe(350)
  })

  it('has no part of its time twice, though the clocks of two nodes say so', async () => {
    await record(1, 0, { left: 0x80, right: 0xff, ms: 100 })
    await record(2, 60, { left: 0x00, right: 0xff, ms: 100 })
    expect(readWav(await readAll()).left).toHaveLength(200 * 8)
  })

  it.each([
    ['is lost', async () => recordings.end(part(1), 0)],
    ['was never written', async () => {}],
  ])(
    'begins with its session though its first part %s, so that the transcript stands beside it',
    async (_what, first) => {
      await test.db
        .updateTable('voice_sessions')
        .set({ started_at: new Date(clock.now()) })
        .execute()
      await first()
      await record(2, 250, { left: 0x80, right: 0xff, ms: 100 })
      const { left } = readWav(await readAll())
      expect([left.length, left[0], left[1_999], left[2_000]]).toEqual([350 * 8, 0, 0, 32_124])
      await endSession()
      await recordings.end(part(2, 250), 800)
      expect(await ready()).toMatchObject([{ body: { payload: { recording: { duration_ms: 350, parts: 1 } } } }])
    },
  )

  it('is the same in whatever pieces it is read', async () => {
    await record(1, 0, { left: 0x81, right: 0x12, ms: 3_000 })
    await record(2, 3_100, { left: 0x34, right: 0x56, ms: 50 })
    const whole = await readAll()
    for (const [from, until] of [
      [0, 1],
      [10, 44],
      [43, 46],
      [45, 51],
      [96_041, 99_301],
      [whole.length - 3, whole.length],
    ]) {
      expect(await readAll(from, until)).toEqual(whole.subarray(from, until))
    }
  })

  it('goes as far as its file does, whatever the head of that says', async () => {
    await recordings.begin(part(1))
    await writePart(folder, part(1), { left: 1, right: 2, ms: 1_000, headFrames: 8 })
    expect(readWav(await readAll()).left).toHaveLength(8_000)
  })

  it('can only be read by this user', async () => {
    await record(1, 0, { left: 1, right: 2, ms: 20 })
    const path = join(folder, 'acme', sessionId)
    expect((await stat(join(path, '1.wav'))).mode & 0o777).toBe(0o600)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
  })

  it('that lies on another node is had from there', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await expect(recordings.open(ACME, sessionId)).rejects.toMatchObject({ code: 'not_found' })
    await beat(test.db, OTHER_NODE, '1')
    await expect(recordings.open(ACME, sessionId)).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining('DATA_DIR/recordings') },
    })
  })
})

describe('a recording that is removed', () => {
  it('leaves neither file nor row nor address, however often', async () => {
    await record(1, 0, { left: 1, right: 2, ms: 20 })
    await recordings.remove(ACME, sessionId)
    await recordings.remove(ACME, sessionId)
    expect(await readdir(join(folder, 'acme'))).toEqual([])
    expect(await rows()).toEqual([])
    expect(await urlShown()).toBeNull()
  })
})

describe('what a node that is gone was recording', () => {
  it('is ended as far as its file goes, and told', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await writePart(folder, part(1), { left: 1, right: 2, ms: 700, headFrames: 0 })
    await endSession()
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'ready', duration_ms: 700 }])
    expect(await ready()).toHaveLength(1)
  })

  it('is left alone while the node is alive, and so is what this one records', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await recordings.begin(part(2))
    await beat(test.db, OTHER_NODE, '1')
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'recording' }, { state: 'recording' }])
  })

  it('goes on while its file does: that node may only have lost the database', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await writePart(folder, part(1), { left: 1, right: 2, ms: 700 })
    const at = new Date(clock.now())
    await utimes(join(folder, 'acme', sessionId, '1.wav'), at, at)
    await clock.advance(29_999)
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'recording' }])
    await clock.advance(1)
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'ready', duration_ms: 700 }])
  })

  it.each([
    ['something', 700],
    ['nothing', 0],
  ])(
    'was ended with %s too early: its own node says how much it was, and the tenant is told once',
    async (_what, ms) => {
      const owner = onNode(OTHER_NODE)
      await owner.begin(part(1))
      await writePart(folder, part(1), { left: 1, right: 2, ms })
      await recordings.endOrphans()
      await owner.end(part(1), 16_000)
      expect(await rows()).toMatchObject([{ state: 'ready', duration_ms: 2_000, bytes: 32_058 }])
      expect([await ready(), await urlShown()]).toEqual([[], expect.any(String)])
      await endSession()
      await owner.end(part(1), 16_000)
      expect(await ready()).toMatchObject([{ body: { payload: { recording: { duration_ms: 2_000, parts: 1 } } } }])
    },
  )

  it('was ended too early after the session: what was told is not told again, what was not is', async () => {
    const owner = onNode(OTHER_NODE)
    await owner.begin(part(1))
    await endSession()
    await clock.advance(86_400_000)
    await recordings.endOrphans()
    expect([await rows(), await ready()]).toMatchObject([[{ state: 'lost' }], []])
    await owner.end(part(1), 8_000)
    expect(await ready()).toHaveLength(1)
    await owner.end(part(1), 16_000)
    expect([await rows(), await ready()]).toMatchObject([[{ state: 'ready', duration_ms: 2_000 }], [{}]])
  })

  it('is ended although the disk has something against an older one', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await mkdir(join(folder, 'acme'), { recursive: true })
    await writeFile(join(folder, 'acme', sessionId), 'where a folder should be')
    const older = sessionId
    const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
    sessionId = (await sessions.open(acme, someCall('CA2'))).sessionId
    await clock.advance(1)
    const newer = { ...part(2), callSid: 'CA2' }
    await onNode(OTHER_NODE).begin(newer)
    await writePart(folder, newer, { left: 1, right: 2, ms: 700 })
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'recording' }, { state: 'ready', duration_ms: 700 }])
    expect(warned).toMatchObject([{ tenant_id: 'acme', voice_session_id: older, part: 1 }])
  })

  it('waits a day for the node that has its file', async () => {
    await onNode(OTHER_NODE).begin(part(1))
    await mkdir(join(folder, 'acme'), { recursive: true })
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'recording' }])
    await clock.advance(86_400_000)
    await recordings.endOrphans()
    expect(await rows()).toMatchObject([{ state: 'lost' }])
  })
})
