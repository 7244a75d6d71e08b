import { describe, expect, it } from 'vitest'
import { agentAudio, callerFrame } from '../../test/virtual/audio.ts'
import { mediaStreamsCodec } from '../platform/telephony/twilio/codec.ts'
import { AudioRooms } from './audio-rooms.ts'
import { MediaPath } from './media-path.ts'
import { cleared, SILENT, sent } from './playback.ts'

type Sent = { event: string; media?: { payload: string }; mark?: { name: string } }
type Report = { responseId: string; itemId: string; ms: number; mark: string | null }

/** A media path between a carrier and a model that write down what they are given. */
function path({ keepsUnheard = false } = {}) {
  const frames: Sent[] = []
  const appended: string[] = []
  const reports: Report[] = []
  const metered: { ms: number; loudMs: number }[] = []
  const backlogs: boolean[] = []
  const buffered = { carrier: 0, model: 0 }
  function write(messages: readonly (readonly Buffer[])[]) {
    for (const parts of messages) frames.push(JSON.parse(Buffer.concat(parts).toString()) as Sent)
  }
  const media = new MediaPath('MZ1', {
    carrier: {
      send: (parts) => write([parts]),
      sendAll: (messages) => write(messages),
      bufferedBytes: () => buffered.carrier,
    },
    codec: mediaStreamsCodec,
    unheardIn: keepsUnheard ? new AudioRooms() : null,
    nowMs: () => 7,
    reports: {
      sent: (audio) => void reports.push(audio),
      callerAudio: (audio) => void metered.push(audio),
      backlog: (isOver) => void backlogs.push(isOver),
    },
  })
  const uplink = {
    append: (payload: Buffer) => void appended.push(payload.toString()),
    bufferedBytes: () => buffered.model,
  }
  return { media, uplink, frames, appended, reports, metered, backlogs, buffered }
}

/** 20 ms of the caller that can be told from others. */
function frame(n: number): Buffer {
  return Buffer.from(`f${String(n).padStart(3, '0')}`)
}

describe('Who finds out from the caller who they are', () => {
  it('is given every frame until that is known, and none after it', () => {
    const { media } = path()
    const read: string[] = []
    media.fromCaller(frame(1))
    media.readBy({ caller: (payload) => void read.push(payload.toString()) })
    media.fromCaller(frame(2))
    media.readBy(null)
    media.fromCaller(frame(3))
    expect(read).toEqual([frame(2).toString()])
    media.close()
  })

  it('may end the call with that: nothing of the frame is kept', () => {
    const { media } = path()
    media.readBy({ caller: () => media.close() })
    media.fromCaller(frame(1))
    expect([media.held, media.framesIn]).toEqual([[], 0])
  })
})

describe('What is heard on hold', () => {
  it('goes out a stretch at a time, piece by piece, each once', () => {
    const { media, reports } = path()
    const pieces = Array.from({ length: 5 }, () => agentAudio(1, 480))
    for (const fromMs of [0, 960, 1_920]) media.playStretch({ id: `own-hold-${fromMs}`, fromMs, ms: 960 }, pieces)
    expect(reports.map((report) => [report.itemId, report.ms])).toEqual([
      ...[
        ['own-hold-0', 480],
        ['own-hold-0', 480],
        ['own-hold-960', 480],
        ['own-hold-960', 480],
      ],
      ['own-hold-1920', 480],
    ])
  })
})

