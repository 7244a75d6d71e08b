import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { World } from '../../../test/virtual/world.ts'
import type { ModelListener, ModelSession, ModelSetup, TurnDetection } from '../../platform/realtime/port.ts'
import { scribeSetup } from '../session-builder-setup.ts'
import { type Said, Scribe } from './scribe.ts'

const LOUD = Buffer.from(Buffer.alloc(160, 0x10).toString('base64'))
const SILENT = Buffer.from(Buffer.alloc(160, 0xff).toString('base64'))
const LAST_WORDS = 'I hand you back to the assistant.'

const AGENT: Omit<ModelSetup, 'turnDetection'> = {
  ...{
    model: null,
    voice: null,
    instructions: '',
    speed: null,
    output: 'audio',
    noiseReduction: null,
    reasoningEffort: null,
  },
  ...{ transcription: { model: null, language: null }, tools: [] },
}

const SHAKEN_HANDS_MS = 100
const NOTICES_AFTER_MS = 100

/** A model that ends a turn as it was set up to, and writes it down 300 ms later. It hears nothing until it is ready. */
function listening(
  clock: TestClock,
  { turnDetection }: ModelSetup,
  listener: ModelListener,
  { readyAfterMs = SHAKEN_HANDS_MS, heard = [] }: { readyAfterMs?: number; heard?: Buffer[] } = {},
): ModelSession {
  const wantedMs = turnDetection.type === 'server_vad' ? turnDetection.silenceDurationMs : 8_000
  let quietMs: number | null = null
  let isReady = false
  clock.after(readyAfterMs, () => {
    isReady = true
    listener.event({ type: 'ready' })
  })
  return {
    append(payload) {
      if (!isReady) return
      heard.push(payload)
      if (payload.equals(LOUD) && quietMs === null) {
        clock.after(NOTICES_AFTER_MS, () =>
          listener.event({ type: 'speech_started', itemId: 'item_1', audioStartMs: 0 }),
        )
      }
      if (payload.equals(LOUD)) quietMs = 0
      else if (quietMs !== null) quietMs += 20
      if (quietMs !== wantedMs) return
      clock.after(300, () => listener.event({ type: 'caller_transcript', itemId: 'item_1', text: LAST_WORDS }))
    },
    send() {},
    bufferedBytes: () => 0,
    close() {},
  }
}

describe('What a person says last who gives a call back', () => {
  it.each<[string, TurnDetection]>([
    ['a short silence', { type: 'server_vad', threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 200 }],
    ['a long silence', { type: 'server_vad', threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 3_000 }],
    ['as long as the model likes', { type: 'semantic_vad', eagerness: 'low' }],
  ])('is written down, though the agent waits for %s', async (_how, turnDetection) => {
    const clock = new TestClock()
    const setup = scribeSetup({ ...AGENT, turnDetection })
    const told: string[] = []
    const scribe = new Scribe({
      clock,
      open: (listener) => listening(clock, setup, listener),
      said: ({ text }) => told.push(text),
      written: () => told.push('written'),
    })
    for (let frame = 0; frame < 50; frame += 1) {
      scribe.hear(LOUD)
      await clock.advance(20)
    }
    scribe.end()
    await clock.advance(8_000)
    expect(told).toEqual([LAST_WORDS, 'written'])
  })
})

describe('What a person says first who has taken a call over', () => {
  it.each([
    ['while they go on', 2_000, 1_500],
    ['though they have given the call back by then', 2_000, 2_500],
    ['a moment after they have given the call back', 2_000, 2_260],
    ['though they have said as much as is kept', 3_000, 3_300],
  ])('is heard by the model once that is there, %s', async (_when, saidMs, readyAfterMs) => {
    const clock = new TestClock()
    const setup = scribeSetup({ ...AGENT, turnDetection: { type: 'semantic_vad', eagerness: 'low' } })
    const [told, heard]: [string[], Buffer[]] = [[], []]
    const scribe = new Scribe({
      clock,
      open: (listener) => listening(clock, setup, listener, { readyAfterMs, heard }),
      said: ({ text }) => told.push(text),
      written: () => told.push('written'),
    })
    for (let frame = 0; frame < saidMs / 20; frame += 1) {
      scribe.hear(LOUD)
      await clock.advance(20)
    }
    scribe.end()
    await clock.advance(8_000)
    expect(heard.filter((payload) => payload.equals(LOUD))).toHaveLength(saidMs / 20)
    expect(told).toEqual([LAST_WORDS, 'written'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('is waited for in vain no longer than five seconds, where the model comes at the end of them', async () => {
    const clock = new TestClock()
    const setup = scribeSetup({ ...AGENT, turnDetection: { type: 'semantic_vad', eagerness: 'low' } })
    const told: string[] = []
    const scribe = new Scribe({
      clock,
      open: (listener) => listening(clock, setup, listener, { readyAfterMs: 4_800 }),
      said: ({ text }) => told.push(text),
      written: () => told.push('written'),
    })
    scribe.hear(SILENT)
    scribe.end()
    await clock.advance(8_000)
    expect(told).toEqual(['written'])
  })

  it('has ended where it was said, whenever its words come', async () => {
    const clock = new TestClock()
    const setup = scribeSetup({ ...AGENT, turnDetection: { type: 'semantic_vad', eagerness: 'low' } })
    const told: Said[] = []
    const scribe = new Scribe({
      clock,
      open(listener) {
        const session = listening(clock, setup, listener)
        clock.after(2_300, () => listener.event({ type: 'speech_stopped', itemId: 'item_1', audioEndMs: 2_600 }))
        return session
      },
      said: (said) => told.push(said),
      written() {},
    })
    for (let frame = 0; frame < 200; frame += 1) {
      scribe.hear(frame < 90 ? LOUD : SILENT)
      await clock.advance(20)
    }
    expect(told).toEqual([{ text: LAST_WORDS, sinceMs: 200, untilMs: 2_000 }])
  })

  it('is waited for by nobody who gives the call back when no model is there', async () => {
    const clock = new TestClock()
    const opened: ModelListener[] = []
    const told: number[] = []
    const scribe = new Scribe({
      clock,
      open(listener) {
        opened.push(listener)
        return { append() {}, send() {}, bufferedBytes: () => 0, close() {} }
      },
      said() {},
      written: () => told.push(clock.monotonicMs()),
    })
    opened[0]?.event({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    await clock.advance(3_000)
    const endedMs = clock.monotonicMs()
    scribe.end()
    await clock.advance(8_000)
    expect([opened.length, told]).toEqual([1, [endedMs + 300]])
  })
})

describe('What a person says last in a call that ends', () => {
  it('is in its record, and nothing is left open for it', async () => {
    const setup = scribeSetup({ ...AGENT, turnDetection: { type: 'semantic_vad', eagerness: 'low' } })
    const world: World = new World({ openScribe: (listener) => listening(world.clock, setup, listener) })
    world.begin()
    await world.clock.advance(2_000)
    const ends: string[] = []
    const line = world.session.lines.takeOver({ audio: () => {}, over: (why) => ends.push(why) }, null)
    for (let frame = 0; frame < 50; frame += 1) {
      line.speak(LOUD)
      await world.clock.advance(20)
    }
    world.endStream()
    expect(ends).toEqual(['ended'])
    await world.run(3_000)
    expect(world.transcript.filter(({ role }) => role === 'supervisor').map(({ text }) => text)).toEqual([LAST_WORDS])
    expect([world.ends, world.session.held, world.sessionClock.pendingTimers]).toEqual([['caller_hangup'], [], 0])
  })
})
