import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { type SharedSpeech, withCircuit } from './guarded.ts'
import type { VoiceEvent, VoiceFault, VoiceListener } from './streamed-port.ts'
import { VoiceCircuits } from './voice-circuits.ts'

const LIMITS = {
  provider: { maxFailures: 3, windowMs: 30_000, openMs: 15_000 },
  voice: { maxFailures: 1, windowMs: 30_000, openMs: 60_000 },
}
const SETUP = { voiceId: 'v', modelId: null, language: null, speed: 1 }
const OTHER = { ...SETUP, voiceId: 'w' }

let clock: TestClock
let listeners: VoiceListener[]
let events: VoiceEvent[]
let speech: SharedSpeech
beforeEach(() => {
  clock = new TestClock()
  listeners = []
  events = []
  const stream = { say() {}, flush() {}, end() {}, close() {} }
  // A provider that does nothing by itself.
  const provider = {
    name: 'any',
    open(_: unknown, listener: VoiceListener) {
      listeners.push(listener)
      return stream
    },
  }
  speech = withCircuit(provider, new VoiceCircuits(clock, LIMITS))
})

const open = (setup = SETUP) => speech.open(setup, { event: (event) => events.push(event), audio: () => {} })
const newest = () => listeners.at(-1)
const failed = (why: VoiceFault) => newest()?.event({ type: 'failed', why, message: '' })
const sounds = () => newest()?.audio(Buffer.from('AAAA'))

type How = { why?: VoiceFault; inTheMiddle?: boolean; setup?: typeof SETUP }

/** Streams that fail, each in the middle of its audio where that is wanted. */
function fail(times: number, { why = 'lost', inTheMiddle = false, setup = SETUP }: How = {}): void {
  for (let at = 0; at < times; at += 1) {
    open(setup)
    if (inTheMiddle) sounds()
    failed(why)
  }
}

describe('a provider of voices behind its circuits', () => {
  it('is not asked while its own is open, which the stream is told at once', () => {
    fail(3)
    expect([speech.isAvailable(SETUP), speech.mayTry(SETUP), speech.mayTry(OTHER)]).toEqual([false, false, false])
    open().say('Hello.')
    expect(listeners).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: 'failed', why: 'circuit_open' })
  })

  it('has failed only when it was given something to do', () => {
    fail(4, { why: 'idle' })
    expect(speech.isAvailable(SETUP)).toBe(true)
  })

  it('has failed also where audio had come before a stream broke off', () => {
    fail(3, { inTheMiddle: true })
    expect(speech.isAvailable(SETUP)).toBe(false)
  })

  it('answers again once a whole text was spoken, and not at the first audio', async () => {
    fail(3)
    await clock.advance(15_000)
    open()
    sounds()
    expect(speech.isAvailable(SETUP)).toBe(false)
    newest()?.event({ type: 'done' })
    expect(speech.isAvailable(SETUP)).toBe(true)
  })

  it('stays away for as long again when the one who tries it breaks off in the middle', async () => {
    fail(3)
    await clock.advance(15_000)
    fail(1, { inTheMiddle: true })
    expect([speech.isAvailable(SETUP), speech.mayTry(SETUP)]).toEqual([false, false])
  })

  it('may be tried by another one when the one who tried was cut by its listener', async () => {
    fail(3)
    await clock.advance(15_000)
    const tried = open()
    sounds()
    tried.close()
    expect([speech.isAvailable(SETUP), speech.mayTry(SETUP)]).toEqual([false, true])
  })

  it('is kept from nobody by a voice that it does not have', async () => {
    fail(5, { why: 'unfit' })
    expect([speech.isAvailable(SETUP), speech.mayTry(SETUP)]).toEqual([false, false])
    expect([speech.isAvailable(OTHER), speech.mayTry(OTHER)]).toEqual([true, true])
    expect(listeners).toHaveLength(1)
    await clock.advance(60_000)
    expect(speech.mayTry(SETUP)).toBe(true)
    open()
    newest()?.event({ type: 'done' })
    expect(speech.isAvailable(SETUP)).toBe(true)
  })

  it('is not found to answer again by a voice that it does not have', async () => {
    fail(3)
    await clock.advance(15_000)
    fail(1, { why: 'unfit', setup: OTHER })
    expect([speech.isAvailable(SETUP), speech.mayTry(SETUP)]).toEqual([false, true])
  })

  it('remembers a thousand such voices, and forgets the first', () => {
    for (let at = 0; at <= 1_000; at += 1) fail(1, { why: 'unfit', setup: { ...SETUP, voiceId: `v${at}` } })
    expect(speech.mayTry({ ...SETUP, voiceId: 'v0' })).toBe(true)
    expect(speech.mayTry({ ...SETUP, voiceId: 'v1' })).toBe(false)
  })
})