describe('The caller’s audio', () => {
  it('is kept while there is no model, and handed over first, in order', () => {
    const { media, uplink, appended } = path()
    for (let n = 0; n < 10; n++) media.fromCaller(frame(n))
    media.openUplink(uplink)
    media.fromCaller(frame(10))
    expect(appended).toEqual(Array.from({ length: 11 }, (_, n) => frame(n).toString()))
  })

  it('is kept for three seconds: of more, the newest', () => {
    const { media, uplink, appended } = path()
    for (let n = 0; n < 400; n++) media.fromCaller(callerFrame(n % 64))
    media.openUplink(uplink)
    expect(appended).toHaveLength(150)
    expect(appended[0]).toBe(callerFrame(250 % 64).toString())
  })

  it('is bounded in bytes, whatever the length of the pieces in which a peer sends it', () => {
    for (const pieceMs of [1, 7, 20, 100, 1_000, 6_000]) {
      const { media, uplink, appended } = path()
      for (let ms = 0; ms < 12_000; ms += pieceMs) media.fromCaller(agentAudio(1, pieceMs))
      media.openUplink(uplink)
      const keptMs = Buffer.concat(appended.map((payload) => Buffer.from(payload, 'base64'))).length / 8
      expect(keptMs).toBeLessThanOrEqual(3_000)
      expect(keptMs).toBeGreaterThan(pieceMs === 1 ? 1_000 : 2_000 - 1)
      expect(appended.length).toBeLessThanOrEqual(1_200)
    }
  })

  it('is copied when it is kept, because the socket writes over it', () => {
    const { media, uplink, appended } = path()
    const shared = frame(1)
    media.fromCaller(shared)
    shared.fill('x')
    media.openUplink(uplink)
    expect(appended).toEqual([frame(1).toString()])
  })

  it('is kept again while a model session is replaced', () => {
    const { media, uplink, appended } = path()
    media.openUplink(uplink)
    media.holdUplink()
    media.fromCaller(frame(1))
    expect(appended).toEqual([])
    media.openUplink(uplink)
    expect(appended).toEqual([frame(1).toString()])
  })

  it('is kept for as long in each outage, whatever was kept in those before', () => {
    const { media, uplink, appended } = path()
    for (let outage = 1; outage <= 3; outage++) {
      for (let n = 0; n < 150; n++) media.fromCaller(callerFrame(n % 64))
      media.openUplink(uplink)
      expect(appended).toHaveLength(outage * 150)
      media.holdUplink()
    }
  })

  it('goes to the model and is kept for the next one, until that takes over or is not wanted any more', () => {
    const { media, uplink, appended } = path()
    const next: string[] = []
    const other = { append: (payload: Buffer) => void next.push(payload.toString()), bufferedBytes: () => 0 }
    media.openUplink(uplink)
    media.keepBeside(true)
    media.fromCaller(frame(1))
    media.keepBeside(false)
    media.fromCaller(frame(2))
    media.keepBeside(true)
    media.fromCaller(frame(3))
    media.openUplink(other)
    media.fromCaller(frame(4))
    media.holdUplink()
    media.openUplink(other)
    expect(appended).toEqual([1, 2, 3].map((n) => frame(n).toString()))
    expect(next).toEqual([3, 4].map((n) => frame(n).toString()))
  })

  it('is dropped, and counted, while a model that is stuck holds too much of it', () => {
    const { media, uplink, appended, buffered } = path()
    media.openUplink(uplink)
    buffered.model = 65 * 1024
    media.fromCaller(frame(1))
    expect(appended).toEqual([])
    expect(media.shedFrames).toBe(1)
  })

  it('is measured each 100 ms, only while that matters', () => {
    const { media, metered } = path()
    for (let n = 0; n < 10; n++) media.fromCaller(callerFrame(1))
    media.meter(true)
    for (let n = 0; n < 5; n++) media.fromCaller(callerFrame(n < 3 ? 1 : null))
    media.fromCaller(callerFrame(1))
    media.meter(false)
    media.meter(true)
    for (let n = 0; n < 5; n++) media.fromCaller(callerFrame(null))
    expect(metered).toEqual([
      { ms: 100, loudMs: 60 },
      { ms: 100, loudMs: 0 },
    ])
  })

  it('is filled up with silence where it stays away', () => {
    const { media, uplink, appended } = path()
    media.openUplink(uplink)
    media.pad(1_000)
    expect(appended).toHaveLength(50)
    expect(new Set(Buffer.from(appended[0] ?? '', 'base64'))).toEqual(new Set([0xff]))
  })
})

