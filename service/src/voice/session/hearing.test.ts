import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const PREFIX_MS = 300
const SILENCE_MS = 500
/** How late the beginning of a sound is told, and its end. */
const IN_TIME = fc.record({ onsetMs: fc.integer({ min: 0, max: 450 }), endMs: fc.integer({ min: 0, max: 250 }) })
const LONG_MS = 5_000

/** The caller speaks for `LONG_MS`, `missingMs` of the audio before it were not sent to the model; by how much its end is taken to be too late. */
function speaks(call: Call, { onsetMs, endMs }: { onsetMs: number; endMs: number }, missingMs = 0): number {
  call.wait(1_000)
  const fromMs = call.nowMs
  const positionMs = fromMs - missingMs
  const itemId = `turn_${fromMs}`
  call.wait(onsetMs)
  call.model({ type: 'speech_started', itemId, audioStartMs: positionMs - PREFIX_MS })
  call.sounds(LONG_MS - onsetMs)
  call.wait(fromMs + LONG_MS + SILENCE_MS + endMs - call.nowMs)
  call.model({ type: 'speech_stopped', itemId, audioEndMs: positionMs + LONG_MS + SILENCE_MS })
  const untilMs = call.state.speech?.untilMs ?? Number.NaN
  call.model({ type: 'committed', itemId, previousItemId: null })
  call.answer(`resp_${fromMs}`, `item_${fromMs}`, 200)
  call.wait(200)
  call.echoAll()
  return untilMs - (fromMs + LONG_MS)
}

describe('When speech ended', () => {
  it('is known also where the model tells one beginning late, from that turn on', () => {
    const late = fc.integer({ min: 751, max: 3_000 })
    fc.assert(
      fc.property(late, IN_TIME, fc.array(IN_TIME, { minLength: 1, maxLength: 3 }), (onsetMs, { endMs }, others) => {
        const call = Call.greeted()
        expect(speaks(call, { onsetMs, endMs })).toBe(0)
        for (const other of others) expect(speaks(call, other)).toBe(0)
      }),
    )
  })

  it('is known, give or take, behind a gap in the audio, whose length the beginning of a sound has told', () => {
    const gap = fc.integer({ min: 1_000, max: 20_000 })
    fc.assert(
      fc.property(gap, IN_TIME, fc.array(IN_TIME, { maxLength: 3 }), (gapMs, first, others) => {
        const call = Call.greeted()
        speaks(call, { onsetMs: 300, endMs: 100 })
        for (const one of [first, ...others]) expect(Math.abs(speaks(call, one, gapMs))).toBeLessThanOrEqual(300)
      }),
    )
  })

  it('is known again behind a gap where the end alone shows that a later beginning was told late', () => {
    const call = Call.greeted()
    expect(speaks(call, { onsetMs: 300, endMs: 100 }, 4_000)).toBe(0)
    expect(speaks(call, { onsetMs: 1_200, endMs: 100 }, 4_000)).toBe(0)
    expect(speaks(call, { onsetMs: 200, endMs: 100 }, 4_000)).toBe(0)
  })
})

describe('What was kept for a model session', () => {
  const times = ({ turns }: Call) =>
    turns.filter(({ role }) => role === 'caller').map((one) => [one.startMs, one.endMs])

  it('is a turn that stands where it was said, also where that was over before the session was ready', () => {
    const call = new Call()
    call.wait(1_500)
    call.model({ type: 'ready' })
    call.hears('turn_1', { fromMs: 500, untilMs: 900 })
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Hello?' })
    expect(times(call)).toEqual([[500, 900]])
  })

  it('is a turn from where it began, and until where the caller goes on with it', () => {
    const call = new Call()
    call.wait(1_500)
    call.model({ type: 'ready' })
    call.model({ type: 'speech_started', itemId: 'turn_1', audioStartMs: 700 })
    call.sounds(800)
    call.isQuiet(500)
    call.stops('turn_1', { fromMs: 1_000, untilMs: 2_300 })
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Hello, is anybody there?' })
    expect(times(call)).toEqual([[1_000, 2_300]])
  })

  it('is a turn that stands where it was said, also where the fallback model hears it', () => {
    const call = new Call({ fallback: { price: null } })
    call.wait(1_000)
    call.model({ type: 'closed', code: 'insufficient_quota', message: 'no more', fault: 'fatal' })
    call.wait(1_000)
    call.model({ type: 'ready' })
    call.hears('turn_1', { fromMs: 500, untilMs: 900 })
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'Hello?' })
    expect(times(call)).toEqual([[500, 900]])
  })
})
