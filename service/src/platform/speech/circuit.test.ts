import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { Circuit } from './circuit.ts'
import { withCircuit } from './guarded.ts'
import type { VoiceEvent, VoiceListener } from './streamed-port.ts'

let clock: TestClock
let circuit: Circuit
beforeEach(() => {
  clock = new TestClock()
  circuit = new Circuit(clock, { maxFailures: 3, windowMs: 30_000, openMs: 15_000 })
})

function fails(times: number): void {
  for (let at = 0; at < times; at += 1) circuit.begin()?.failed()
}

describe('Circuit', () => {
  it('opens at the third failure within its window', async () => {
    fails(2)
    expect([circuit.isClosed, circuit.mayTry]).toEqual([true, true])
    fails(1)
    expect([circuit.isClosed, circuit.mayTry, circuit.begin()]).toEqual([false, false, null])
  })

  it('forgets failures that are older than its window', async () => {
    fails(2)
    await clock.advance(30_000)
    fails(2)
    expect(circuit.isClosed).toBe(true)
  })

  it('lets one try after its time, and closes with that one', async () => {
    fails(3)
    await clock.advance(15_000)
    const trial = circuit.begin()
    expect([circuit.isClosed, circuit.mayTry, circuit.begin()]).toEqual([false, false, null])
    trial?.succeeded()
    expect([circuit.isClosed, circuit.mayTry]).toEqual([true, true])
  })

  it('stays open for as long again when that one fails', async () => {
    fails(3)
    await clock.advance(15_000)
    circuit.begin()?.failed()
    await clock.advance(14_999)
    expect(circuit.mayTry).toBe(false)
    await clock.advance(1)
    expect(circuit.mayTry).toBe(true)
  })

  it('lets another one try when the one was dropped unused', async () => {
    fails(3)
    await clock.advance(15_000)
    circuit.begin()?.dropped()
    expect([circuit.isClosed, circuit.mayTry]).toEqual([false, true])
  })

  it('hears of each attempt once, and of one that was begun before it opened not at all', async () => {
    const early = circuit.begin()
    const once = circuit.begin()
    once?.failed()
    once?.failed()
    fails(1)
    expect(circuit.isClosed).toBe(true)
    fails(1)
    early?.succeeded()
    expect(circuit.isClosed).toBe(false)
  })
})

/** A provider that does nothing by itself, and who listens to it. */
function guarded() {
  const listeners: VoiceListener[] = []
  const stream = { say() {}, flush() {}, end() {}, close() {} }
  const speech = withCircuit(
    {
      name: 'any',
      open(_, listener) {
        listeners.push(listener)
        return stream
      },
    },
    circuit,
  )
  return { listeners, speech }
}

describe('a provider of voices behind a circuit', () => {
  const SETUP = { voiceId: 'v', modelId: null, language: null, speed: 1 }

  it('is not asked while it is open, which the stream is told at once', () => {
    const { listeners, speech } = guarded()
    const events: VoiceEvent[] = []
    const open = () => speech.open(SETUP, { event: (event) => events.push(event), audio: () => {} })
    for (let at = 0; at < 3; at += 1) {
      open()
      listeners.at(-1)?.event({ type: 'failed', why: 'lost', message: '' })
    }
    expect([speech.isAvailable, speech.mayTry]).toEqual([false, false])
    open().say('Hello.')
    expect(listeners).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: 'failed', why: 'circuit_open' })
  })

  it('has failed only when it was given something to do', () => {
    const { listeners, speech } = guarded()
    for (let at = 0; at < 4; at += 1) {
      speech.open(SETUP, { event: () => {}, audio: () => {} })
      listeners.at(-1)?.event({ type: 'failed', why: 'idle', message: '' })
    }
    expect(speech.isAvailable).toBe(true)
  })
})