describe('The agent’s audio', () => {
  it('goes out as it came, with a mark behind it, and is reported with its length', () => {
    const { media, frames, reports } = path()
    media.fromModel('resp_1', 'item_1', agentAudio(1, 500))
    expect(frames.map(({ event }) => event)).toEqual(['media', 'mark'])
    expect(frames[0]?.media?.payload).toBe(agentAudio(1, 500).toString())
    expect(reports).toEqual([
      { responseId: 'resp_1', itemId: 'item_1', ms: 500, mark: frames[1]?.mark?.name, arrivedAtMs: 7 },
    ])
    // However short it is: it waits for no more, and for no timer.
    media.fromModel('resp_1', 'item_1', agentAudio(1, 20))
    expect(frames.slice(2).map(({ media: sent }) => sent?.payload)).toEqual([agentAudio(1, 20).toString()])
  })

  it('of our own has a mark behind its last piece, also when it goes on from where it was stopped', () => {
    const { media, frames, reports } = path({ keepsUnheard: true })
    const marks = () => frames.splice(0).map(({ event }) => event)
    const pieces = [400, 100, 50].map((ms) => agentAudio(1, ms))
    media.playAll('own-clip-1', pieces)
    const all = ['media', 'mark', 'media', 'media', 'mark']
    expect(marks()).toEqual(all)
    media.playStretch({ id: 'own-hold-1', fromMs: 0, ms: 550 }, pieces)
    expect(marks()).toEqual(all)
    reports.length = 0
    media.follow({ ...SILENT, sentMs: 1 }, SILENT, 0)
    for (const piece of pieces) media.fromModel('resp_1', 'item_1', piece)
    const playback = reports.reduce((line, audio) => sent(line, audio, 0), SILENT)
    media.follow(playback, cleared(playback), 100)
    frames.length = 0
    media.playAside('again-1')
    expect(marks().slice(-2)).toEqual(['media', 'mark'])
  })

  it('has a mark each 200 ms where it comes in small pieces, and one behind the first piece of each answer', () => {
    const { media, frames } = path()
    for (let n = 0; n < 20; n++) media.fromModel('resp_1', 'item_1', agentAudio(1, 40))
    for (let n = 0; n < 2; n++) media.fromModel('resp_2', 'item_2', agentAudio(1, 40))
    expect(frames.filter(({ event }) => event === 'mark')).toHaveLength(1 + 3 + 1)
  })

  it('has its length right whatever its bytes: base64 may end in one or two signs that stand for none', () => {
    for (const bytes of [1, 2, 3, 160, 161, 162]) {
      const { media, reports } = path()
      media.fromModel('resp_1', 'item_1', Buffer.from(Buffer.alloc(bytes).toString('base64')))
      expect(reports[0]?.ms).toBe(bytes / 8)
    }
  })

  it('of a discarded answer is dropped from that instant on, and that of others is not', () => {
    const { media, frames } = path()
    media.discard(['resp_1'])
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    media.fromModel('resp_2', 'item_2', agentAudio(2, 100))
    expect(frames.filter(({ event }) => event === 'media')).toHaveLength(1)
    expect(media.lateDeltas).toBe(1)
  })

  it('of the sixty-four answers that were discarded last is dropped', () => {
    const { media, frames } = path()
    for (let n = 0; n < 100; n++) media.discard([`resp_${n}`])
    for (const n of [99, 36]) media.fromModel(`resp_${n}`, 'item', agentAudio(1, 100))
    expect(frames).toEqual([])
  })

  it('tells when the carrier takes too little of it, and when it takes it again', () => {
    const { media, backlogs, buffered } = path()
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    buffered.carrier = 257 * 1024
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    buffered.carrier = 0
    media.fromCaller(frame(1))
    expect(backlogs).toEqual([false, true])
  })

  it('is not piled up for ever before a carrier that takes nothing', () => {
    const { media, frames, buffered } = path()
    buffered.carrier = 1_025 * 1024
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    media.fromModel('resp_1', 'item_1', agentAudio(1, 100))
    expect(frames.filter(({ event }) => event === 'media')).toHaveLength(1)
  })
})

describe('A closed path', () => {
  it('lets nothing through and keeps nothing', () => {
    const { media, uplink, appended } = path()
    media.fromCaller(frame(1))
    media.close()
    media.fromCaller(frame(2))
    media.openUplink(uplink)
    expect(appended).toEqual([])
    expect(media.framesIn).toBe(1)
  })
})
