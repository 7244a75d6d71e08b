import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { agentAudio } from '../../test/virtual/audio.ts'
import { STREAM_SID, VirtualCarrier } from '../../test/virtual/carrier.ts'
import { MediaPath } from './media-path.ts'
import {
  cleared,
  echoed,
  hasOpenEnd,
  heard,
  heardWhenSent,
  isDrained,
  leftMs,
  marked,
  type Playback,
  SILENT,
  sent,
  settle,
} from './playback.ts'

const ITEM = { itemId: 'item_1', responseId: 'resp_1' }

/** `ms` of audio, sent at `atMs` with a mark of the same name. */
function sentAt(playback: Playback, atMs: number, ms: number, mark: string | null = `m${atMs}`): Playback {
  return sent(playback, { ...ITEM, ms, mark }, atMs)
}

function heardAt(playback: Playback, atMs: number): number {
  return heard(playback, atMs)[0]?.heardMs ?? 0
}

describe('What the caller has heard', () => {
  it('goes on in real time from when it was sent, and no further than was sent', () => {
    const playback = sentAt(SILENT, 1_000, 800)
    expect([999, 1_000, 1_300, 1_800, 9_000].map((at) => heardAt(playback, at))).toEqual([0, 0, 300, 800, 800])
  })

  it('begins anew when audio is sent into an empty buffer', () => {
    const playback = sentAt(sentAt(SILENT, 0, 200), 5_000, 1_000)
    expect(heardAt(playback, 5_300)).toBe(500)
  })

  it('does not count the way there and back as delay', () => {
    const playback = echoed(sentAt(sentAt(SILENT, 0, 500), 10, 2_000), 'm0', 620)
    expect(heardAt(playback, 700)).toBe(700)
  })

  it('stops where a mark is not back that should be, and goes on when it is', () => {
    let playback = sentAt(sentAt(sentAt(SILENT, 0, 500), 10, 500), 20, 2_000)
    playback = echoed(playback, 'm0', 560)
    expect(heardAt(playback, 2_000)).toBe(1_060)
    playback = echoed(playback, 'm10', 2_060)
    expect(heardAt(playback, 2_060)).toBe(1_060)
    expect(heardAt(playback, 2_260)).toBe(1_260)
  })

  it('forgets a late echo that the next one shows to have been late on its way only', () => {
    let playback = SILENT
    for (const [index, name] of ['a', 'b', 'c'].entries()) playback = sentAt(playback, index, 500, name)
    playback = echoed(playback, 'a', 520)
    playback = echoed(playback, 'b', 1_100)
    playback = echoed(playback, 'c', 1_520)
    expect(playback).toMatchObject({ roundTripMs: 20, echoedMs: 0 })
  })

  it('is believed by the clock when marks are lost', () => {
    const playback = sentAt(sentAt(sentAt(SILENT, 0, 500), 10, 500), 20, 60_000, null)
    const confirmed = echoed(playback, 'm0', 500)
    expect(heardAt(confirmed, 3_000)).toBe(1_000)
    expect(heardAt(confirmed, 20_000)).toBe(20_000)
  })

  it('is confirmed by an echo that overtook others', () => {
    const playback = echoed(sentAt(sentAt(SILENT, 0, 500), 10, 500), 'm10', 400)
    expect(isDrained(playback, 400)).toBe(true)
    expect(echoed(playback, 'm0', 500)).toBe(playback)
  })

  it('is nothing after a clear, and echoes of what was cleared change nothing', () => {
    const playback = cleared(echoed(sentAt(sentAt(SILENT, 0, 500), 10, 900), 'm0', 540))
    expect(playback.roundTripMs).toBe(40)
    expect(echoed(playback, 'm10', 600)).toBe(playback)
    expect(heardAt(sentAt(playback, 700, 300), 800)).toBe(100)
  })
})

describe('An utterance', () => {
  it('is settled once it was heard to its end and its answer is over', () => {
    const playback = echoed(sentAt(SILENT, 0, 500), 'm0', 500)
    expect(settle(playback, 'resp_1', 500).settled).toEqual([])
    expect(settle(playback, null, 500).settled).toEqual([{ ...ITEM, sentMs: 500, heardMs: 500 }])
    expect(settle(playback, null, 500).playback.utterances).toEqual([])
  })

  it('is settled without its mark when that is five seconds overdue', () => {
    const playback = sentAt(SILENT, 0, 500)
    expect(settle(playback, null, 5_400).settled).toEqual([])
    expect(settle(playback, null, 5_500).settled).toHaveLength(1)
  })

  it('has an open end until a mark follows its last audio', () => {
    const playback = sentAt(sentAt(SILENT, 0, 500), 10, 100, null)
    expect(hasOpenEnd(playback)).toBe(true)
    expect(hasOpenEnd(marked(playback, 'end'))).toBe(false)
    expect(hasOpenEnd(SILENT)).toBe(false)
  })

  it('is told as of when it was sent what tells of it, and by the clock while no way is known', () => {
    const unknown = sentAt(SILENT, 0, 1_000)
    expect(heardWhenSent(unknown, 600)[0]?.heardMs).toBe(600)
    const known = sentAt(echoed(sentAt(SILENT, 0, 100), 'm0', 250), 250, 1_000, null)
    expect(heard(known, 850)[0]?.heardMs).toBe(700)
    expect(heardWhenSent(known, 850)[0]?.heardMs).toBe(550)
  })

  it('follows the one before it on the same line', () => {
    const playback = sent(sentAt(SILENT, 0, 500), { itemId: 'item_2', responseId: 'resp_2', ms: 300, mark: null }, 10)
    expect(heard(playback, 600).map(({ heardMs }) => heardMs)).toEqual([500, 100])
    expect(leftMs(playback, 600)).toBe(200)
  })

  it('that something else was played in the middle of is one, and is settled when all of it was heard', () => {
    const between = { itemId: 'clip_1', responseId: 'clip_1', ms: 500, mark: 'm2' }
    const playback = sentAt(sent(sentAt(SILENT, 0, 400, 'm1'), between, 0), 0, 600, 'm3')
    const item = heard(playback, 1_100).filter(({ itemId }) => itemId === ITEM.itemId)
    expect(item).toEqual([{ ...ITEM, sentMs: 1_000, heardMs: 600 }])
    const early = settle(echoed(playback, 'm2', 900), null, 900)
    expect(early.settled.map(({ itemId }) => itemId)).toEqual(['clip_1'])
    expect(settle(echoed(early.playback, 'm3', 1_500), null, 1_500).settled).toEqual([
      { ...ITEM, sentMs: 1_000, heardMs: 1_000 },
    ])
  })
})

