import { describe, expect, it } from 'vitest'
import { AudioRooms } from './audio-rooms.ts'
import { cleared, type Playback, SILENT, sent } from './playback.ts'
import { UnheardAudio } from './unheard-audio.ts'

/** Sends pieces of 400 ms of one item, each filled with its number, all at once at 0. */
function withPieces(count: number): { unheard: UnheardAudio; playback: Playback } {
  const unheard = new UnheardAudio(new AudioRooms())
  let playback = SILENT
  for (let piece = 0; piece < count; piece++) {
    unheard.add('item_1', Buffer.from(Buffer.alloc(3_200, piece).toString('base64')), 400)
    playback = sent(playback, { itemId: 'item_1', responseId: 'r', ms: 400, mark: null }, 0)
  }
  return { unheard, playback }
}

function bytesOf(unheard: UnheardAudio): number[] {
  return unheard.takeAside().flatMap(({ payload }) => [...Buffer.from(payload.toString('latin1'), 'base64')])
}

describe('Audio that was sent and not heard', () => {
  it('is had again to the byte from where it was stopped, once', () => {
    const { unheard, playback } = withPieces(5)
    unheard.follow(playback, cleared(playback), 850)
    const bytes = bytesOf(unheard)
    expect(bytes).toHaveLength((2_000 - 850) * 8)
    expect([bytes[0], bytes[350 * 8 - 1], bytes[350 * 8], bytes.at(-1)]).toEqual([2, 2, 3, 4])
    expect([unheard.isEmpty, bytesOf(unheard)]).toEqual([true, []])
  })

  it('is let go of as it is known to be heard', () => {
    const { unheard, playback } = withPieces(2)
    unheard.follow(playback, { ...playback, confirmedMs: 800 }, 800)
    expect(unheard.isEmpty).toBe(true)
  })

  it('is ten seconds at most, from what is heard next on and without a gap', () => {
    const { unheard, playback } = withPieces(50)
    unheard.follow(playback, { ...playback, confirmedMs: 4_000 }, 4_000)
    unheard.add('item_1', Buffer.from(Buffer.alloc(3_200, 99).toString('base64')), 400)
    unheard.follow({ ...playback, confirmedMs: 4_000 }, cleared(playback), 4_000)
    const bytes = bytesOf(unheard)
    expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([6_000 * 8, 10, 24])
  })

  it('is no more than two thousand pieces, however short each is', () => {
    const unheard = new UnheardAudio(new AudioRooms())
    let playback = SILENT
    for (let piece = 0; piece < 3_000; piece++) {
      unheard.add('item_1', Buffer.from(Buffer.alloc(1, piece).toString('base64')), 1 / 8)
      playback = sent(playback, { itemId: 'item_1', responseId: 'r', ms: 1 / 8, mark: null }, 0)
    }
    unheard.follow(playback, cleared(playback), 0)
    expect(bytesOf(unheard)).toHaveLength(2_000)
  })

  it('is kept again once all that had no room was heard', () => {
    const { unheard, playback } = withPieces(50)
    const heard = { ...playback, confirmedMs: 20_000 }
    unheard.follow(playback, heard, 20_000)
    unheard.add('item_2', Buffer.from(Buffer.alloc(3_200, 7).toString('base64')), 400)
    unheard.follow(sent(heard, { itemId: 'item_2', responseId: 'r', ms: 400, mark: null }, 20_000), SILENT, 20_000)
    expect(bytesOf(unheard)).toHaveLength(3_200)
  })

  it('is had again as it was, whatever was set aside before it and dropped', () => {
    const unheard = new UnheardAudio(new AudioRooms())
    const say = (fill: number) => {
      unheard.add('item_1', Buffer.from(Buffer.alloc(3_200, fill).toString('base64')), 400)
      return sent(SILENT, { itemId: 'item_1', responseId: 'r', ms: 400, mark: null }, 0)
    }
    const stop = (playback: Playback) => unheard.follow(playback, cleared(playback), 100)
    stop(say(1))
    unheard.dropAside()
    stop(say(2))
    stop(say(3))
    expect(new Set(bytesOf(unheard))).toEqual(new Set([3]))
    expect(unheard.isEmpty).toBe(true)
  })

  it('is what was sent, also where its room held what was heard before', () => {
    const unheard = new UnheardAudio(new AudioRooms())
    let playback = SILENT
    for (let piece = 0; piece < 20; piece++) {
      const [ms, heardMs] = [piece % 2 === 0 ? 400 : 340, playback.sentMs]
      unheard.add('item_1', Buffer.from(Buffer.alloc(ms * 8, piece).toString('base64')), ms)
      const before = sent(playback, { itemId: 'item_1', responseId: 'r', ms, mark: null }, 0)
      playback = { ...before, confirmedMs: heardMs }
      unheard.follow(before, playback, heardMs)
    }
    unheard.follow(playback, cleared(playback), playback.sentMs - 340)
    const bytes = bytesOf(unheard)
    expect([bytes.length, ...new Set(bytes)]).toEqual([340 * 8, 19])
  })

  it('is not kept where it is music, keys or a person', () => {
    const unheard = new UnheardAudio(new AudioRooms())
    unheard.add('own-hold-1', Buffer.from('////'), 0.375)
    expect(unheard.isEmpty).toBe(true)
  })

  it('stays as it was while it is played again, whatever is kept meanwhile', () => {
    const rooms = new AudioRooms()
    const unheard = new UnheardAudio(rooms)
    let playback = SILENT
    const say = (payload: Buffer) => {
      unheard.add('item_1', payload, 400)
      playback = sent(playback, { itemId: 'item_1', responseId: 'r', ms: 400, mark: null }, 0)
    }
    for (const fill of [1, 2, 3]) say(Buffer.from(Buffer.alloc(3_200, fill).toString('base64')))
    unheard.follow(playback, cleared(playback), 0)
    const fills: (number | undefined)[] = []
    playback = SILENT
    for (const { payload } of unheard.takeAside()) {
      new UnheardAudio(rooms).add('item_1', Buffer.alloc(4_268, 'A'), 400)
      fills.push(Buffer.from(payload.toString('latin1'), 'base64')[0])
      say(payload)
    }
    unheard.follow(playback, cleared(playback), 0)
    const again = unheard.takeAside().map(({ payload }) => Buffer.from(payload.toString('latin1'), 'base64')[0])
    expect([fills, again]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  it('is that of its own call, whatever others keep in the same rooms meanwhile', () => {
    const rooms = new AudioRooms()
    const random = seeded(7)
    const calls = Array.from({ length: 4 }, (_, fill) => ({ fill, unheard: new UnheardAudio(rooms), playback: SILENT }))
    let pieces = 0
    for (let step = 0; step < 4_000; step++) {
      const call = calls[random(calls.length)] as (typeof calls)[number]
      const { fill, unheard, playback } = call
      const what = random(10)
      if (what < 6) {
        const ms = 100 + 20 * random(20)
        unheard.add('item_1', Buffer.from(Buffer.alloc(ms * 8, fill).toString('base64')), ms)
        call.playback = sent(playback, { itemId: 'item_1', responseId: 'r', ms, mark: null }, 0)
      } else if (what < 8) {
        const confirmedMs = Math.min(playback.sentMs, playback.confirmedMs + random(2_000))
        call.playback = { ...playback, confirmedMs }
        unheard.follow(playback, call.playback, confirmedMs)
      } else if (what === 8) {
        call.playback = cleared(playback)
        unheard.follow(playback, call.playback, playback.confirmedMs + random(300))
        if (random(2) === 0) unheard.dropAside()
      } else {
        const bytes = bytesOf(unheard)
        pieces += bytes.length
        expect(bytes.filter((byte) => byte !== fill)).toEqual([])
        if (random(8) === 0) unheard.close()
        if (random(2) === 0) Object.assign(call, { unheard: new UnheardAudio(rooms), playback: SILENT })
      }
    }
    expect(pieces).toBeGreaterThan(0)
  })
})

/** Numbers from 0 to below `limit` that are the same at each run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