describe('The marks that are remembered', () => {
  it('are ten minutes of them at most', () => {
    let playback = SILENT
    for (let n = 0; n < 3_000; n++) playback = sentAt(playback, n, 10, `mark ${n}`)
    expect(playback.marks).toHaveLength(1_200)
    expect(echoed(playback, 'mark 0', 99_999)).toBe(playback)
  })
})

/** A carrier that plays what it is sent, and the ledger that follows it from our end. */
class Ledger {
  readonly clock = new TestClock()
  readonly carrier: VirtualCarrier
  playback = SILENT
  readonly #media: MediaPath
  #isCleared = false

  constructor(delayMs: () => number) {
    this.carrier = new VirtualCarrier({
      clock: this.clock,
      delayMs,
      echo: (name) => {
        const before = this.playback.confirmedMs
        this.playback = echoed(this.playback, name, this.clock.monotonicMs())
        if (this.playback.confirmedMs < before) throw new Error('what was confirmed was taken back')
      },
    })
    this.#media = new MediaPath(STREAM_SID, {
      carrier: this.carrier.socket,
      codec: this.carrier.codec,
      nowMs: () => this.clock.monotonicMs(),
      reports: {
        sent: (audio) => {
          this.playback = sent(this.playback, audio, this.clock.monotonicMs())
        },
        callerAudio: () => {},
        backlog: () => {},
      },
    })
  }

  say(ms: number): void {
    if (!this.#isCleared) this.#media.fromModel('resp_1', 'item_1', agentAudio(1, ms))
  }

  /** Clears the buffer: what is believed to have been heard then, and what was. */
  async clear(): Promise<{ believedMs: number; heardMs: number; sentMs: number }> {
    const believedMs = heard(this.playback, this.clock.monotonicMs())[0]?.heardMs ?? 0
    const { sentMs } = this.playback
    this.#media.clear()
    this.#isCleared = true
    await this.clock.advance(500)
    return { believedMs, heardMs: this.carrier.heardMs(1), sentMs }
  }
}

const MAX_ERROR_MS = 50
const MAX_JITTER_MS = 20
/** From the start of a stall until an echo has told of it: to the next mark, and back. */
const TOLD_AFTER_MS = 500 + 150 + 50

const lines = fc.record({
  delayMs: fc.nat(55),
  jitterMs: fc.array(fc.nat(MAX_JITTER_MS), { minLength: 1, maxLength: 12 }),
  chunks: fc.array(fc.record({ ms: fc.integer({ min: 1, max: 25 }).map((n) => n * 20), gapMs: fc.nat(700) }), {
    minLength: 1,
    maxLength: 12,
  }),
  stalls: fc.array(fc.record({ atMs: fc.nat(6_000), forMs: fc.integer({ min: 20, max: 400 }) }), { maxLength: 2 }),
  clearAtMs: fc.integer({ min: 1, max: 8_000 }),
})

describe('The playback ledger', () => {
  it('is never more than 50 ms off when a clear arrives, with jitter, late audio and play-out that stands still', async () => {
    await fc.assert(
      fc.asyncProperty(lines, async ({ delayMs, jitterMs, chunks, stalls, clearAtMs }) => {
        let turn = 0
        const ledger = new Ledger(() => delayMs + (jitterMs[turn++ % jitterMs.length] ?? 0))
        let atMs = 0
        for (const { ms, gapMs } of chunks) {
          ledger.clock.after(atMs, () => ledger.say(ms))
          atMs += gapMs
        }
        // A stall that no echo has told of yet cannot be known, nor one before the first echo of all from a longer way.
        const firstEchoMs = (chunks[0]?.ms ?? 0) + 2 * (delayMs + MAX_JITTER_MS)
        const known = stalls.filter(
          (stall) => stall.atMs > firstEchoMs && stall.atMs + stall.forMs + TOLD_AFTER_MS <= clearAtMs,
        )
        for (const stall of known) ledger.clock.after(stall.atMs, () => ledger.carrier.stall(stall.forMs))
        await ledger.clock.advance(Math.max(0, Math.min(clearAtMs, atMs + 6_000)))
        const { believedMs, heardMs, sentMs } = await ledger.clear()
        expect(believedMs).toBeLessThanOrEqual(sentMs)
        expect(Math.abs(believedMs - heardMs)).toBeLessThanOrEqual(MAX_ERROR_MS)
      }),
      { numRuns: 2_000 },
    )
  })
})
